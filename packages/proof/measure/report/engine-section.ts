// The section of docs/proof/benchmarks.md about calls on a local engine. Pure.
import type { RaceFigures } from "../timing/race.ts";
import type { Sample } from "../timing/turn.ts";
import { ratio } from "./format.ts";
import { PEER, raceTable, toPeer } from "./race-table.ts";

export function engineSection(figures: RaceFigures): string {
  const relative = (pick: (sample: Sample) => number) =>
    raceTable(figures, (name, kind, callers) => ratio(toPeer(figures, name, kind, callers, pick), 2));
  return `## On a local engine

Whole calls through \`httpIdempotent\`, including the database, with 1, 16 and 64 callers at once, relative to ${PEER} in the
same run. The handler writes one order, either itself or in the commit. The bare handler does only that, and a second call
writes again. The contestants take turns, each in its own process; the figures are medians of the runs. The
engine shares the processors with its callers, which hides most of their differences; the section above shows those.

Calls per time, more is better:

${relative(({ callsPerSecond }) => callsPerSecond)}

Latency, less is better:

${relative(({ latencyMs }) => latencyMs)}
`;
}
