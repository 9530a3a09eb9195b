// docs/proof/benchmarks.md and its charts as a whole. Pure: the same results and code give the same text.
import { PROJECT_URL } from "../../../../lib/contract.ts";
import type { CodeVersions } from "../code-version.ts";
import { adviceSection } from "./advice-section.ts";
import { ageTable, isOlder, markedPage } from "./age.ts";
import { aimsSection } from "./aims-section.ts";
import { batchSection } from "./batch-section.ts";
import { capacitySection } from "./capacity-section.ts";
import { clientCharts, clientSection } from "./client-section.ts";
import { coldStartCharts, coldStartSection } from "./cold-start-section.ts";
import { engineSection } from "./engine-section.ts";
import { growthCharts, growthSection } from "./growth-section.ts";
import { hotKeySection } from "./hot-key-section.ts";
import type { Figures, Measurement, Results, SectionName, Versions } from "./results.ts";
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
  growth: growthSection,
};

export const SECTION_NAMES = Object.keys(PAGES) as SectionName[];

/** One section of the document, under a heading of the second level. */
export function sectionPage<Name extends SectionName>(name: Name, figures: Figures[Name]): string {
  return PAGES[name](figures);
}

/** @param codes the code that each section would measure now */
export function benchmarksDocument(results: Results, codes: CodeVersions): string {
  const names = SECTION_NAMES.filter((name) => results[name]);
  const pages = names.map((name) => {
    const measured = results[name] as Measurement & { readonly figures: Figures[typeof name] };
    return markedPage(sectionPage(name, measured.figures), isOlder(name, measured, codes));
  });
  return `# Benchmarks

onceonly next to Powertools for AWS Lambda: processor time, requests, bytes, and what happens under load. \`npm run bench\` measures and
writes this page, and keeps its figures in [results.json](${PROJECT_URL}/blob/main/packages/proof/measure/results.json), so don't edit it. In each section both packages share
one run on one engine: ${versionsOf(results, names)}.
[comparison.md](comparison.md) shows what both do when something goes wrong.

${ageTable(SECTION_NAMES, results, codes)}

"Other work" is what other processes used just before the section ran. Sections that measure time refuse to run on a busy machine.
Where the code has changed since, the figures are an earlier version's: in their sections, and in the two summaries that come first.

${[aimsSection(results), adviceSection(results), ...pages].filter(Boolean).join("\n")}`;
}

/** By their file's name in docs/proof/benchmarks. */
export function benchmarkCharts({
  client,
  "cold-start": coldStart,
  servers,
  growth,
}: Results): Readonly<Record<string, string>> {
  return {
    ...(client && clientCharts(client.figures)),
    ...(coldStart && coldStartCharts(coldStart.figures)),
    ...(servers && serversCharts(servers.figures)),
    ...(growth && growthCharts(growth.figures)),
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
