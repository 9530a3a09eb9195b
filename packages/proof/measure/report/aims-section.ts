// The section of docs/proof/benchmarks.md about the aims, and how far each was reached. Pure.
import type { BatchFigures } from "../batch/compare-batches.ts";
import type { TrialResult } from "../batch/trial.ts";
import type { ServerResult } from "../servers/compare-servers.ts";
import type { RaceFigures } from "../timing/race.ts";
import { CALLERS, type Kind, type Sample } from "../timing/turn.ts";
import { pairwise, presentStarts } from "./cold-start-section.ts";
import { kilobytes, ratio } from "./format.ts";
import { markdownTable } from "./markdown.ts";
import { PEER, toContestant } from "./race-table.ts";
import type { Results } from "./results.ts";

interface Aim {
  readonly what: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** All the aims that must hold; empty if none of them was measured. */
  readonly reached: readonly (number | undefined)[];
  readonly show?: (value: number) => string;
}

const cpu = ({ cpuMs }: Sample) => cpuMs;
const speed = ({ callsPerSecond }: Sample) => callsPerSecond;
const times = (value: number) => ratio(value, 2);
const plainly = (value: number) => value.toFixed(2);

const OWN = "onceonly on its own client";
const SEND = "onceonly on the peer's client, through its `send`";
const WRITING = "onceonly, claimed, the handler writes on its own";
const LIMIT = "limit: signed requests";
const FLOOR_OF = { Valkey: "floor over Valkey", PostgreSQL: "floor over PostgreSQL" } as const;
const LEAN = "onceonly on the lean client";

export function aimsSection(results: Results): string {
  const rows = aimsOf(results).map(({ what, atMost, atLeast, reached, show = times }) => {
    const known = reached.filter((value): value is number => Number.isFinite(value));
    const worst = atMost === undefined ? Math.min(...known) : Math.max(...known);
    const met = atMost === undefined ? worst >= Number(atLeast) : worst <= atMost;
    const bound = atMost === undefined ? `at least ${show(Number(atLeast))}` : `at most ${show(atMost)}`;
    return [
      what,
      bound,
      known.length ? show(worst) : "not measured",
      known.length ? (met ? "yes" : "no") : "–",
    ];
  });
  return `## What was aimed at

Ratios are to ${PEER} unless a row says otherwise. Each is the worst of its kind: over 1, 16 and 64 callers, \`idempotent\` and
\`httpIdempotent\`, and the versions of Node. The sections below have all of them.

${markdownTable([["", "aim", "reached", "met"], ...rows])}

${LIMITS}
`;
}

const LIMITS = `### What limits them

Profiled with \`perf\` on 2026-11-28, on Node 20, in microseconds of processor time. A profiler adds to each figure.

- **Our own client** is the SDK's client with our own encoding, signing and reading. A first run and a replay together took 1,560: the
  SDK's middleware (endpoints, retries, user agent, logging) 560, Node's HTTP 220, the store, the core and the wrapper 250, garbage
  collection 90. An earlier version sent requests past the middleware and cost about half as much, but then tracers and test doubles didn't
  see its requests. The lean client has none of that middleware.
- **Servers.** A first run with Fastify over Valkey took 306: our HTTP adapter 84, the Redis client 52, the core 29, the store 20, Fastify
  22, garbage collection 22. Valkey itself needs 33 for a claim and 37 for a completion, where the smallest script needs 7 to 11. The
  floors read no body, store no headers, and renew no lease.
- **Sizes.** No module is larger than 5.7 KB. Steps, messages and addresses are in each function, because each handler may use
  \`step\` and \`commit\`: 11.6 KB that a bundler can leave out only if handlers ask for them with another API.`;

function aimsOf({
  client,
  engine,
  batch,
  bundle,
  servers,
  "cold-start": coldStart,
}: Results): readonly Aim[] {
  const clientCpu = (name: string, kind: Kind, base = PEER) =>
    (["plain", "http"] as const).flatMap((group) => all(client?.figures[group], name, [kind], cpu, base));
  const pace = (name: string, kind: Kind) => all(engine?.figures, name, [kind], speed);
  const starts = (name: string) =>
    presentStarts(coldStart?.figures ?? {}).map(({ withSdk }) => pairwise(withSdk[name], withSdk[PEER]));
  const bytes = (name: string) => Number(bundle?.figures.functions[name]);
  const served = (store: keyof typeof FLOOR_OF, pick: (result: ServerResult) => number | undefined) => {
    const { [store]: own, [FLOOR_OF[store]]: floor } = servers?.figures.results ?? {};
    return [own && floor && Number(pick(own)) / Number(pick(floor))];
  };
  const { hundred, requests } = batchOf(batch?.figures);
  const clients = (
    [
      ["our own client", OWN],
      ["the lean client", LEAN],
    ] as const
  ).flatMap(([what, name]): Aim[] => [
    { what: `first run, ${what}, to the peer`, atMost: 0.33, reached: clientCpu(name, "firstRun") },
    { what: `replay, ${what}, to the peer`, atMost: 0.33, reached: clientCpu(name, "replay") },
    {
      what: `first run, ${what}, to raw signed requests`,
      atMost: 1.3,
      reached: clientCpu(name, "firstRun", LIMIT),
    },
    {
      what: `replay, ${what}, to raw signed requests`,
      atMost: 1.4,
      reached: clientCpu(name, "replay", LIMIT),
    },
  ]);
  const stores = (["Valkey", "PostgreSQL"] as const).flatMap((store): Aim[] => {
    const [share, p95, idle] = store === "Valkey" ? [0.98, 1.05, 0.75] : [0.97, 1.1, 0.6];
    const show = (value: number) => ratio(value, 3);
    return [
      {
        what: `server over ${store}, requests per second, to its floor`,
        atLeast: share,
        reached: served(store, ({ perSecond }) => perSecond),
        show,
      },
      {
        what: `server over ${store}, p95, to its floor`,
        atMost: p95,
        reached: served(store, ({ p95Ms }) => p95Ms),
      },
      {
        what: `server over ${store}, no work, requests per second, to its floor`,
        atLeast: idle,
        reached: served(store, (result) => result.idle?.perSecond),
        show,
      },
    ];
  });
  return [
    ...clients,
    {
      what: "first run through the `send` of a client of your own",
      atMost: 1.05,
      reached: clientCpu(SEND, "firstRun"),
    },
    {
      what: "local engine, first runs per second",
      atLeast: 1.1,
      reached: pace("onceonly, claimed", "firstRun"),
    },
    { what: "local engine, replays per second", atLeast: 1.5, reached: pace("onceonly, claimed", "replay") },
    {
      what: "batch of 100, handlers of 5 to 50 ms, wall time",
      atMost: 0.7,
      reached: hundred(({ batchMs }) => batchMs, true),
    },
    {
      what: "the same, requests per message in addition to the handler's own",
      atMost: 1.1,
      reached: hundred(({ requests: sent, deliveries }) => sent / deliveries - 1, false),
      show: plainly,
    },
    {
      what: "batches with commits, requests per message",
      atMost: 0.45,
      reached: requests("onceonly, claimed, with a commit"),
      show: plainly,
    },
    { what: "cold start, with the SDK", atMost: 1, reached: starts("onceonly") },
    { what: "cold start, lean", atMost: 0.45, reached: starts("onceonly/lean") },
    {
      what: "bytes of a whole HTTP function with the SDK",
      atMost: 1.06,
      reached: [bytes("onceonly") / bytes(PEER)],
    },
    {
      what: "a whole lean function",
      atMost: 85_000,
      reached: [bytes("onceonly/lean")],
      show: kilobytes,
    },
    ...stores,
  ];
}

function all(
  figures: RaceFigures | undefined,
  name: string,
  kinds: readonly Kind[],
  pick: (sample: Sample) => number,
  base = PEER,
) {
  return kinds.flatMap((kind) =>
    CALLERS.map((callers) => toContestant(figures ?? {}, base, name, kind, callers, pick)),
  );
}

function batchOf(figures: BatchFigures | undefined) {
  const { results = {}, messages = Number.NaN } = figures?.withoutFaults ?? {};
  const { [WRITING]: own, [PEER]: peer } = figures?.ofHundred?.results ?? {};
  return {
    requests: (name: string) => [Number(results[name]?.requests) / messages],
    /** Of the batches of 100: a figure of ours, or its ratio to the peer's. */
    hundred: (pick: (result: TrialResult) => number, isRatio: boolean) => [
      own && peer && pick(own) / (isRatio ? pick(peer) : 1),
    ],
  };
}
