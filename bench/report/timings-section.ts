// The section of docs/benchmarks.md about all that is timed. Pure.
import { CALLERS, type Callers, type Pace, type Speed } from "../timing/speed.ts";
import { milliseconds, ratio } from "./format.ts";
import { markdownTable } from "./markdown.ts";
import { type Sided, sided } from "./sided.ts";

export interface Timings {
  readonly importMs: Sided<number>;
  /** By the contestant's name; the first is the bare handler, the last the peer. */
  readonly speeds: Readonly<Record<string, Speed>>;
}

export function timingsSection({ importMs, speeds }: Timings): string {
  return `## Timings

Measured, so that they differ a little from run to run and more from machine to machine: read the ratios, not the times.

### Import

Of the bundle above, on top of the import of the AWS SDK: the least of several fresh processes.

${markdownTable([
  ["", "onceonly", "Powertools"],
  ["import", ...sided(importMs, milliseconds)],
])}

### Latency and throughput

With ${CALLERS.join(", ")} callers at once, relative to the bare handler, which puts one order into DynamoDB and does nothing else, and
runs again when it is called again; in brackets relative to Powertools. Every other contestant's handler writes that order
too: on its own, or in the commit. The contestants take turns in one run, each in a process of its own; the figures are
medians. A local engine answers without a network in between, and shares the processor with its callers: against a real
table the ratios of latency come closer to the ratios of the requests above.

Latency of a first run:

${speedTable(speeds, ({ firstRun }, callers) => firstRun[callers].latency)}

Latency of a replay:

${speedTable(speeds, ({ replay }, callers) => replay[callers].latency)}

Throughput of first runs:

${speedTable(speeds, ({ firstRun }, callers) => firstRun[callers].throughput)}

Throughput of replays:

${speedTable(speeds, ({ replay }, callers) => replay[callers].throughput)}
`;
}

function speedTable(
  speeds: Timings["speeds"],
  pick: (speed: Speed, callers: Callers) => Pace[keyof Pace],
): string {
  const peer = Object.values(speeds).at(-1) as Speed;
  const header = CALLERS.map((callers) => (callers === 1 ? "1 caller" : `${callers} callers`));
  const rows = Object.entries(speeds).map(([name, speed]) => [
    name,
    ...CALLERS.map((callers) => {
      const own = pick(speed, callers);
      return `${ratio(own)} (${ratio(own / pick(peer, callers))})`;
    }),
  ]);
  return markdownTable([["", ...header], ...rows]);
}
