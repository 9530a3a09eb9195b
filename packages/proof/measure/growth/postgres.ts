// Growth on PostgreSQL: the blocks that a call, a replay and a cleanup touch among many rows, and what steps write.
import { randomUUID } from "node:crypto";
import { runOnce } from "onceonly";
import { fromPg, PostgresStore, postgresSchema } from "onceonly/postgres";
import pg from "pg";
import { postgresInstallations, startPostgres, USER } from "../../../../test/kit/postgres-server.ts";
import { byEffort, type Effort } from "../effort.ts";
import { type Growth, growthOf, textOf } from "./series.ts";

const SIZES = [10_000, 100_000, 1_000_000, 10_000_000];
const CALLS = 200;
const REAPED = 1000;
const KB = 1024;

/** Empty without a PostgreSQL on this machine. */
export async function postgresGrowth(_endpoint: string, effort: Effort): Promise<readonly Growth[]> {
  const [installation] = postgresInstallations();
  if (!installation) return [];
  const server = await startPostgres(installation);
  const pool = new pg.Pool({
    host: "127.0.0.1",
    port: server.port,
    user: USER,
    database: "postgres",
    max: 1,
  });
  const most = byEffort(effort, { quick: 10_000, short: 100_000, full: 10_000_000 });
  try {
    await pool.query(postgresSchema({ table: "records" }));
    return [
      // First, while no checkpoint makes PostgreSQL write whole pages.
      await growthOf("steps of an operation on PostgreSQL, 3 KB each", [1, 10, 30, 100], 100, (count) =>
        steps(pool, count),
      ),
      await growthOf("rows in PostgreSQL", SIZES, most, (rows) => atRows(pool, rows)),
    ];
  } finally {
    await pool.end();
    await server.stop();
  }
}

async function atRows(pool: pg.Pool, rows: number) {
  const store = new PostgresStore({ client: fromPg(pool), table: "records" });
  const options = { operation: "grow", scope: "public", store, leaseSeconds: 60 };
  const call = (key: string) => runOnce(options, key, { item: "book" }, async () => ({ order: "1" }));
  await call(`template-${rows}`);
  await copyRows(pool, rows);
  const keys = Array.from({ length: CALLS }, () => randomUUID());
  const calls = async () => {
    for (const key of keys) await call(key);
  };
  const first = await blocksOf(pool, calls);
  const replays = await blocksOf(pool, calls);
  await pool.query("UPDATE records SET expires_at = 1 WHERE pk IN (SELECT pk FROM records LIMIT $1)", [
    REAPED,
  ]);
  await pool.query("VACUUM ANALYZE records");
  let reaped = 0;
  const cleanup = await blocksOf(pool, async () => {
    reaped = await store.reap({ batchSize: REAPED });
  });
  if (reaped !== REAPED) throw new Error(`${reaped} rows were deleted, not ${REAPED}`);
  return {
    "blocks per first run": first / CALLS,
    "blocks per replay": replays / CALLS,
    "blocks per deleted row": cleanup / REAPED,
  };
}

async function steps(pool: pg.Pool, count: number) {
  const store = new PostgresStore({ client: fromPg(pool), table: "records" });
  const before = await walPosition(pool);
  await runOnce({ operation: "grow", store, leaseSeconds: 60 }, randomUUID(), {}, async ({ step }) => {
    for (let index = 0; index < count; index++) await step(`step-${index}`, () => textOf(3 * KB));
  });
  return { "KB of WAL per step": ((await walPosition(pool)) - before) / KB / count };
}

async function walPosition(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query("SELECT pg_current_wal_insert_lsn() - '0/0' AS position");
  return Number(rows[0].position);
}

/** Copies the newest record until the table has that many. */
async function copyRows(pool: pg.Pool, rows: number): Promise<void> {
  const { rows: columns } = await pool.query(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'records' AND is_generated = 'NEVER' AND column_name <> 'pk'",
  );
  const names = columns.map(({ name }) => `"${name}"`).join(", ");
  await pool.query(
    `INSERT INTO records (pk, ${names}) SELECT md5(random()::text || n), ${names} FROM (SELECT * FROM records LIMIT 1) AS one, generate_series(1, $1 - (SELECT count(*) FROM records)) AS n`,
    [rows],
  );
  await pool.query("VACUUM ANALYZE records");
}

async function blocksOf(pool: pg.Pool, work: () => Promise<unknown>): Promise<number> {
  const before = await blocks(pool);
  await work();
  return (await blocks(pool)) - before;
}

async function blocks(pool: pg.Pool): Promise<number> {
  await pool.query("SELECT pg_stat_force_next_flush()");
  const { rows } = await pool.query(
    "SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) AS sum FROM pg_statio_user_tables",
  );
  return Number(rows[0].sum);
}
