// Markdown: tables, and sections of a document. Pure.

/** The first row is the header; columns after the first are right-aligned. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [header = [], ...body] = rows;
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = header.map((_, index) => (index === 0 ? "---" : "--:"));
  return [line(header), line(rule), ...body.map(line)].join("\n");
}

/**
 * Puts a section into the place of the one that has the same heading of the second level.
 * @throws Error when the document has none
 */
export function replaceSection(document: string, section: string): string {
  const [heading = ""] = section.split("\n", 1);
  const start = `\n${document}`.indexOf(`\n${heading}\n`);
  if (!heading.startsWith("## ") || start < 0) throw new Error(`the document has no section "${heading}"`);
  const next = document.indexOf("\n## ", start);
  const rest = next < 0 ? "" : document.slice(next);
  return `${document.slice(0, start)}${section.trimEnd()}\n${rest}`;
}
