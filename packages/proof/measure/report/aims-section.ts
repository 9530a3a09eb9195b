// The section of docs/proof/benchmarks.md about the aims, and how far each was reached. Pure.
import type { BatchFigures } from "../batch/compare-batches.ts";
import type { ServerResult, StoreName } from "../servers/compare-servers.ts";
import type { RaceFigures } from "../timing/race.ts";
import { CALLERS, KINDS, type Kind, type Sample } from "../timing/turn.ts";
import { throughputTo } from "./batch-section.ts";
import { pairwise, presentStarts } from "./cold-start-section.ts";
import { ratio } from "./format.ts";
import { markdownTable } from "./markdown.ts";
import { PEER, toPeer } from "./race-table.ts";
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
const kilobytes = (value: number) => `${value.toFixed(1)} KB`;

const STORED = ["Valkey", "PostgreSQL", "DynamoDB"] as const;

const SDK_CLIENT = "onceonly on the peer's client";
const SEND = "onceonly on the peer's client, through its `send`";
const WRITING = "onceonly, claimed, the handler writes on its own";
const GROUPED = `${WRITING}, \`groupRequests: "completions"\``;
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

Each figure is the worst of those that it speaks of. These are 1, 16 and 64 callers, first run and replay, and the versions of Node.
The sections below have all of them.

${markdownTable([["", "aim", "reached", "met"], ...rows])}
`;
}

function aimsOf({
  client,
  engine,
  batch,
  bundle,
  servers,
  "cold-start": coldStart,
}: Results): readonly Aim[] {
  const clientCpu = (race: "plain" | "http" | "tls", name: string) =>
    all(client?.figures[race], name, KINDS, cpu);
  const pace = (name: string, kind: Kind) => all(engine?.figures, name, [kind], speed);
  const starts = (name: string) =>
    presentStarts(coldStart?.figures ?? {}).map(({ withSdk }) => pairwise(withSdk[name], withSdk[PEER]));
  const gzipped = (name: string) => [Number(bundle?.figures.imports[name]?.gzipBytes) / 1000];
  const served = (store: StoreName, figure: keyof ServerResult["ratio"]) => [
    servers?.figures.results[store].ratio[figure],
  ];
  const { requests, throughput } = batchOf(batch?.figures);
  return [
    {
      what: "client processor time, over an SDK client",
      atMost: 0.4,
      reached: [...clientCpu("plain", SDK_CLIENT), ...clientCpu("http", SDK_CLIENT)],
    },
    { what: "the same over TLS", atMost: 0.45, reached: clientCpu("tls", SDK_CLIENT) },
    {
      what: "client processor time, lean",
      atMost: 0.4,
      reached: [...clientCpu("plain", LEAN), ...clientCpu("http", LEAN)],
    },
    { what: "the same over TLS", atMost: 0.45, reached: clientCpu("tls", LEAN) },
    {
      what: "client processor time, through the `send` of the peer's own client",
      atMost: 1.05,
      reached: clientCpu("plain", SEND),
    },
    {
      what: "local engine, first runs in a time",
      atLeast: 1.1,
      reached: pace("onceonly, claimed", "firstRun"),
    },
    {
      what: "local engine, commits in a time",
      atLeast: 1.1,
      reached: pace("onceonly, claimed, with a commit", "firstRun"),
    },
    { what: "local engine, replays in a time", atLeast: 1.5, reached: pace("onceonly, claimed", "replay") },
    {
      what: "batches, requests a message, the handler writes on its own",
      atMost: 1.3,
      reached: requests(WRITING),
      show: plainly,
    },
    {
      what: 'the same with `groupRequests: "completions"`',
      atMost: 1.3,
      reached: requests(GROUPED),
      show: plainly,
    },
    {
      what: "batches, requests a message, with commits",
      atMost: 0.45,
      reached: requests("onceonly, claimed, with a commit"),
      show: plainly,
    },
    {
      what: "batches, throughput, the handler writes on its own",
      atLeast: 1.7,
      reached: throughput(WRITING),
    },
    {
      what: 'the same with `groupRequests: "completions"`',
      atLeast: 1.7,
      reached: throughput(GROUPED),
    },
    {
      what: "batches, throughput, with commits",
      atLeast: 2.3,
      reached: throughput("onceonly, claimed, with a commit"),
    },
    {
      what: "batches, throughput, lean, the handler writes on its own",
      atLeast: 2.3,
      reached: throughput("onceonly, claimed, the handler writes on its own, lean"),
    },
    {
      what: "batches, throughput, lean, with commits",
      atLeast: 5,
      reached: throughput("onceonly, claimed, with a commit, lean"),
    },
    { what: "cold start, with the SDK", atMost: 1, reached: starts("onceonly") },
    { what: "cold start, lean", atMost: 0.45, reached: starts("onceonly/lean") },
    {
      what: "a whole lean function",
      atMost: 55,
      reached: [Number(bundle?.figures.functions["onceonly/lean"]) / 1000],
      show: kilobytes,
    },
    {
      what: "own code of `idempotent`, gzipped",
      atMost: 13.3,
      reached: gzipped("onceonly: `idempotent`"),
      show: kilobytes,
    },
    {
      what: "own code of `httpIdempotency`, gzipped",
      atMost: 15,
      reached: gzipped("onceonly: `httpIdempotency`, for Middy"),
      show: kilobytes,
    },
    {
      what: "server over Valkey, throughput of the bare handler's",
      atLeast: 0.98,
      reached: served("Valkey", "throughput"),
      show: (value) => ratio(value, 3),
    },
    { what: "server over Valkey, p95", atMost: 1.05, reached: served("Valkey", "p95") },
    { what: "server over Valkey, p99", atMost: 1.07, reached: served("Valkey", "p99") },
    {
      what: "server over PostgreSQL, throughput of the bare handler's",
      atLeast: 0.9,
      reached: served("PostgreSQL", "throughput"),
      show: (value) => ratio(value, 3),
    },
    { what: "server over PostgreSQL, p95", atMost: 1.4, reached: served("PostgreSQL", "p95") },
    { what: "server over PostgreSQL, p99", atMost: 1.6, reached: served("PostgreSQL", "p99") },
    {
      what: "20 ms of work on a server, first run, over each store",
      atMost: 1.4,
      reached: STORED.flatMap((store) => served(store, "first")),
    },
    {
      what: "the same, duplicate",
      atMost: 0.4,
      reached: STORED.flatMap((store) => served(store, "again")),
    },
  ];
}

function all(
  figures: RaceFigures | undefined,
  name: string,
  kinds: readonly Kind[],
  pick: (sample: Sample) => number,
) {
  return kinds.flatMap((kind) => CALLERS.map((callers) => toPeer(figures ?? {}, name, kind, callers, pick)));
}

function batchOf(figures: BatchFigures | undefined) {
  const { results = {}, messages = Number.NaN } = figures?.withoutFaults ?? {};
  const peer = results[PEER];
  return {
    requests: (name: string) => [Number(results[name]?.requests) / messages],
    throughput: (name: string) => {
      const own = results[name];
      return [own && peer && throughputTo(peer, own)];
    },
  };
}
