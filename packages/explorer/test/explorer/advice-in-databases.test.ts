// The advice for handlers whose records are in a real PostgreSQL: it never asks for what they already do.
import "../../../../test/kit/shop/environment.ts";
import { httpIdempotent, type Store } from "onceonly";
import type pg from "pg";
import { expect, it } from "vitest";
import { fromPg } from "../../../../lib/postgres/from-pg.ts";
import { PostgresStore } from "../../../../lib/postgres/postgres-store.ts";
import { PostgresTransactions } from "../../../../lib/postgres/postgres-transactions.ts";
import { postOrder } from "../../../../test/kit/shop/events.ts";
import * as postgres from "../../../../test/postgres/given.ts";
import { explore } from "../../lib/explorer/explore.ts";
import { exploredSql } from "./foreign-given.ts";

type Points = ReturnType<typeof exploredSql>;

/** A handler that inserts its order outside of what its store writes. */
async function exploredOn(storeOf: (client: Points, table: string) => Store<unknown>) {
  // A frozen process keeps its locks, and time stands still for who waits for them.
  const pool: pg.Pool = postgres.poolOf(await postgres.portOf(), { options: "-c lock_timeout=20" });
  const admin = postgres.poolOf(await postgres.portOf());
  const { table } = await postgres.storeOf(fromPg(admin));
  const orders = `${table}_orders`;
  await admin.query(`CREATE TABLE ${orders} (id text NOT NULL)`);
  const points = exploredSql(fromPg(pool));
  const given = exploredSql(fromPg(admin));
  const careless = httpIdempotent(
    async () => {
      await points.query(`INSERT INTO ${orders} VALUES ($1)`, [crypto.randomUUID()]);
      return { statusCode: 201, body: "created" };
    },
    { operation: "create-order", scope: "public", store: storeOf(points, table) },
  );
  return explore(careless, postOrder(), {
    timeoutSeconds: 6,
    maxRuns: 40,
    setUp: async (aws) => {
      points.begin(aws.clock);
      await given.query(`TRUNCATE ${table}, ${orders} CASCADE`, []);
    },
    effects: async () =>
      (await given.query(`SELECT id FROM ${orders}`, [])).map(({ id }) => ({
        kind: "item",
        place: "orders",
        content: { id: `${id}` },
      })),
  });
}

it.skipIf(!postgres.hasServer).each([
  [
    "PostgresTransactions, to write in the transaction and to commit nothing",
    (client: Points, table: string) => new PostgresTransactions({ client, table }) as Store<unknown>,
    "write it with the client that `clientOf(idempotency)` returns",
    /httpIdempotent|wrap the handler|idempotency\.commit/,
  ],
  [
    "PostgresStore, to commit, and not to wrap it again",
    (client: Points, table: string) => new PostgresStore({ client, table }) as Store<unknown>,
    "the item can exist although the completion was never recorded",
    /httpIdempotent|wrap the handler/,
  ],
] as const)("37.2: advises a handler on %s", { timeout: 300_000 }, async (_, storeOf, advised, does) => {
  const report = await exploredOn(storeOf);

  const advices = [...new Set(report.findings.map(({ advice }) => advice))].join("\n");
  expect(advices).toContain(advised);
  expect(advices).not.toMatch(does);
  expect(String(report)).toMatch(/^create-order: /);
});
