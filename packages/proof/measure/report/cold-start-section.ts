// The section of docs/proof/benchmarks.md about cold starts. Pure.
import type { ColdStartFigures, ColdStarts } from "../timing/cold-start.ts";
import { median } from "../timing/median.ts";
import { chart } from "./chart.ts";
import { milliseconds, ratio } from "./format.ts";
import { markdownTable } from "./markdown.ts";
import { PEER } from "./race-table.ts";

type Times = readonly number[] | undefined;

/** The median of the pairs. */
export function pairwise(own: Times, other: Times): number {
  return median((own ?? []).map((ms, round) => ms / (other?.[round] ?? Number.NaN)));
}

export function presentStarts(figures: ColdStartFigures): readonly ColdStarts[] {
  return Object.values(figures).filter((starts) => "version" in starts);
}

export function coldStartSection(figures: ColdStartFigures): string {
  const present = presentStarts(figures);
  const [first] = present;
  const pairs = Object.values(first?.withSdk ?? {})[0]?.length ?? 0;
  const absent = Object.values(figures).filter((starts) => "absent" in starts);
  const remarks = absent.map(({ absent: reason }) => `\n- Not measured: ${reason}.`);
  const table = (way: "withSdk" | "withoutSdk") =>
    markdownTable([
      ["", ...present.map(({ version }) => `Node ${version}`)],
      ...Object.keys(first?.[way] ?? {}).map((name) => [
        name,
        ...present.map(({ [way]: starts }) => {
          const times = starts[name] ?? [];
          return `${milliseconds(median(times), 0)} (${ratio(pairwise(times, starts[PEER]), 2)})`;
        }),
      ]),
    ]);
  return `## Cold starts

Processor time of import and first call of a whole function, minified by esbuild as one ES module. The figures are medians of ${pairs} fresh
processes each, which take turns. In brackets is the median of the pairs with ${PEER}. Node's own start comes on top.

![Processor time of a cold start](benchmarks/cold-start.svg)

With the SDK in the bundle:

${table("withSdk")}

With the SDK left to the one that is installed, as the one of Lambda's runtime is:

${table("withoutSdk")}
${remarks.join("")}`;
}

export function coldStartCharts(figures: ColdStartFigures): Readonly<Record<string, string>> {
  const groups = presentStarts(figures).map(({ version, withSdk, withoutSdk }) => ({
    name: `Node ${version}`,
    bars: [
      ...Object.entries(withSdk).map(([name, times]) => ({ name, value: median(times) })),
      ...Object.entries(withoutSdk)
        .filter(([name]) => name !== "the SDK and two commands")
        .map(([name, times]) => ({ name: `${name}, SDK not bundled`, value: median(times) })),
    ],
  }));
  const title = "Processor time of a cold start: import and first call (less is better)";
  return { "cold-start.svg": chart(title, groups, { show: (ms) => milliseconds(ms, 0) }) };
}
