// Batches over a pool that has fewer connections than records that run at the same time.
import type { SQSRecord } from "aws-lambda";
import { type BatchOptions, idempotentBatch, PermanentError } from "onceonly";
import { fromPg, PostgresStore, PostgresTransactions } from "onceonly/postgres";
import { fakeLambdaContext } from "onceonly/testing";
import type pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { sqsRecord } from "../lambda/batch/given.ts";
import { freshTable, hasServer, poolOf, portOf, storeOf } from "./given.ts";

const MESSAGES = 60;
const records = Array.from({ length: MESSAGES }, (_, index) => sqsRecord(`m${index}`));

let port: number;
beforeAll(async () => {
  if (hasServer) port = await portOf();
});

interface Shop {
  readonly pool: pg.Pool;
  readonly table: string;
  readonly orders: string;
}

/** A pool of `max` connections, which the store and the handlers share. */
async function shopOf(max: number): Promise<Shop> {
  const pool = poolOf(port, { max });
  const { table } = await storeOf(fromPg(pool));
  const orders = freshTable();
  await pool.query(`CREATE TABLE ${orders} (id text PRIMARY KEY)`);
  return { pool, table, orders };
}

async function deliver(
  { pool, table, orders }: Shop,
  work: (record: SQSRecord, context: { readonly idempotency: never }) => Promise<unknown>,
  options: Pick<BatchOptions, "store"> & Partial<BatchOptions>,
) {
  const errors: unknown[] = [];
  const handler = idempotentBatch(work as never, {
    operation: "order",
    onRecordError: (error) => void errors.push(error),
    ...options,
  });
  const context = fakeLambdaContext({ clock: { now: () => Date.now() }, remainingMs: 120_000 });
  const { batchItemFailures } = await handler({ Records: records }, context);
  const count = async (from: string) =>
    (await pool.query(`SELECT count(*)::int AS n FROM ${from}`)).rows[0].n;
  return {
    errors,
    left: batchItemFailures.length,
    orders: await count(orders),
    done: await count(`${table} WHERE state = 'completed'`),
  };
}

const ALL_DONE = { errors: [], left: 0, orders: MESSAGES, done: MESSAGES };

describe.skipIf(!hasServer)("a batch over a pool smaller than its concurrency", () => {
  it.each([
    [1, undefined],
    [2, undefined],
    [2, 100],
  ])(
    "R1: handlers in transactions wait for one of %i connections (concurrency %s)",
    async (max, concurrency) => {
      const shop = await shopOf(max);
      const store = new PostgresTransactions({ client: fromPg(shop.pool), table: shop.table });

      const end = await deliver(
        shop,
        ({ messageId }, { idempotency }) =>
          store.clientOf(idempotency).query(`INSERT INTO ${shop.orders} VALUES ($1)`, [messageId]),
        { store: store as never, ...(concurrency && { concurrency }) },
      );

      expect(end).toEqual(ALL_DONE);
    },
  );

  it("R1: a final error of such a handler is recorded, which needs a connection in addition to those in use", async () => {
    const shop = await shopOf(1);
    const store = new PostgresTransactions({ client: fromPg(shop.pool), table: shop.table });

    const end = await deliver(
      shop,
      async ({ messageId }, { idempotency }) => {
        await store.clientOf(idempotency).query(`INSERT INTO ${shop.orders} VALUES ($1)`, [messageId]);
        if (Number(messageId.slice(1)) % 2 === 0) throw new PermanentError("sold out");
      },
      { store: store as never, concurrency: 100, whenFinalError: "acknowledge" },
    );

    expect(end).toMatchObject({ left: 0, orders: MESSAGES / 2, done: MESSAGES / 2 });
    expect(end.errors).toHaveLength(MESSAGES / 2);
  });

  it("R1: handlers that share the pool with the store's statements all finish", async () => {
    const shop = await shopOf(2);
    const store = new PostgresStore({ client: fromPg(shop.pool), table: shop.table });

    const end = await deliver(
      shop,
      ({ messageId }) => shop.pool.query(`INSERT INTO ${shop.orders} VALUES ($1)`, [messageId]),
      { store: store as never, concurrency: 100 },
    );

    expect(end).toEqual(ALL_DONE);
  });
});
