// Drizzle, Kysely, Knex and Prisma: `writes` gets the library's own transaction, and each of their errors is recognized.
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { drizzle as drizzleOverPostgresJs } from "drizzle-orm/postgres-js";
import { CamelCasePlugin, ParseJSONResultsPlugin } from "kysely";
import { runOnce, type StoreUnavailableError, TransactionConditionError } from "onceonly";
import type pg from "pg";
import type postgres from "postgres";
import { beforeAll, describe, expect, it } from "vitest";
import { fromDrizzle } from "../../lib/postgres/from-drizzle.ts";
import { fromKnex } from "../../lib/postgres/from-knex.ts";
import { fromKysely } from "../../lib/postgres/from-kysely.ts";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { fromPostgresJs } from "../../lib/postgres/from-postgres-js.ts";
import { fromPrisma } from "../../lib/postgres/from-prisma.ts";
import { PostgresStore } from "../../lib/postgres/postgres-store.ts";
import { PostgresTransactions } from "../../lib/postgres/postgres-transactions.ts";
import type { SqlClient } from "../../lib/postgres/sql-client.ts";
import { claimOf, freshRecordKey } from "../../lib/testing/contract/given.ts";
import { clientOf, hasServer, poolOf, portOf, sqlOf, storeOf } from "./given.ts";
import { drizzleOf, knexOf, kyselyOf, ORMS, type Orm } from "./orms-given.ts";
import { type PrismaOrders, prismaOf } from "./prisma-given.ts";
import { shopOf } from "./shop-given.ts";

let port: number;
beforeAll(async () => {
  if (hasServer) port = await portOf();
});

/** A table that one test has for itself. */
async function ordersIn(name: string) {
  const pool = poolOf(port);
  await pool.query(`DROP TABLE IF EXISTS ${name}`);
  await pool.query(`CREATE TABLE ${name} (id text PRIMARY KEY, seats integer NOT NULL DEFAULT 1)`);
  return async () => (await pool.query(`SELECT id, seats FROM ${name} ORDER BY id`)).rows;
}

describe.skipIf(!hasServer)("writes in the words of the library", () => {
  it("a transaction of Drizzle", async () => {
    const rows = await ordersIn("drizzle_orders");
    const orders = pgTable("drizzle_orders", { id: text().primaryKey(), seats: integer().default(1) });
    const { call } = await shopOf(fromDrizzle(drizzleOf(port)));

    await call(({ commit }) =>
      commit("booked", {
        writes: async (tx) => {
          await tx.insert(orders).values({ id: "a" });
          await tx.transaction((inner) => inner.update(orders).set({ seats: 3 }).where(eq(orders.id, "a")));
        },
      }),
    );

    expect(await rows()).toEqual([{ id: "a", seats: 3 }]);
  });

  it("a transaction of Kysely", async () => {
    const rows = await ordersIn("kysely_orders");
    const { call } = await shopOf(fromKysely(kyselyOf(port)));

    await call(({ commit }) =>
      commit("booked", {
        writes: async (trx) => {
          await trx.insertInto("kysely_orders").values({ id: "a" }).execute();
          await trx.updateTable("kysely_orders").set({ seats: 3 }).where("id", "=", "a").execute();
        },
      }),
    );

    expect(await rows()).toEqual([{ id: "a", seats: 3 }]);
  });

  it("a transaction of Knex", async () => {
    const rows = await ordersIn("knex_orders");
    const { call } = await shopOf(fromKnex(knexOf(port)));

    await call(({ commit }) =>
      commit("booked", {
        writes: async (trx) => {
          await trx("knex_orders").insert({ id: "a" });
          await trx.transaction((inner) => inner("knex_orders").update({ seats: 3 }));
        },
      }),
    );

    expect(await rows()).toEqual([{ id: "a", seats: 3 }]);
  });

  it("a client of Prisma, whose own error of a constraint is the cause", async () => {
    const rows = await ordersIn("prisma_orders");
    const { call } = await shopOf(fromPrisma(prismaOf(port)));
    const book = (key: string) =>
      call(({ commit }) => commit("booked", { writes: (tx) => tx.order.create({ data: { id: "a" } }) }), {
        key,
      });

    await book("first");

    await expect(book("second")).rejects.toMatchObject({
      code: "TRANSACTION_CONDITION",
      cause: { code: "P2002" },
    });
    expect(await rows()).toEqual([{ id: "a", seats: 1 }]);
  });
});

describe.skipIf(!hasServer)("how these libraries handle statements, and transactions", () => {
  it("Drizzle over one connection, on which two calls would share a transaction, is rejected", async () => {
    const client = await clientOf(port);

    expect(() => fromDrizzle(drizzle(client))).toThrow("`db` must use a pool");
    expect(() => fromDrizzle(drizzle(poolOf(port, { max: 1 })))).not.toThrow();
    expect(() => fromDrizzle(drizzleOverPostgresJs(sqlOf(port, { max: 1 })))).not.toThrow();
  });

  it("Prisma ends the transaction of a handler in its own time: the call fails, nothing is left, and a retry runs", async () => {
    const pool = poolOf(port);
    const { table } = await storeOf(fromPg(pool));
    const call = (work: (client: PrismaOrders) => unknown, timeout?: number) => {
      const client = fromPrisma(prismaOf(port, "public", timeout));
      const store = new PostgresTransactions({ client, table });
      return runOnce({ operation: "order", store, leaseSeconds: 30 }, "key", {}, (execution) =>
        work(store.clientOf(execution)),
      );
    };
    const untilOver = async (client: PrismaOrders): Promise<never> => {
      for (;;) await client.$queryRawUnsafe("SELECT 1");
    };
    const swallowed = async (client: PrismaOrders) => {
      await untilOver(client).catch(() => {});
      return "booked";
    };
    const count = async () => (await pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n;

    // On a busy machine the time may be over before the handler begins.
    for (const handler of [untilOver, swallowed]) {
      const error = (await call(handler, 200).catch((each) => each)) as StoreUnavailableError & {
        cause?: { code?: string };
      };
      expect([error.code, error.cause?.code]).toContain("P2028");
      expect(error.retryable ?? true).toBe(true);
    }

    expect(await count()).toBe(0);
    expect([await call(() => "booked"), await count()]).toEqual(["booked", 1]);
  });

  it("plugins of Kysely change nothing that the store reads", async () => {
    const plugins = [new CamelCasePlugin(), new ParseJSONResultsPlugin()];
    const { store, call, runs } = await shopOf(fromKysely(kyselyOf(port, plugins)));
    const results = [{ some_name: 1 }, { large: "x".repeat(70_000) }];

    for (const [key, result] of results.entries()) {
      expect(await call(() => result, { key: `${key}` })).toEqual(result);
      expect(await call(() => "never", { key: `${key}` })).toEqual(result);
    }
    await call(({ step }) => step("charge", () => ({ paid: true })), { key: "steps" });

    expect(runs()).toBe(3);
    for await (const outcome of store.unknownOutcomes({ before: Date.now() }))
      expect(outcome).toBe(undefined);
  });

  it.each(["commit", "rollback"] as const)(
    "a transaction that `writes` ends by Knex's own %s is rejected immediately",
    async (end) => {
      const { call, orders } = await shopOf(fromKnex(knexOf(port)));
      let tries = 0;

      let refusal: unknown;
      const called = call(async ({ commit }) => {
        const committed = commit("booked", {
          writes: async (transaction) => {
            tries++;
            await transaction.raw(`INSERT INTO ${orders} VALUES ('a')`);
            await (end === "commit" ? transaction.commit() : transaction.rollback(new Error("mine")));
          },
        });
        refusal = await committed.catch((error) => error);
        throw refusal;
      });

      const answer = await called.catch((error) => error);

      // What is committed stays, and its record answers.
      expect(answer).toBe(end === "commit" ? "booked" : refusal);
      expect(refusal).toMatchObject({ code: "COMMIT_INVALID" });
      expect(String(refusal)).toContain("ended the transaction with COMMIT or ROLLBACK");
      expect(tries).toBe(1);
    },
  );

  it("a pool that has no connection until its timeout is not asked again", async () => {
    const waits = 300;
    const pool = poolOf(port, { max: 1, connectionTimeoutMillis: waits });
    const { store, table } = await shopOf(fromPg(poolOf(port)));
    let asked = 0;
    const counted = Object.assign(Object.create(pool), {
      query: (text: string, values: unknown[]) => {
        asked++;
        return pool.query(text, values);
      },
      connect: (callback: Parameters<pg.Pool["connect"]>[0]) => {
        asked++;
        return pool.connect(callback);
      },
    }) as pg.Pool;
    const stores = [PostgresStore, PostgresTransactions].map(
      (Kind) => new Kind({ client: fromPg(counted), table }),
    );
    const held = await pool.connect();

    for (const store of stores)
      await expect(store.claim(claimOf(freshRecordKey()))).rejects.toMatchObject({ failure: "unreachable" });
    held.release();

    expect(asked).toBe(2);
    expect(await store.claim(claimOf(freshRecordKey()))).toMatchObject({ won: true });
  });
});

/** A shop over a library, or over a client alone. */
async function shopBy(connect: (port: number) => Orm<never>) {
  const { client, run } = connect(port);
  const given = await shopOf(client as SqlClient, fromPg(poolOf(port)));
  const write = (statement: string, value?: string) => (transaction: unknown) =>
    run(transaction as never, statement, value);
  return { ...given, write };
}

const ALONE: Readonly<Record<string, (port: number) => Orm<never>>> = {
  pg: (port) => ({
    client: fromPg(poolOf(port)) as SqlClient<never>,
    run: (client: pg.PoolClient, text, value) => client.query(text, value === undefined ? [] : [value]),
  }),
  "postgres.js": (port) => ({
    client: fromPostgresJs(sqlOf(port)) as SqlClient<never>,
    run: (sql: postgres.TransactionSql, text, value) => sql.unsafe(text, value === undefined ? [] : [value]),
  }),
};

describe.skipIf(!hasServer).each(Object.entries({ ...ALONE, ...ORMS }))("with %s", (_, connect) => {
  it("a statement that is not awaited, and fails, undoes nothing of a commit that is answered", async () => {
    const { call, orders, ids, states, write } = await shopBy(connect);
    const insert = write(`INSERT INTO ${orders} VALUES ($1)`, "a");
    const other = write(`INSERT INTO ${orders} VALUES ($1)`, "b");
    const look = write("SELECT 1");

    const answer = await call(({ commit }) =>
      commit("booked", {
        writes: async (transaction) => {
          const late = async () => {
            await insert(transaction);
            await look(transaction);
            await insert(transaction);
          };
          late().catch(() => {});
          await other(transaction);
        },
      }),
    );

    expect([answer, await ids(), await states()]).toEqual(["booked", ["a", "b"], ["completed"]]);
  });

  it("a statement that is not awaited is part neither of a refused commit nor of a separate one", async () => {
    const { call, orders, ids, write } = await shopBy(connect);
    let ended: unknown;

    const refused = call(({ commit }) =>
      commit("booked", {
        writes: async (transaction) => {
          const late = async () => {
            for (let id = 0; ; id++) await write(`INSERT INTO ${orders} VALUES ($1)`, `${id}`)(transaction);
          };
          ended = late().catch(() => {});
          await write("SELECT 1")(transaction);
          throw new Error("sold out");
        },
      }),
    );

    await expect(refused).rejects.toMatchObject({ code: "TRANSACTION_CONDITION" });
    await ended;
    expect(await ids()).toEqual([]);
  });
});

describe.skipIf(!hasServer).each(Object.entries(ORMS))("%s", (_, connect) => {
  const shop = () => shopBy(connect);

  it("a constraint refuses the commit, and nothing of a payload is shown", async () => {
    const { call, orders, ids, write } = await shop();
    const order = write(`INSERT INTO ${orders} VALUES ($1)`, "secret");
    await call(({ commit }) => commit("booked", { writes: order }), { key: "first" });

    const refused = await call(({ commit }) => commit("booked", { writes: [order] })).catch((error) => error);

    expect(refused).toBeInstanceOf(TransactionConditionError);
    expect([refused.index, JSON.stringify({ ...refused, ...refused.cause })]).toEqual([
      0,
      expect.not.stringContaining("secret"),
    ]);
    expect(await ids()).toEqual(["secret"]);
  });

  it("H70: a serialization failure runs the writes again, and never the handler", async () => {
    const { call, orders, ids, states, runs, write } = await shop();
    let tries = 0;
    const fail = write("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$");

    await call(({ commit }) =>
      commit("booked", {
        writes: async (transaction) => {
          await write(`INSERT INTO ${orders} VALUES ('a')`)(transaction);
          if (++tries === 1) await fail(transaction);
        },
      }),
    );

    expect([await ids(), await states(), runs(), tries]).toEqual([["a"], ["completed"], 1, 2]);
  });

  it("an error that `writes` swallows refuses the commit", async () => {
    const { call, orders, ids, write } = await shop();

    const refused = call(({ commit }) =>
      commit("booked", {
        writes: async (transaction) => {
          await write(`INSERT INTO ${orders} VALUES ('a')`)(transaction);
          await Promise.resolve(write("SELECT 1 / 0")(transaction)).catch(() => {});
        },
      }),
    );

    await expect(refused).rejects.toMatchObject({ code: "COMMIT_INVALID" });
    expect(await ids()).toEqual([]);
  });

  it("a statement after the transaction is refused", async () => {
    const { call, orders, ids, write } = await shop();
    let kept: unknown;
    await call(({ commit }) =>
      commit("booked", {
        writes: (transaction) => {
          kept = transaction;
        },
      }),
    );

    await expect(async () => write(`INSERT INTO ${orders} VALUES ('late')`)(kept)).rejects.toThrow();

    expect(await ids()).toEqual([]);
  });
});

describe.skipIf(!hasServer).each(
  // What Drizzle does over postgres.js, postgres.js does: it ends the process.
  Object.entries(ORMS).filter(([name]) => name !== "Drizzle over postgres.js"),
)("%s, when the server ends the connection", (_, connect) => {
  it("within writes, runs them again on another one", async () => {
    const { client, run } = connect(port) as { client: SqlClient; run: ReturnType<typeof connect>["run"] };
    const { call, orders, ids, states, runs } = await shopOf(client, fromPg(poolOf(port)));
    let tries = 0;

    await call(({ commit }) =>
      commit("booked", {
        writes: async (transaction) => {
          await run(transaction as never, `INSERT INTO ${orders} VALUES ('a')`);
          if (++tries === 1) await run(transaction as never, "SELECT pg_terminate_backend(pg_backend_pid())");
        },
      }),
    );

    expect([await ids(), await states(), runs(), tries]).toEqual([["a"], ["completed"], 1, 2]);
  });
});
