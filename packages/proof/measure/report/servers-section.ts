// The section of docs/proof/benchmarks.md about servers under load. Pure.
import { PROJECT_URL } from "../../../../lib/contract.ts";
import {
  ALONE_WORK_MS,
  BUSY_WORK_MS,
  CALLERS,
  type ServerResult,
  type ServersFigures,
  STORE_NAMES,
} from "../servers/compare-servers.ts";
import { chart } from "./chart.ts";
import { exactCount, milliseconds, ratio } from "./format.ts";
import { markdownTable } from "./markdown.ts";

/** The claims of the packages that this load comes from. */
const PUBLISHED: readonly (readonly string[])[] = [
  ["published, over Redis", "", "× 0.975", "", "", "× 1.05", "× 1.07"],
  ["published, over PostgreSQL", "", "× 0.766", "", "", "× 1.50", "× 1.76"],
];

const nameOf = (store: string) => (store === "none" ? "the bare handler" : `onceonly over ${store}`);
const times = (value: number) => ratio(value, 3);

export function serversSection({
  machine,
  engines,
  load,
  steadiness,
  seconds,
  results,
}: ServersFigures): string {
  const bare = results.none;
  const rows = (row: (name: string, result: ServerResult) => readonly string[]) =>
    STORE_NAMES.map((store) => row(nameOf(store), results[store]));
  const [before, after] = load.map((each) => each.toFixed(1));
  return `## Servers under load

${CALLERS} callers for ${seconds} seconds over ${BUSY_WORK_MS} ms of work, each with a new key for each request. The server is Fastify in a process of its own,
bare, and with \`fastifyIdempotency\` over three stores. The contestants take turns, ${seconds / 10} of 10 seconds each. Ratios are to
the bare handler of the same turn, and each figure is the median of its turns. Overhead is of the mean, and the processor time is
the server's own for each request.

![Throughput of a server, and its slowest answers](benchmarks/servers.svg)

${markdownTable([
  ["", "requests/s", "throughput", "overhead", "processor time", "p95", "p99"],
  ...rows((name, { perSecond, meanMs, cpuMs, ratio: to, p95Ms, p99Ms }) => [
    name,
    exactCount(Math.round(perSecond)),
    times(to.throughput),
    milliseconds(meanMs - bare.meanMs, 2),
    milliseconds(cpuMs, 2),
    `${milliseconds(p95Ms)}, ${ratio(to.p95, 2)}`,
    `${milliseconds(p99Ms)}, ${ratio(to.p99, 2)}`,
  ]),
  ...PUBLISHED,
])}

One caller over ${ALONE_WORK_MS} ms of work:

${markdownTable([
  ["", "first run", "", "duplicate", ""],
  ...rows((name, { firstMs, againMs, ratio: to }) => [
    name,
    milliseconds(firstMs),
    ratio(to.first, 2),
    milliseconds(againMs),
    ratio(to.again, 2),
  ]),
])}

- The machine has ${machine}. Servers, engines and callers share it: ${Object.values(engines).join(", ")}, and the DynamoDB of the first lines. Its load was
  ${before} before and ${after} at the end. The slowest turn of the bare handler had ${ratio(steadiness, 2)} of the throughput of its quickest one.
- PostgreSQL writes through to the disk at each commit, two for each first run. Valkey's file follows within a second. The local DynamoDB
  keeps its table in memory, and takes processors from its callers. DynamoDB itself answers later, and is not slowed down by the load.
- What is missed is the exchange with the store. Over a \`MemoryStore\` the throughput is × 0.98, with 0.19 ms more of processor time than without,
  and Valkey takes 0.05 ms more than that. Callers come in clumps, as their timers end together, and each exchange makes them tighter. So each waits
  for the others of its clump. Tried, without gain: ioredis with \`enableAutoPipelining\`, and one write to the socket for all commands of a moment.
- The same load for k6, for a server of yours: [idempotency.js](${PROJECT_URL}/blob/main/packages/proof/show/k6/idempotency.js).
`;
}

export function serversCharts({ results }: ServersFigures): Readonly<Record<string, string>> {
  const group = (name: string, of: (result: ServerResult) => number) => ({
    name,
    bars: STORE_NAMES.map((store) => ({ name: nameOf(store), value: of(results[store]) })),
  });
  const groups = [
    group("throughput (more is better)", ({ ratio: to }) => to.throughput),
    group("p95 (less is better)", ({ ratio: to }) => to.p95),
    group("p99 (less is better)", ({ ratio: to }) => to.p99),
  ];
  const title = `${CALLERS} callers over ${BUSY_WORK_MS} ms of work, relative to the bare handler`;
  return { "servers.svg": chart(title, groups, { mark: 1, show: (value) => ratio(value, 2) }) };
}
