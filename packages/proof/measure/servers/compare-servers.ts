// The load from the packages that inspired onceonly: 50 callers for a minute over 50 ms of work, and one caller over 20 ms; and
// 50 callers over no work at all, which shows what each request costs. The
// contestants are servers in separate processes. They take turns, so the machine's other work affects all of them.
import { cpus, loadavg, totalmem } from "node:os";
import pg from "pg";
import { postgresSchema } from "../../../../lib/postgres/index.ts";
import { postgresInstallations, startPostgres, USER } from "../../../../test/kit/postgres-server.ts";
import { connect, createTable } from "../../../../test/kit/tables.ts";
import { startValkey, valkeyVersion } from "../../../../test/kit/valkey-server.ts";
import { type HelperProcess, startHelper } from "../../helper-process.ts";
import { bundleProcess } from "../../process-bundle.ts";
import { median } from "../timing/median.ts";
import { FLOOR_TABLE, type FloorName } from "./floors.ts";
import { askTwice, press, type Target, targetOf } from "./load.ts";
import type { ServerSetup } from "./server-process.ts";

export const CALLERS = 50;
export const BUSY_WORK_MS = 50;
export const ALONE_WORK_MS = 20;

export const STORE_NAMES = ["none", "Valkey", "PostgreSQL", "DynamoDB"] as const;
export type StoreName = (typeof STORE_NAMES)[number];

/** In the order of their turns. Each store follows its floor. */
export const CONTESTANTS = [
  "none",
  "floor over Valkey",
  "Valkey",
  "floor over PostgreSQL",
  "PostgreSQL",
  "DynamoDB",
] as const satisfies readonly (StoreName | FloorName)[];

/** Medians of the rounds. `ratio` is to the bare handler of the same round. */
export interface ServerResult {
  readonly perSecond: number;
  /** Processor time of the server for each request. */
  readonly cpuMs: number;
  readonly meanMs: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly firstMs: number;
  readonly againMs: number;
  /** The same callers over no work. Absent in results from before it was measured. */
  readonly idle?: {
    readonly perSecond: number;
    readonly cpuMs: number;
    readonly p95Ms: number;
    readonly throughput: number;
  };
  readonly ratio: {
    readonly throughput: number;
    readonly p95: number;
    readonly p99: number;
    readonly first: number;
    readonly again: number;
  };
}

export interface ServersFigures {
  readonly machine: string;
  readonly engines: Readonly<Record<string, string>>;
  /** The machine's load in the minute before, and at the end. */
  readonly load: readonly [before: number, after: number];
  /** The slowest round of the bare handler to its quickest one, by throughput. */
  readonly steadiness: number;
  readonly seconds: number;
  /** The floors are absent in results from before they were measured. */
  readonly results: Readonly<Record<StoreName, ServerResult>> &
    Readonly<Partial<Record<FloorName, ServerResult>>>;
}

export interface ServersEffort {
  readonly rounds: number;
  readonly roundMs: number;
  readonly calls: number;
}

type Round = Omit<ServerResult, "ratio" | "idle"> & { readonly idle: Press };

/** What callers met while they pressed. */
type Press = Pick<ServerResult, "perSecond" | "cpuMs" | "meanMs" | "p95Ms" | "p99Ms">;

/** @param onTurn called once for each contestant in each round */
export async function compareServers(
  dynamodbEndpoint: string,
  { rounds, roundMs, calls }: ServersEffort,
  onTurn: () => void,
): Promise<ServersFigures> {
  const before = loadavg()[0] ?? 0;
  const engines = await startEngines(dynamodbEndpoint);
  const bundle = await bundleProcess("packages/proof/measure/servers/server-process.ts");
  const helpers = CONTESTANTS.map(() => startHelper(bundle));
  try {
    const targets: Target[] = [];
    for (const [index, store] of CONTESTANTS.entries()) {
      const setup: ServerSetup = { store, ...engines.places[store] };
      targets.push(targetOf(Number(await helpers[index]?.ask(setup)), store !== "none"));
    }
    const measured = CONTESTANTS.map((): Round[] => []);
    for (const target of targets) await press(target, BUSY_WORK_MS, CALLERS, Math.min(roundMs, 3000));
    for (let round = 0; round < rounds; round++) {
      // Another one is the first in each round.
      for (let turn = 0; turn < targets.length; turn++) {
        const index = (round + turn) % targets.length;
        measured[index]?.push(
          await roundOf(targets[index] as Target, helpers[index] as HelperProcess, roundMs, calls),
        );
        onTurn();
      }
    }
    for (const { agent } of targets) agent.destroy();
    const [bare = []] = measured;
    const paces = bare.map(({ perSecond }) => perSecond);
    return {
      machine: `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GB`,
      engines: engines.versions,
      load: [before, loadavg()[0] ?? 0],
      steadiness: Math.min(...paces) / Math.max(...paces),
      seconds: (rounds * roundMs) / 1000,
      results: Object.fromEntries(
        CONTESTANTS.map((name, index) => [name, summaryOf(measured[index] ?? [], bare)]),
      ) as Record<(typeof CONTESTANTS)[number], ServerResult>,
    };
  } finally {
    for (const helper of helpers) helper.stop();
    await engines.stop();
  }
}

/** Each keeps its data on disk as its vendor configures it; DynamoDB's model keeps it in memory. */
async function startEngines(dynamodbEndpoint: string) {
  const [installation] = postgresInstallations();
  if (!installation) throw new Error("no PostgreSQL found: apt-get install postgresql");
  const postgres = await startPostgres(installation, { fsync: "on" });
  const valkey = await startValkey(["--appendfsync", "everysec"]);
  const pool = new pg.Pool({ host: "127.0.0.1", port: postgres.port, user: USER, database: "postgres" });
  await pool.query(postgresSchema({ table: "records" }));
  await pool.query(FLOOR_TABLE);
  await pool.end();
  const client = connect(dynamodbEndpoint);
  const dynamodbTable = await createTable(client);
  client.destroy();
  return {
    places: {
      none: { at: "", table: "" },
      Valkey: { at: `${valkey.port}`, table: "" },
      PostgreSQL: { at: `${postgres.port}`, table: "records" },
      DynamoDB: { at: dynamodbEndpoint, table: dynamodbTable },
      "floor over Valkey": { at: `${valkey.port}`, table: "" },
      "floor over PostgreSQL": { at: `${postgres.port}`, table: "floor" },
    } satisfies Record<ServerSetup["store"], Omit<ServerSetup, "store">>,
    versions: { Valkey: valkeyVersion(), PostgreSQL: postgres.name },
    async stop() {
      await postgres.stop();
      await valkey.stop();
    },
  };
}

async function roundOf(
  target: Target,
  server: HelperProcess,
  roundMs: number,
  calls: number,
): Promise<Round> {
  const busy = await pressOf(target, server, BUSY_WORK_MS, roundMs);
  const idle = await pressOf(target, server, 0, roundMs / 2);
  const { first, again } = await askTwice(target, ALONE_WORK_MS, calls);
  return { ...busy, firstMs: median(first), againMs: median(again), idle };
}

async function pressOf(target: Target, server: HelperProcess, workMs: number, forMs: number): Promise<Press> {
  const before = await cpuOf(server);
  const { latencies, seconds } = await press(target, workMs, CALLERS, forMs);
  const cpuMs = ((await cpuOf(server)) - before) / latencies.length;
  const sorted = latencies.toSorted((a, b) => a - b);
  const share = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
  return {
    perSecond: latencies.length / seconds,
    cpuMs,
    meanMs: latencies.reduce((sum, each) => sum + each, 0) / latencies.length,
    p95Ms: share(0.95),
    p99Ms: share(0.99),
  };
}

async function cpuOf(server: HelperProcess): Promise<number> {
  const { user, system } = (await server.ask("cpu")) as NodeJS.CpuUsage;
  return (user + system) / 1000;
}

function summaryOf(rounds: readonly Round[], bare: readonly Round[]): ServerResult {
  const middle = (pick: (round: Round) => number) => median(rounds.map(pick));
  const toBare = (pick: (round: Round) => number, pickBare = pick) =>
    median(rounds.map((round, index) => pick(round) / pickBare(bare[index] as Round)));
  return {
    perSecond: middle(({ perSecond }) => perSecond),
    cpuMs: middle(({ cpuMs }) => cpuMs),
    meanMs: middle(({ meanMs }) => meanMs),
    p95Ms: middle(({ p95Ms }) => p95Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    firstMs: middle(({ firstMs }) => firstMs),
    againMs: middle(({ againMs }) => againMs),
    idle: {
      perSecond: middle(({ idle }) => idle.perSecond),
      cpuMs: middle(({ idle }) => idle.cpuMs),
      p95Ms: middle(({ idle }) => idle.p95Ms),
      throughput: toBare(({ idle }) => idle.perSecond),
    },
    ratio: {
      throughput: toBare(({ perSecond }) => perSecond),
      p95: toBare(({ p95Ms }) => p95Ms),
      p99: toBare(({ p99Ms }) => p99Ms),
      first: toBare(({ firstMs }) => firstMs),
      again: toBare(
        ({ againMs }) => againMs,
        ({ firstMs }) => firstMs,
      ),
    },
  };
}
