// The section of docs/proof/benchmarks.md about servers under load. Pure.
import { PROJECT_URL } from "../../../../lib/contract.ts";
import {
  ALONE_WORK_MS,
  BUSY_WORK_MS,
  CALLERS,
  CONTESTANTS,
  type ServerResult,
  type ServersFigures,
  STORE_NAMES,
} from "../servers/compare-servers.ts";
import type { FloorName } from "../servers/floors.ts";
import { chart } from "./chart.ts";
import { exactCount, milliseconds, ratio } from "./format.ts";
import { markdownTable } from "./markdown.ts";

/** What the articles of the packages that this load comes from report, on machines of their own. */
const ARTICLES: readonly (readonly string[])[] = [
  ["article, over Redis", "", "× 0.975", "", "", "", "× 1.05", "× 1.07"],
  ["article, over PostgreSQL", "", "× 0.766", "", "", "", "× 1.50", "× 1.76"],
];

type Contestant = (typeof CONTESTANTS)[number];

const nameOf = (contestant: Contestant) =>
  contestant === "none"
    ? "the bare handler"
    : contestant.startsWith("floor")
      ? contestant
      : `onceonly over ${contestant}`;
const times = (value: number) => ratio(value, 3);

export function serversSection(figures: ServersFigures): string {
  const { machine, engines, load, steadiness, seconds, results } = figures;
  const bare = results.none;
  const present = CONTESTANTS.filter((name) => results[name]);
  const rows = (row: (result: ServerResult, name: Contestant) => readonly string[]) =>
    present.map((name) => [nameOf(name), ...row(results[name] as ServerResult, name)]);
  const [before, after] = load.map((each) => each.toFixed(1));
  return `## Servers under load

${CALLERS} callers for ${seconds} seconds over ${BUSY_WORK_MS} ms of work, each with a new key for each request: the load of the articles that onceonly started from.
The server is Fastify in its own process: bare, with \`fastifyIdempotency\` over three stores, and with the floors, which are the two
smallest commands that claim and complete, without any check. The contestants take turns. Ratios are to the bare handler of the same
turn, and each figure is the median of its turns. Overhead is of the mean, and the processor time is the server's own for each request.

![Throughput of a server, and its slowest answers](benchmarks/servers.svg)

${markdownTable([
  ["", "requests/s", "throughput", "of the floor's", "overhead", "processor time", "p95", "p99"],
  ...rows(({ perSecond, meanMs, cpuMs, ratio: to, p95Ms, p99Ms }, name) => [
    exactCount(Math.round(perSecond)),
    times(to.throughput),
    toFloor(figures, name, (result) => result.perSecond),
    milliseconds(meanMs - bare.meanMs, 2),
    milliseconds(cpuMs, 2),
    `${milliseconds(p95Ms)}, ${ratio(to.p95, 2)}`,
    `${milliseconds(p99Ms)}, ${ratio(to.p99, 2)}`,
  ]),
  ...ARTICLES,
])}

The same callers without any work, so a request costs only what the server and the store cost:

${
  bare.idle
    ? markdownTable([
        ["", "requests/s", "throughput", "of the floor's", "processor time", "p95"],
        ...rows(({ idle }, name) => [
          exactCount(Math.round(Number(idle?.perSecond))),
          times(Number(idle?.throughput)),
          toFloor(figures, name, (result) => Number(result.idle?.perSecond)),
          milliseconds(Number(idle?.cpuMs), 2),
          milliseconds(Number(idle?.p95Ms)),
        ]),
      ])
    : "Not measured yet."
}

One caller over ${ALONE_WORK_MS} ms of work:

${markdownTable([
  ["", "first run", "", "duplicate", ""],
  ...rows(({ firstMs, againMs, ratio: to }) => [
    milliseconds(firstMs),
    ratio(to.first, 2),
    milliseconds(againMs),
    ratio(to.again, 2),
  ]),
])}

- The machine has ${machine}. Servers, engines and callers share it: ${Object.values(engines).join(", ")}, and the DynamoDB of the first lines. Its load average was
  ${before} before and ${after} at the end. The slowest turn of the bare handler had ${ratio(steadiness, 2)} of the throughput of its quickest one.
- PostgreSQL writes through to the disk at each commit, two for each first run. Valkey's file follows within a second. The local DynamoDB
  keeps its table in memory, and shares the processors with its callers. DynamoDB itself answers later, and the load doesn't slow it down.
- The articles ran on other machines, so compare their ratios, not their requests per second.
- To put the same load on your own server with k6: [idempotency.js](${PROJECT_URL}/blob/main/packages/proof/show/k6/idempotency.js).
`;
}

/** A store's figure as a share of its floor's. */
function toFloor(
  { results }: ServersFigures,
  name: Contestant,
  pick: (result: ServerResult) => number,
): string {
  const floor = results[`floor over ${name}` as FloorName];
  return floor ? times(pick(results[name] as ServerResult) / pick(floor)) : "";
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
