// Messages of commits on PostgreSQL: stored by the transaction of the record, and sent by the sweeper to a real queue.
import { randomUUID } from "node:crypto";
import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { PermanentError, runOnce } from "onceonly";
import { type OutboxSweeperOptions, outboxSweeper } from "onceonly/messaging";
import { fromPg, PostgresOutbox, PostgresStore, PostgresTransactions } from "onceonly/postgres";
import { fakeClock } from "onceonly/testing";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newFifo } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { sdkSubject, sqsClient } from "../../packages/explorer/test/aws/sqs/cases/sdk-subject.ts";
import { startSqs } from "../../packages/local/lib/sqs/start-sqs.ts";
import { timeless } from "../kit/time/timeless.ts";
import { until } from "../kit/time/until.ts";
import { clientOf, freshTable, hasServer, poolOf, portOf, storeOf } from "./given.ts";

const clock = fakeClock();
let pool: pg.Pool;
let port: number;
let engine: Awaited<ReturnType<typeof startSqs>>;
let sqs: ReturnType<typeof sqsClient>;
let subject: ReturnType<typeof sdkSubject>;

beforeAll(async () => {
  if (!hasServer) return;
  port = await portOf();
  pool = poolOf(port);
  engine = await startSqs({ clock });
  sqs = sqsClient(engine.endpoint);
  subject = sdkSubject({ endpoint: engine.endpoint, clock, stop: () => engine.stop() });
});
afterAll(async () => {
  sqs?.destroy();
  await subject?.stop();
});

async function newShop(notify = false) {
  const client = fromPg(pool);
  const { table } = await storeOf(client);
  const orders = freshTable();
  await pool.query(`CREATE TABLE ${orders} (id text PRIMARY KEY)`);
  const store = new PostgresStore({ client, table, notify });
  const transactions = new PostgresTransactions({ client, table, notify });
  const outbox = new PostgresOutbox({ client, table });
  const queue = await newFifo(subject);
  const message = (key: string, to = queue) => ({ queue: to, key, group: "orders", body: { key } });
  return {
    table,
    outbox,
    queue,
    message,
    store,
    transactions,
    ids: async () => (await pool.query(`SELECT id FROM ${orders} ORDER BY id`)).rows.map(({ id }) => id),
    columns: async (names: string) =>
      (await pool.query(`SELECT ${names} FROM ${table} WHERE pk LIKE 'order#%' ORDER BY pk`)).rows,
    order: (key: string, messages = [message(key)], id = key) =>
      runOnce({ operation: "order", store, leaseSeconds: 30, clock }, key, {}, ({ commit }) =>
        commit(key, {
          messages,
          writes: (own) => own.query(`INSERT INTO ${orders} VALUES ($1)`, [id]),
        }),
      ),
    orderWithin: (key: string, error?: Error) =>
      runOnce(
        { operation: "order", store: transactions, leaseSeconds: 30, clock },
        key,
        {},
        async (execution) => {
          const own = transactions.clientOf(execution);
          await own.query(`INSERT INTO ${orders} VALUES ($1)`, [key]);
          if (error) throw error;
          return execution.commit(key, { messages: [message(key)] });
        },
      ),
    sweep: async (options: Partial<OutboxSweeperOptions> = {}) => {
      await clock.advance(1);
      return outboxSweeper({
        outbox,
        destinations: "any",
        sqs,
        minAgeSeconds: 0,
        clock: timeless(clock),
        random: { token: randomUUID, fraction: () => 1 },
        observe: () => {},
        ...options,
      })();
    },
    received: async () => {
      const keys: string[] = [];
      for (;;) {
        const QueueUrl = queue;
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 }),
        );
        if (Messages.length === 0) return keys;
        for (const { Body = "", ReceiptHandle } of Messages) {
          keys.push(JSON.parse(Body).key);
          await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        }
      }
    },
  };
}

describe.skipIf(!hasServer)("messages of a commit on PostgreSQL", () => {
  it("are sent once, in the order of their commits, and then their record expires like any other", async () => {
    const { order, sweep, received, ids, columns, outbox } = await newShop();
    await order("a");
    await clock.advance(10);
    await order("b");
    await order("b");
    expect(await outbox.count()).toEqual({ waiting: 2, parked: 0 });
    expect(await columns("expires_at")).toEqual([{ expires_at: null }, { expires_at: null }]);

    expect([await sweep(), await sweep()]).toEqual([
      { sent: 2, failed: 0, waiting: 0 },
      { sent: 0, failed: 0, waiting: 0 },
    ]);

    expect([await received(), await ids()]).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
    expect(await columns("messages, due_at, expires_at IS NOT NULL AS expires")).toEqual(
      Array(2).fill({ messages: null, due_at: null, expires: true }),
    );
  });

  it("don't exist if a write is refused", async () => {
    const { order, sweep, ids, outbox } = await newShop();
    await order("a");
    await sweep();

    await expect(order("b", undefined, "a")).rejects.toMatchObject({ code: "TRANSACTION_CONDITION" });

    expect([await ids(), await outbox.count()]).toEqual([["a"], { waiting: 0, parked: 0 }]);
  });

  it("are committed with the rows of a handler within the transaction, or rolled back with them", async () => {
    const { orderWithin, sweep, received, ids } = await newShop();
    await orderWithin("a");
    await expect(orderWithin("b", new Error("no answer"))).rejects.toThrow("no answer");
    await expect(orderWithin("c", new PermanentError("refused"))).rejects.toThrow("refused");

    expect(await sweep()).toEqual({ sent: 1, failed: 0, waiting: 0 });

    expect([await received(), await ids()]).toEqual([["a"], ["a"]]);
  });

  it("are sent by one of several concurrent sweepers", async () => {
    const { order, sweep, received } = await newShop();
    for (const key of ["a", "b", "c", "d"]) {
      await order(key);
      await clock.advance(1);
    }

    const reports = await Promise.all([sweep(), sweep(), sweep()]);
    await clock.advance(400_000);
    const rest = await sweep();

    expect([...reports, rest].reduce((sum, { sent }) => sum + sent, 0)).toBe(4);
    expect((await received()).sort()).toEqual(["a", "b", "c", "d"]);
  });

  it("that another sender is about to take hold up no other", async () => {
    const { order, sweep, table } = await newShop();
    await order("a");
    const other = await pool.connect();
    await other.query("BEGIN");
    await other.query(`SELECT 1 FROM ${table} FOR UPDATE`);

    expect(await sweep()).toEqual({ sent: 0, failed: 0, waiting: 1 });

    await other.query("COMMIT");
    other.release();
    expect(await sweep()).toEqual({ sent: 1, failed: 0, waiting: 0 });
  });

  it("H72: for a missing queue back off and are parked, and the others are sent once", async () => {
    const { order, sweep, received, message, queue, outbox, columns } = await newShop();
    const gone = { ...message("gone", queue.replace(/[^/]+$/, "gone.fifo")), group: "gone" };
    await order("a", [message("a"), gone]);

    expect(await sweep({ parkAfterTries: 2 })).toEqual({ sent: 0, failed: 1, waiting: 0 });
    expect(await outbox.count()).toEqual({ waiting: 1, parked: 0 });
    await clock.advance(3_600_000);
    await sweep({ parkAfterTries: 2 });

    expect(await outbox.count()).toEqual({ waiting: 0, parked: 1 });
    const [row] = await columns("progress, expires_at");
    expect(JSON.parse(row.progress).map(({ state }: { state: string }) => state)).toEqual(["sent", "parked"]);
    expect([row.expires_at, await received()]).toEqual([null, ["a"]]);
  });

  it("that cannot be read are parked, and those of a later version are left to it", async () => {
    const { order, sweep, outbox, table } = await newShop();
    await order("a");
    await order("b");
    await order("c");
    await pool.query(`UPDATE ${table} SET messages = '[1]' WHERE result = '"a"'`);
    await pool.query(`UPDATE ${table} SET version = 99 WHERE result = '"b"'`);

    expect(await sweep()).toEqual({ sent: 1, failed: 2, waiting: 0 });

    expect(await outbox.count()).toEqual({ waiting: 1, parked: 1 });
  });

  it("are found by an index", async () => {
    const { table } = await newShop();
    await pool.query(
      `INSERT INTO ${table} SELECT 'k' || i, 1, 'completed', 't', 1, i, 'f', i, i, i FROM generate_series(1, 20000) AS i`,
    );
    await pool.query(`ANALYZE ${table}`);
    const { rows } = await pool.query(
      `EXPLAIN SELECT pk FROM ${table} WHERE unsent_shard = 1 AND due_at IS NOT NULL AND due_at < 9 ORDER BY due_at, pk LIMIT 100`,
    );

    expect(JSON.stringify(rows)).toContain(`${table}_unsent`);
  });

  it("are announced to listeners, by commits that have some", async ({ signal }) => {
    const { order, orderWithin, outbox, transactions } = await newShop(true);
    const listener = await clientOf(port);
    let reported = 0;
    listener.on("notification", () => reported++);
    await listener.query(`LISTEN "${outbox.channel}"`);

    await order("a", []);
    await orderWithin("b");
    expect(await until(() => reported === 1, { seconds: 20, signal })).toBe(true);
    await runOnce(
      { operation: "order", store: transactions, leaseSeconds: 30, mode: "optimistic" },
      "c",
      {},
      ({ commit }) => commit("c"),
    );
    await order("d");

    expect(await until(() => reported === 2, { seconds: 20, signal })).toBe(true);
  });
});
