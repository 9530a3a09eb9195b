// The section of docs/proof/benchmarks.md about growth. Pure.
import type { Growth, GrowthFigures, Series } from "../growth/series.ts";
import { type ChartGroup, chart } from "./chart.ts";
import { exactCount, ratio } from "./format.ts";
import { markdownTable } from "./markdown.ts";

/** A cost per unit of work that rises by more than this, from the smallest size to the largest, grows faster than its work. */
const STEADY = 1.25;

const LEVELS = "an index of more rows has more levels, each of which is a block";

/** Why a cost grows faster than its work, by the cost's name. */
export const REASONS: Readonly<Record<string, string>> = {
  "units per step":
    "the marks of all steps of an operation share one item, so each write of a step pays for the marks before it. Larger results have items of their own",
  "units per retry of a dead destination":
    "a retry reads the index of all waiting commits, in pages of 1,000 keys. It sends and marks only a few of them",
  "blocks per first run": LEVELS,
  "blocks per replay": LEVELS,
  "blocks per deleted row": LEVELS,
};

export function growthSection(figures: GrowthFigures): string {
  const growing = figures.flatMap(({ of, series }) =>
    series.filter(isGrowing).map((each) => ({ of, ...each })),
  );
  return `## Growth

What one unit of work costs as there is more of everything. These are counts on local engines: requests, DynamoDB's units, blocks that
PostgreSQL reads or finds in memory, and bytes. Only the last table has a time. A cost that stays the same grows with its work. "Not run"
means that no run has been that large yet. More than 3,000 waiting commits would take hours: a local engine spends more time on each
request, the more commits one line has.

![Cost at the largest size that was run, relative to the smallest](benchmarks/growth.svg)

${figures.map(tableOf).join("\n\n")}

${
  growing.length === 0
    ? "Nothing grows faster than its work."
    : `These grow faster than their work:\n\n${growing
        .map(
          ({ of, cost, values }) =>
            `- **${cost}** (${of}): ${ratio(growthIn(values))}, ${REASONS[cost] ?? "reason unknown"}.`,
        )
        .join("\n")}`
}
`;
}

function tableOf({ of, sizes, series }: Growth): string {
  const rows = series.map(({ cost, values }) => [
    cost,
    ...values.map((value) => (value === null ? "not run" : figure(value))),
  ]);
  return markdownTable([[`${of}:`, ...sizes.map(exactCount)], ...rows]);
}

const figure = (value: number) =>
  value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });

/** How the cost at the largest size compares with the smallest. */
function growthIn(values: Series["values"]): number {
  const known = values.filter((value) => value !== null);
  return (known.at(-1) as number) / (known[0] as number);
}

export const isGrowing = ({ values }: Series) => growthIn(values) > STEADY;

export function growthCharts(figures: GrowthFigures): Readonly<Record<string, string>> {
  const groups = figures
    .map(({ of, series }): ChartGroup => {
      const compared = series.filter(({ values }) => values.filter((value) => value !== null).length > 1);
      return {
        name: of,
        bars: compared.map(({ cost, values }) => ({ name: cost, value: growthIn(values) })),
      };
    })
    .filter(({ bars }) => bars.length > 0);
  const show = (value: number) => ratio(value, 2);
  const title = "Cost of one unit of work at the largest size that was run, relative to the smallest";
  return { "growth.svg": chart(title, groups, { mark: 1, show }) };
}
