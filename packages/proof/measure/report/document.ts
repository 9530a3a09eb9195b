// docs/proof/benchmarks.md and its charts as a whole. Pure: the same results give the same text, and no date is in it.
import { PROJECT_URL } from "../../../../lib/contract.ts";
import { adviceSection } from "./advice-section.ts";
import { aimsSection } from "./aims-section.ts";
import { batchSection } from "./batch-section.ts";
import { capacitySection } from "./capacity-section.ts";
import { clientCharts, clientSection } from "./client-section.ts";
import { coldStartCharts, coldStartSection } from "./cold-start-section.ts";
import { engineSection } from "./engine-section.ts";
import { hotKeySection } from "./hot-key-section.ts";
import type { Figures, Results, SectionName, Versions } from "./results.ts";
import { serversCharts, serversSection } from "./servers-section.ts";
import { sizeSection } from "./size-section.ts";

type Pages = { readonly [name in SectionName]: (figures: Figures[name]) => string };

const PAGES: Pages = {
  client: clientSection,
  engine: engineSection,
  "cold-start": coldStartSection,
  bundle: sizeSection,
  capacity: capacitySection,
  "hot-key": hotKeySection,
  batch: batchSection,
  servers: serversSection,
};

export const SECTION_NAMES = Object.keys(PAGES) as SectionName[];

/** One section of the document, under a heading of the second level. */
export function sectionPage<Name extends SectionName>(name: Name, figures: Figures[Name]): string {
  return PAGES[name](figures);
}

export function benchmarksDocument(results: Results): string {
  const names = SECTION_NAMES.filter((name) => results[name]);
  const pages = names.map((name) => sectionPage(name, results[name]?.figures as Figures[typeof name]));
  return `# Benchmarks

Written by \`npm run bench\` from what it found, which [packages/proof/measure/results.json](${PROJECT_URL}/blob/main/packages/proof/measure/results.json) keeps; do not edit. Both packages share
one run on one engine: ${versionsOf(results, names)}.
What both do when things go wrong is in [comparison.md](comparison.md).

**The figures over a client of the SDK are older than the code.** Since they were measured, the client that the store makes itself goes
through \`send\` of the SDK, with our own signer and serializer in it, and a client that you pass is used as it is. One short run on a busy
machine, bundled with SDK 3.1162.0, took × 0.51 (1 caller) and × 0.79 (16 callers) of the peer's processor time for a first run, and × 0.44
and × 0.87 for a replay. Through plain \`send\` it was × 0.82 and × 1.24, and × 1.02 and × 1.35. The lean client didn't change.

${[aimsSection(results), adviceSection(results), ...pages].filter(Boolean).join("\n")}`;
}

/** By their file's name in docs/proof/benchmarks. */
export function benchmarkCharts({
  client,
  "cold-start": coldStart,
  servers,
}: Results): Readonly<Record<string, string>> {
  return {
    ...(client && clientCharts(client.figures)),
    ...(coldStart && coldStartCharts(coldStart.figures)),
    ...(servers && serversCharts(servers.figures)),
  };
}

/** Once for all sections, or for those that ran with others. */
function versionsOf(results: Results, names: readonly SectionName[]): string {
  const sets = new Map<string, SectionName[]>();
  for (const name of names) {
    const set = listed(results[name]?.versions ?? {});
    sets.set(set, [...(sets.get(set) ?? []), name]);
  }
  if (sets.size <= 1) return [...sets.keys()].join("");
  return [...sets].map(([set, sections]) => `for ${sections.join(", ")} ${set}`).join("; ");
}

function listed(versions: Versions): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`.trim())
    .join(", ");
}
