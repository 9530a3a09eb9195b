// The section of docs/proof/benchmarks.md about calls on a local engine. Pure.
import type { RaceFigures } from "../timing/race.ts";
import type { Sample } from "../timing/turn.ts";
import { ratio } from "./format.ts";
import { PEER, raceTable, toPeer } from "./race-table.ts";

export function engineSection(figures: RaceFigures): string {
  const relative = (pick: (sample: Sample) => number) =>
    raceTable(figures, (name, kind, callers) => ratio(toPeer(figures, name, kind, callers, pick), 2));
  return `## On a local engine

Whole calls through \`httpIdempotent\`, the database included, with 1, 16 and 64 callers at once, relative to ${PEER} in the
same run. The handler writes one order: on its own, or in the commit. The bare handler does nothing else, and runs again
when it is called again. The contestants take turns, each in a process of its own; the figures are medians of the runs. The
engine shares the processor with its callers, and hides most of what they differ by: see the section above for that.

Calls per time, more is better:

${relative(({ callsPerSecond }) => callsPerSecond)}

Latency, less is better:

${relative(({ latencyMs }) => latencyMs)}
`;
}
