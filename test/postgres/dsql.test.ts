// The dialect of Aurora DSQL. The contract and the operators of an outbox run with it too: contract.test.ts, outbox-operators.test.ts.
import { CommitInvalidError, InvalidOptionError, runOnce } from "onceonly";
import {
  fromPg,
  PostgresOutbox,
  PostgresStore,
  PostgresTransactions,
  postgresSchema,
} from "onceonly/postgres";
import type pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { claimOf, freshRecordKey, settlementOf, won } from "../../lib/testing/contract/given.ts";
import { gate } from "../kit/time/gate.ts";
import { conflictingOnce, onlyDsql } from "./dsql-given.ts";
import { freshTable, hasServer, poolOf, portOf, storeOf } from "./given.ts";

const dialect = "dsql";
const idle = { query: async () => [], transaction: async () => undefined as never };

describe("what Aurora DSQL lacks is rejected immediately, and the message says why", () => {
  const refused = (option: string) =>
    expect.objectContaining({
      code: "INVALID_OPTION",
      message: expect.stringMatching(`\`${option}\` isn't supported on Aurora DSQL \\(.{20}`),
    });

  it("notifications, of a store and of an outbox", () => {
    const options = { client: idle, table: "records", dialect, notify: true } as const;
    expect(() => new PostgresStore(options)).toThrow(refused("notify"));
    expect(() => new PostgresOutbox(options)).toThrow(refused("notify"));
    expect(() => new PostgresTransactions(options)).toThrow(refused("notify"));
    expect(new PostgresStore({ ...options, notify: false })).toBeDefined();
  });

  it("waits for a lock, and partitions", () => {
    const options = { client: idle, table: "records", dialect } as const;
    expect(() => new PostgresTransactions({ ...options, waitSeconds: 5 })).toThrow(refused("waitSeconds"));
    expect(() => postgresSchema({ table: "records", dialect, partitions: 4 })).toThrow(refused("partitions"));
  });

  it.each(["DSQL", "mysql", "", null])("a dialect of %o", (given) => {
    const options = { client: idle, table: "records", dialect: given as "dsql" };
    expect(() => new PostgresStore(options)).toThrow(InvalidOptionError);
    expect(() => postgresSchema(options)).toThrow(InvalidOptionError);
  });

  it.each([3001, 100_000])("a reap of %d records", async (batchSize) => {
    const store = new PostgresStore({ client: idle, table: "records", dialect });
    await expect(store.reap({ batchSize })).rejects.toThrow("must be a whole number between 1 and 3000");
  });
});

describe("postgresSchema", () => {
  it("makes a table and three indexes in the background, a statement each", () => {
    const statements = postgresSchema({ table: "records", dialect }).split(";\n").filter(Boolean);

    expect(statements.map((each) => /^CREATE \w+( ASYNC)?/.exec(each)?.[0])).toEqual([
      "CREATE TABLE",
      "CREATE INDEX ASYNC",
      "CREATE INDEX ASYNC",
      "CREATE INDEX ASYNC",
    ]);
  });
});

describe.skipIf(!hasServer)("with only Aurora DSQL's SQL", () => {
  let pool: pg.Pool;
  beforeAll(async () => {
    pool = poolOf(await portOf(), { options: "-c default_transaction_isolation=repeatable\\ read" });
  });

  it("reaps, and keeps results up to 1020 KiB", async () => {
    const { store, table } = await storeOf(onlyDsql(fromPg(pool)), undefined, { dialect });
    const [kept, lost] = [freshRecordKey(), freshRecordKey()];
    for (const [recordKey, bytes] of [
      [kept, 1020 * 1024],
      [lost, 1020 * 1024 + 1],
    ] as const) {
      await won(store, claimOf(recordKey));
      await store.settle(settlementOf(recordKey, { expiresAt: 1, result: "x".repeat(bytes) }));
    }

    expect((await store.find(kept, { consistent: true }))?.result).toMatchObject({ in: "item" });
    expect((await store.find(lost, { consistent: true }))?.result).toEqual({
      in: "nowhere",
      bytes: 1_044_481,
    });
    expect(await store.reap()).toBe(2);
    const { rows } = await pool.query(`SELECT count(*)::int AS left FROM ${table}`);
    expect(rows[0].left).toBe(0);
  });

  async function counters(conflicts = false) {
    const behind = conflicts ? conflictingOnce(fromPg(pool), "OC000") : fromPg(pool);
    const client = onlyDsql(behind);
    const { table } = await storeOf(client, undefined, { dialect });
    const orders = freshTable();
    await pool.query(`CREATE TABLE ${orders} (id text PRIMARY KEY)`);
    const transactions = new PostgresTransactions({ client, table, dialect });
    const options = { operation: "order", store: transactions, leaseSeconds: 30 } as const;
    const order = (work: (connection: pg.PoolClient) => Promise<unknown> = async () => undefined) =>
      runOnce(options, "key", {}, async (idempotency) => {
        const connection = transactions.clientOf(idempotency);
        await connection.query(`INSERT INTO ${orders} VALUES (gen_random_uuid())`);
        await work(connection);
        return "ordered";
      });
    const count = async () => (await pool.query(`SELECT id FROM ${orders}`)).rowCount;
    return { order, count };
  }

  it("H70: a conflict at the commit of a handler's transaction leaves nothing, and a retry runs", async () => {
    const { order, count } = await counters(true);

    await expect(order()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure: "conflict" });
    expect(await count()).toBe(0);

    expect([await order(), await order()]).toEqual(["ordered", "ordered"]);
    expect(await count()).toBe(1);
  });

  it("H70: a transaction that the handler ended by itself is not committed as if it were whole", async () => {
    const { order } = await counters();

    const early = order(async (connection) => {
      await connection.query("COMMIT");
      await connection.query("BEGIN");
    });
    await expect(early).rejects.toThrow(CommitInvalidError);
  });

  it("of two simultaneous handlers of one key, one is committed", async () => {
    const { order, count } = await counters();
    const [begun, go] = [gate(), gate()];
    const first = order(async () => {
      begun.open();
      await go.opened;
    });
    await begun.opened;
    const second = order();
    go.open();

    expect(await first).toBe("ordered");
    await second.catch((error: unknown) => expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" }));
    expect(await order()).toBe("ordered");
    expect(await count()).toBe(1);
  });
});
