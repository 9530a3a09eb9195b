// The section of docs/proof/benchmarks.md about a hot key. Pure.
import { DUPLICATES, type HotKeyResult } from "../hot-key/hot-key.ts";
import type { Tally } from "../metering/meter.ts";
import { exactCount } from "./format.ts";
import { markdownTable } from "./markdown.ts";

const HEADER = ["", "requests", "write units", "read units", "replayed", "refused"];

export function hotKeySection(results: Readonly<Record<string, HotKeyResult>>): string {
  const duplicates = exactCount(DUPLICATES);
  const phase = (show: (result: HotKeyResult) => readonly [spent: Tally, replayed: number]) =>
    markdownTable([
      HEADER,
      ...Object.entries(results).map(([name, result]) => phaseRow(name, ...show(result))),
    ]);
  return `## Hot key

${duplicates} duplicates of one key at once while the first call is at work, and ${duplicates} more when it is done. The
counts are for each duplicate; they are exact, but for the optimistic mode, whose duplicates run until one has committed.

While the first call is at work:

${phase(({ atWork, replayed }) => [atWork, replayed[0]])}

When it is done:

${phase(({ afterwards, replayed }) => [afterwards, replayed[1]])}

The result:

${markdownTable([
  ["", "runs of the handler", "effects"],
  ...Object.entries(results).map(([name, { runs, effects }]) => [
    name,
    exactCount(runs),
    exactCount(effects),
  ]),
])}

- Every refused claim is a write on one item, and a DynamoDB partition accepts 1,000 of them per second, whichever
  package sends them.
- In the optimistic mode there is no claim: every duplicate runs, one commits, and the others lose a transaction to
  it and replay. A finished record costs them a read and no write. DynamoDB itself also cancels transactions that meet on one
  item, which local engines do not; each of those costs one more.
- onceonly's \`whenInProgress: { waitSeconds }\` makes a duplicate wait for the first call's answer instead of being refused.
`;
}

function phaseRow(name: string, { requests, writeUnits, readUnits }: Tally, replayed: number): string[] {
  const each = (sum: number) => String(sum / DUPLICATES);
  const counts = [replayed, DUPLICATES - replayed].map(exactCount);
  return [name, each(requests), each(writeUnits), each(readUnits), ...counts];
}
