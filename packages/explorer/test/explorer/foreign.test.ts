// Handlers whose records are in real databases, explored: each statement and each command is a point, on both stores.
import "../../../../test/kit/shop/environment.ts";
import { httpIdempotent } from "onceonly";
import type pg from "pg";
import { describe, expect, it } from "vitest";
import { fromPg } from "../../../../lib/postgres/from-pg.ts";
import { PostgresStore } from "../../../../lib/postgres/postgres-store.ts";
import { fromIoredis } from "../../../../lib/valkey/from-ioredis.ts";
import { ValkeyStore } from "../../../../lib/valkey/valkey-store.ts";
import { postOrder } from "../../../../test/kit/shop/events.ts";
import { conflictingAtFirst, onlyDsql } from "../../../../test/postgres/dsql-given.ts";
import * as postgres from "../../../../test/postgres/given.ts";
import { inTier } from "../../../../test/setup/tier.ts";
import * as valkey from "../../../../test/valkey/given.ts";
import type { Effect } from "../../lib/explorer/effect.ts";
import { explore } from "../../lib/explorer/explore.ts";
import type { ExploreOptions } from "../../lib/explorer/options.ts";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";
import { exploredSql, exploredValkey } from "./foreign-given.ts";
import "./seeded-bugs/control.ts";

interface Explored {
  readonly handler: LambdaHandler;
  /** Makes its order beside the record, and not with it. */
  readonly careless: LambdaHandler;
  readonly options: ExploreOptions;
}

const order = (id: string): Effect => ({ kind: "item", place: "orders", content: { id } });
const created = { statusCode: 201, body: "created" };
const settings = { operation: "create-order", scope: "public" } as const;

/** As Aurora DSQL does: in each run each transaction finds a conflict at its first commit. */
const onDsql = () => onPostgres("dsql");

async function onPostgres(dialect?: "dsql"): Promise<Explored> {
  // A frozen process keeps its locks, and time stands still for who waits for them.
  const pool: pg.Pool = postgres.poolOf(await postgres.portOf(), { options: "-c lock_timeout=20" });
  const admin = postgres.poolOf(await postgres.portOf());
  const schema = dialect && { dialect };
  const { table } = await postgres.storeOf(
    dialect ? onlyDsql(fromPg(admin)) : fromPg(admin),
    undefined,
    schema,
  );
  const orders = `${table}_orders`;
  await admin.query(`CREATE TABLE ${orders} (id text NOT NULL)`);
  const points = exploredSql(fromPg(pool));
  let conflicting = conflictingAtFirst(points);
  const client: typeof conflicting.client = dialect
    ? {
        query: (...asked) => conflicting.client.query(...asked),
        transaction: (...asked) => conflicting.client.transaction(...asked),
      }
    : points;
  const real = new PostgresStore({ client: dialect ? onlyDsql(client) : client, table, ...schema });
  // A claim that finds a conflict, and no record, is asked again: there is one where a conflict is real.
  const asked = { get: (_: unknown, name: string) => Reflect.get(conflicting.seen(real), name) };
  const store = dialect ? new Proxy(real, asked as ProxyHandler<typeof real>) : real;
  const insert = `INSERT INTO ${orders} VALUES ($1)`;
  const given = exploredSql(fromPg(admin));
  return {
    handler: httpIdempotent(
      async (_: unknown, { idempotency }) =>
        idempotency.commit(created, { writes: (own) => own.query(insert, [crypto.randomUUID()]) }),
      { ...settings, store },
    ),
    careless: httpIdempotent(
      async () => {
        await points.query(insert, [crypto.randomUUID()]);
        return created;
      },
      { ...settings, store },
    ),
    options: {
      setUp: async (aws) => {
        points.begin(aws.clock);
        conflicting = conflictingAtFirst(points);
        await given.query(`TRUNCATE ${table}, ${orders} CASCADE`, []);
      },
      effects: async () =>
        (await given.query(`SELECT id FROM ${orders}`, [])).map(({ id }) => order(`${id}`)),
    },
  };
}

async function onValkey(): Promise<Explored> {
  const client = exploredValkey(fromIoredis(valkey.redisOf(await valkey.portOf())));
  const prefix = valkey.freshPrefix();
  const store = new ValkeyStore({ client, prefix });
  const orders = `${prefix}-orders`;
  return {
    handler: httpIdempotent(
      async (_: unknown, { idempotency }) =>
        idempotency.commit(created, { writes: [{ command: ["RPUSH", orders, crypto.randomUUID()] }] }),
      { ...settings, store },
    ),
    careless: httpIdempotent(
      async () => {
        await client.send(orders, ["RPUSH", orders, crypto.randomUUID()]);
        return created;
      },
      { ...settings, store },
    ),
    options: {
      setUp: async () => {
        const keys = (await client.send(orders, ["KEYS", `${prefix}*`])) as string[];
        for (const key of keys) await client.send(key, ["DEL", key]);
      },
      effects: async () =>
        ((await client.send(orders, ["LRANGE", orders, "0", "-1"])) as string[]).map((id) => order(id)),
    },
  };
}

describe.each([
  ["PostgreSQL", postgres.hasServer, () => onPostgres()],
  ["PostgreSQL with the SQL of Aurora DSQL and its conflicts", postgres.hasServer, onDsql],
  ["Valkey or Redis", valkey.hasServer, onValkey],
] as const)("explore, of a handler whose records are in %s", (name, hasServer, given) => {
  const settingsOf = (options: ExploreOptions): ExploreOptions => ({ ...options, timeoutSeconds: 6 });

  it.skipIf(!hasServer)(
    "finds no second effect of a commit, whatever dies",
    { timeout: 900_000 },
    async () => {
      const { handler, options } = await given();

      const report = await explore(handler, postOrder(), {
        ...settingsOf(options),
        depth: inTier(1, 2),
        maxRuns: inTier(90, 2000),
      });

      console.log(`a commit in ${name}: ${report.points.length} points, ${report.runs} runs`);
      expect(report).toBeExactlyOnce();
    },
  );

  it.skipIf(!hasServer)(
    "H78: finds the second effect of a write next to the record",
    { timeout: 900_000 },
    async () => {
      const { careless, options } = await given();

      const report = await explore(careless, postOrder(), settingsOf(options));

      expect(report.findings.map(({ kind }) => kind)).toContain("happens-twice");
    },
  );
});
