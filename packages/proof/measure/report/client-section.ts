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

What a call takes of the function's own process, without the database. Lambda bills this beside the waiting, and
a local engine hides it. A server in a process of its own repeats what an engine answered to each package a moment before. It
lets a new key in and refuses a known one, and keeps nothing. Every request is counted, and every answer is compared. A
contestant that does less than two requests for a first run and one for a replay ends the benchmark. The handler only answers.

${bars("first-run", "a first run")}
${bars("replay", "a replay")}

Processor time relative to ${PEER} on its default client, with 1, 16 and 64 callers at once. The contestants take turns within
each run. Each has a process of its own that is new in each run and has made ${warmUpCalls} calls of each kind. A figure is the
median of ${runsOf(plain)} runs. A first run of
${PEER} took ${milliseconds(ofCall(plain, PEER, "firstRun", 16, cpu), 2)} with 16 callers, a replay ${milliseconds(ofCall(plain, PEER, "replay", 16, cpu), 2)}.

With \`idempotent\`, beside \`makeIdempotent\`:

${relative(plain)}

With \`httpIdempotent\`, beside \`makeIdempotent\` on the same event of an HTTP API, the key in a header and the body checked:

${relative(http)}

${commits ? `${COMMITS}\n\n${relative(commits)}\n\n` : ""}The first table again, over TLS:

${relative(tls)}

Allocated on JavaScript's heap for each call, in KB; plain HTTP, \`idempotent\`:

${raceTable(plain, (name, kind, callers) => ofCall(plain, name, kind, callers, heap).toFixed(0))}

- The floor and the limit claim and complete a record without any of the checks that make it safe. What is above them is
  what a package costs.
- "With the claim it once made" is the same client. At its edge the insert of a record becomes the update under one long
  condition that this package claimed with before. This shows what the insert gained alone.
`;
}

const COMMITS = `With \`httpIdempotent\` and an order that the handler commits, beside \`makeIdempotent\` and an order that the handler puts
on its own. The peer's order takes one request more, and is not atomic:`;

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
