// The section of docs/proof/benchmarks.md about the client: what a call costs the function's own process. Pure.
import type { ClientFigures } from "../timing/client-race.ts";
import type { RaceFigures } from "../timing/race.ts";
import { CALLERS, type Kind, type Sample } from "../timing/turn.ts";
import { type ChartGroup, chart } from "./chart.ts";
import { milliseconds, ratio } from "./format.ts";
import { ofCall, PEER, raceTable, toPeer } from "./race-table.ts";

const cpu = ({ cpuMs }: Sample) => cpuMs;
const heap = ({ heapKb }: Sample) => heapKb;

export function clientSection({ plain, http, tls, commits, warmUpCalls = 800 }: ClientFigures): string {
  return `## The client

How much processor time a call costs in the function's process, without the database. Lambda bills it on top of the waiting, and
a local engine's own work would hide it. So a small server in another process replays the responses that a real engine gave each
package just before: it accepts a new key, refuses a known one, and stores nothing. The benchmark counts every request and compares
every response. It fails if a contestant makes fewer than two requests for a first run, or fewer than one for a replay. The handler does no work.

${bars("first-run", "a first run")}
${bars("replay", "a replay")}

Processor time relative to ${PEER} on its default client, with 1, 16 and 64 callers at once. The contestants take turns within
each run. Each starts in a new process and makes ${warmUpCalls} calls of each kind first. A figure is the
median of ${runsOf(plain)} runs. A first run of
${PEER} took ${milliseconds(ofCall(plain, PEER, "firstRun", 16, cpu), 2)} with 16 callers, a replay ${milliseconds(ofCall(plain, PEER, "replay", 16, cpu), 2)}.

\`idempotent\` next to \`makeIdempotent\`:

${relative(plain)}

\`httpIdempotent\` next to \`makeIdempotent\`, on the same HTTP API event, with the key in a header and the body checked:

${relative(http)}

${commits ? `${COMMITS}\n\n${relative(commits)}\n\n` : ""}The first table again, over TLS:

${relative(tls)}

Allocated on JavaScript's heap for each call, in KB; plain HTTP, \`idempotent\`:

${raceTable(plain, (name, kind, callers) => ofCall(plain, name, kind, callers, heap).toFixed(0))}

- The floor and the limit claim and complete a record without any of the checks that make it safe. The difference to them is
  the cost of a package.
- "With the claim it once made" uses the same client, but claims with an update under one long condition, as this package
  used to, instead of an insert. The difference shows what the insert saves.
`;
}

const COMMITS = `\`httpIdempotent\` with an order that the handler commits, next to \`makeIdempotent\` with an order that the handler puts
itself. The peer needs one request more for the order, and isn't atomic:`;

const bars = (file: string, what: string) =>
  `![Processor time of ${what}, relative to ${PEER}](benchmarks/client-${file}.svg)`;

export function clientCharts({ plain }: ClientFigures): Readonly<Record<string, string>> {
  const of = (kind: Kind): ChartGroup[] =>
    CALLERS.map((callers) => ({
      name: callers === 1 ? "1 caller" : `${callers} callers`,
      bars: Object.keys(plain).map((name) => ({ name, value: toPeer(plain, name, kind, callers, cpu) })),
    }));
  const title = (what: string) => `Processor time of ${what}, × ${PEER} (less is better)`;
  return {
    "client-first-run.svg": chart(title("a first run"), of("firstRun"), {
      mark: 1,
      show: (value) => ratio(value, 2),
    }),
    "client-replay.svg": chart(title("a replay"), of("replay"), {
      mark: 1,
      show: (value) => ratio(value, 2),
    }),
  };
}

function relative(figures: RaceFigures): string {
  return raceTable(figures, (name, kind, callers) => ratio(toPeer(figures, name, kind, callers, cpu), 2));
}

function runsOf(figures: RaceFigures): number {
  return figures[PEER]?.firstRun[1].length ?? 0;
}
