// What the table costs its server: blocks that cleanup reads, and updates that leave every index alone.
import { runOnce } from "onceonly";
import pg from "pg";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { PostgresStore } from "../../lib/postgres/postgres-store.ts";
import { recordStatements } from "../../lib/postgres/statements.ts";
import { claimOf, freshRecordKey, settlementOf, won } from "../../lib/testing/contract/given.ts";
import { addressOf, freshTable, hasServer, poolOf, portOf, storeOf } from "./given.ts";

/** A database without other tests: their open transactions would keep old versions of rows alive. */
let database: pg.ClientConfig;
beforeAll(async () => {
  if (!hasServer) return;
  const port = await portOf();
  database = { ...addressOf(port), database: freshTable() };
  await poolOf(port).query(`CREATE DATABASE ${database.database}`);
});

/** For a measurement: `REAPED_ROWS=100000 REAPED_BATCH=1000`. */
const { REAPED_ROWS, REAPED_BATCH } = process.env;
const ROWS = Number(REAPED_ROWS ?? 5000);
const BATCH = Number(REAPED_BATCH ?? 50);

/** A session reports its counts when it ends, at the latest. */
async function session<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(database);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** What the server has counted for a table, as soon as it knows of this many insertions, updates and deletions. */
async function countsOf(table: string, insertions: number, updates: number, deletions: number) {
  return session((client) =>
    vi.waitFor(async () => {
      const { rows } = await client.query(
        `SELECT sum(n_tup_ins)::int AS insertions, sum(n_tup_upd)::int AS updates, sum(n_tup_hot_upd)::int AS hot,
  sum(n_tup_del)::int AS deletions, sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8 AS blocks
FROM pg_stat_user_tables AS t JOIN pg_statio_user_tables USING (relid) WHERE t.relname ~ '^${table}(_p\\d+)?$'`,
      );
      expect(rows[0]).toMatchObject({ insertions, updates, deletions });
      return rows[0] as { readonly hot: number; readonly blocks: number };
    }, 20_000),
  );
}

/** A table without autovacuum. Neighbours in the index of expiries are on different pages of the table. */
async function recordsThatExpire(first: number, schema?: { readonly partitions: number }): Promise<string> {
  return session(async (client) => {
    const { table } = await storeOf(fromPg(client), freshTable(), schema);
    if (!schema) await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
    await client.query(
      `INSERT INTO ${table} SELECT 'k' || i, 1, 'completed', 't', 1, i, 'f', i, i, ${first} + (i::bigint * 7919) % ${ROWS} FROM generate_series(1, ${ROWS}) AS i`,
    );
    await client.query(`ANALYZE ${table}`);
    return table;
  });
}

/** How many blocks of the table and its indexes are read to delete all of its records. */
async function blocksToReap(
  beside: "an open transaction" | "nothing",
  schema?: { readonly partitions: number },
): Promise<number> {
  const table = await recordsThatExpire(0, schema);
  const before = await countsOf(table, ROWS, 0, 0);
  await session(async (other) => {
    if (beside !== "nothing") await other.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
    await session(async (client) => {
      const store = new PostgresStore({ client: fromPg(client), table });
      while ((await store.reap({ batchSize: BATCH })) === BATCH);
    });
  });
  return (await countsOf(table, ROWS, 0, ROWS)).blocks - before.blocks;
}

describe.skipIf(!hasServer)("reap", () => {
  it("R9: reads at most twice as many blocks with an open transaction as without one", async () => {
    const alone = await blocksToReap("nothing");
    const beside = await blocksToReap("an open transaction");
    if (REAPED_ROWS) console.log({ ROWS, BATCH, alone, beside });

    expect(beside).toBeLessThanOrEqual(2 * alone);
  });

  it("R9: looks up each record in one of 16 partitions", async () => {
    const whole = await blocksToReap("nothing");
    const parts = await blocksToReap("nothing", { partitions: 16 });
    if (REAPED_ROWS) console.log({ whole, parts });

    expect(parts).toBeLessThanOrEqual(2 * whole);
  });

  it("R9: reads neither the whole table for a batch, nor records that are not due", async () => {
    const table = await recordsThatExpire(1e10);
    const before = await countsOf(table, ROWS, 0, 0);
    const plan = await session(async (client) => {
      expect(await new PostgresStore({ client: fromPg(client), table }).reap()).toBe(0);
      const { text, values } = recordStatements({ table }).reap(0, 1e12, BATCH);
      const { rows } = await client.query(`EXPLAIN ${text}`, [...values]);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    });

    const { blocks } = await countsOf(table, ROWS, 0, 0);
    expect(blocks - before.blocks).toBeGreaterThan(0);
    expect(blocks - before.blocks).toBeLessThan(20);
    expect(plan).not.toContain("Seq Scan");
    expect(plan).toMatch(/Index Cond: .*expires_at <= LEAST/);
  });

  it("deletes what expired before the point that it has reached, in batches too", async () => {
    await session(async (client) => {
      const { store, table } = await storeOf(fromPg(client));
      const insert = (from: number, to: number) =>
        client.query(
          `INSERT INTO ${table} SELECT 'k' || i, 1, 'completed', 't', 1, i, 'f', i, i, i FROM generate_series(${from}, ${to}) AS i`,
        );
      const reap = () => store.reap({ batchSize: 10 });
      await insert(100, 109);
      expect([await reap(), await reap()]).toEqual([10, 0]);

      await insert(1, 25);
      await insert(200, 204);

      expect([await reap(), await reap(), await reap(), await reap()]).toEqual([10, 10, 10, 0]);
      expect((await client.query(`SELECT FROM ${table}`)).rowCount).toBe(0);
    });
  });
});

describe.skipIf(!hasServer)("a completion", () => {
  it.each([
    ["a small result", 10],
    ["a result of 700 characters", 700],
  ])("R2: changes no index with %s: at least 990 of 1,000 updates are HOT", async (_, length) => {
    const { table } = await session((client) => storeOf(fromPg(client)));
    const clients = Array.from({ length: 8 }, () => new pg.Client(database));
    const sizes = await session(async (client) => {
      const [{ lsn }] = (await client.query("SELECT pg_current_wal_insert_lsn() AS lsn")).rows;
      await Promise.all(clients.map((each) => each.connect()));
      const work = async (each: pg.Client, worker: number) => {
        const store = new PostgresStore({ client: fromPg(each), table });
        const pay = (order: string) =>
          runOnce({ operation: "pay", store, leaseSeconds: 30 }, order, {}, async () => "x".repeat(length));
        for (let i = 0; i < 125; i++) await pay(`order-${worker}-${i}`);
      };
      await Promise.all(clients.map(work));
      const { rows } = await client.query(
        `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1) AS wal, pg_relation_size('${table}') AS heap, pg_indexes_size('${table}') AS indexes`,
        [lsn],
      );
      return rows[0];
    });
    await Promise.all(clients.map((each) => each.end()));

    const { hot } = await countsOf(table, 1000, 1000, 0);
    if (REAPED_ROWS) console.log({ hot, ...sizes });
    expect(hot).toBeGreaterThanOrEqual(990);
  });

  it("R2: keeps the record until its claim would have expired, and no longer than an hour", async () => {
    await session(async (client) => {
      const { store, table } = await storeOf(fromPg(client));
      const now = Math.floor(Date.now() / 1000);
      for (const [claimed, completed] of [
        [now + 60, now - 60],
        [now - 60, now - 90],
        [now + 3600, now - 60],
      ]) {
        const recordKey = freshRecordKey();
        await won(store, claimOf(recordKey, { expiresAt: claimed }));
        await store.settle(settlementOf(recordKey, { expiresAt: completed }));
        expect(await store.find(recordKey, { consistent: true })).toMatchObject({ expiresAt: completed });
      }

      expect(await store.reap()).toBe(2);

      const { rows } = await client.query(`SELECT expires_at FROM ${table}`);
      expect(rows).toEqual([{ expires_at: now + 60 }]);
    });
  });
});
