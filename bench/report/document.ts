// docs/benchmarks.md as a whole. Pure: the same sections give the same text, and no date is in it.

/** @param sections each with its heading of the second level */
export function benchmarksDocument(
  versions: Readonly<Record<string, string>>,
  sections: readonly string[],
): string {
  const versionList = Object.entries(versions).map(([name, version]) => `${name} ${version}`.trim());
  return `# Benchmarks

Written by \`npm run bench\`; do not edit. Both packages ran in one run on one engine: ${versionList.join(", ")}.
What both do when things go wrong is in [comparison.md](comparison.md).

${sections.join("\n")}`;
}
