// The handler within the transaction of its record: both are committed, or neither is.
import { readFile } from "node:fs/promises";
import { inspect } from "node:util";
import { type DecisionEvent, type Execution, PermanentError, runOnce, type Store } from "onceonly";
import { fromPg, fromPostgresJs, PostgresTransactions, type SqlClient } from "onceonly/postgres";
import type { EngineOptions } from "onceonly/store-kit";
import { cached, encrypted, migrating } from "onceonly/stores";
import { fakeClock, MemoryStore } from "onceonly/testing";
import { valkeyCache } from "onceonly/valkey";
import type pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { sqlStateOf } from "../../lib/postgres/failures.ts";
import { failing, unreachable } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { until } from "../kit/time/until.ts";
import { keyService } from "../stores/privacy-given.ts";
import { conflictingOnce } from "./dsql-given.ts";
import { clientOf, freshTable, hasServer, poolOf, portOf, sqlOf, storeOf } from "./given.ts";
import { ORMS, type Orm } from "./orms-given.ts";
import { startLossyProxy } from "./proxy-given.ts";

let port: number;
let pool: pg.Pool;
beforeAll(async () => {
  if (!hasServer) return;
  port = await portOf();
  pool = poolOf(port);
});

async function shopOf<Client>(client: SqlClient<Client>, waitSeconds = 20) {
  const { store, table } = await storeOf(fromPg(pool));
  const transactions = new PostgresTransactions({ client, table, waitSeconds });
  const orders = freshTable();
  await pool.query(`CREATE TABLE ${orders} (id text PRIMARY KEY, seats integer NOT NULL DEFAULT 1)`);
  const events: DecisionEvent[] = [];
  let runs = 0;
  const column = async (text: string) => (await pool.query(text)).rows.map((row) => Object.values(row)[0]);
  return {
    store,
    transactions,
    table,
    orders,
    runs: () => runs,
    decisions: () => events.map(({ decision }) => decision),
    ids: () => column(`SELECT id FROM ${orders} ORDER BY id`),
    states: () => column(`SELECT state FROM ${table} ORDER BY pk`),
    call: <T>(
      work: (client: Client, execution: Execution<never>) => T | Promise<T>,
      { key = "key", ...options }: { key?: string } & Partial<EngineOptions<never>> = {},
    ) =>
      runOnce(
        {
          operation: "order",
          store: transactions,
          leaseSeconds: 30,
          observe: (event) => void events.push(event),
          ...options,
        },
        key,
        {},
        (execution) => {
          runs++;
          return work(transactions.clientOf(execution), execution);
        },
      ),
  };
}

/** How a handler runs a statement, with each client and each library. */
const CONNECTS: Record<string, (port: number) => Orm> = {
  pg: (port) => ({
    client: fromPg(poolOf(port)) as SqlClient,
    run: (client, text) => (client as pg.PoolClient).query(text),
  }),
  "postgres.js": (port) => ({
    client: fromPostgresJs(sqlOf(port)) as SqlClient,
    run: (sql, text) => (sql as ReturnType<typeof sqlOf>).unsafe(text),
  }),
  ...(ORMS as unknown as Record<string, (port: number) => Orm>),
};

const poolShop = () => shopOf(fromPg(pool));

describe.skipIf(!hasServer)("a handler within its transaction", () => {
  it("commits what it wrote with its record, and a retry replays", async () => {
    const { call, orders, ids, states, runs } = await poolShop();
    const book = () =>
      call(async (client, { key }) => {
        await client.query(`INSERT INTO ${orders} (id) VALUES ($1)`, [key]);
        expect([await ids(), await states()]).toEqual([[], []]);
        return `booked ${key}`;
      });

    expect([await book(), await book()]).toEqual(["booked key", "booked key"]);

    expect([await ids(), await states(), runs()]).toEqual([["key"], ["completed"], 1]);
  });

  it("commits at `commit`, after which its client is closed", async () => {
    const { call, orders, ids, states } = await poolShop();

    const answer = await call(async (client, { commit }) => {
      await client.query(`INSERT INTO ${orders} (id) VALUES ('a')`);
      const committed = await commit("booked");
      expect([await ids(), await states()]).toEqual([["a"], ["completed"]]);
      expect(() => client.query("SELECT 1")).toThrow("was used after its transaction");
      return committed;
    });

    expect(answer).toBe("booked");
  });

  it("refuses `writes`, which would be of another way to do the same", async () => {
    const { call, states } = await poolShop();

    const refused = call((_, { commit }) => commit("booked", { writes: [null as never] }));

    await expect(refused).rejects.toThrow("doesn't accept `writes`: write with `clientOf(idempotency)`");
    expect(await states()).toEqual([]);
  });

  it("rolls back record and rows where it throws, so that a retry runs", async () => {
    const { call, orders, ids, states, runs } = await poolShop();
    const book = (error?: Error) =>
      call(async (client) => {
        await client.query(`INSERT INTO ${orders} (id) VALUES ('a')`);
        if (error) throw error;
        return "booked";
      });

    await expect(book(new Error("no answer"))).rejects.toThrow("no answer");
    expect([await ids(), await states()]).toEqual([[], []]);
    expect(await book()).toBe("booked");
    expect([await ids(), await states(), runs()]).toEqual([["a"], ["completed"], 2]);
  });

  it("rolls back record and rows where the answer is not to be stored", async () => {
    const { call, orders, ids, states } = await poolShop();

    const answer = await call(
      async (client) => {
        await client.query(`INSERT INTO ${orders} (id) VALUES ('a')`);
        return { statusCode: 500 };
      },
      { shouldStore: () => false },
    );

    expect([answer, await ids(), await states()]).toEqual([{ statusCode: 500 }, [], []]);
  });

  it("records a final error without the rows, also after a statement that failed", async () => {
    const { call, orders, ids, states, runs } = await poolShop();
    const book = () =>
      call(async (client) => {
        await client.query(`INSERT INTO ${orders} (id) VALUES ('a')`);
        await client.query(`INSERT INTO ${orders} (id) VALUES ('a')`).catch(() => {
          throw new PermanentError("taken");
        });
      });

    await expect(book()).rejects.toThrow("taken");
    await expect(book()).rejects.toThrow("taken");

    expect([await ids(), await states(), runs()]).toEqual([[], ["failed"], 1]);
  });

  it("is not committed after a statement whose error it swallowed", async () => {
    const { call, orders, ids, states } = await poolShop();

    const refused = call(async (client) => {
      await client.query(`INSERT INTO ${orders} (id) VALUES ('a')`);
      await client.query("SELECT 1 / 0").catch(() => {});
      return "booked";
    });

    await expect(refused).rejects.toThrow("the handler caught the error of a statement");
    expect([await ids(), await states()]).toEqual([[], []]);
  });

  it.each(["COMMIT", "ROLLBACK"])("gets an error if it ends the transaction by %s", async (statement) => {
    const { call } = await poolShop();

    const refused = call(async (client) => {
      await client.query(statement);
      return "booked";
    });

    await expect(refused).rejects.toThrow("the handler ended the transaction with COMMIT or ROLLBACK");
  });

  it("H70: a serialization failure at its commit or of its statement rolls back and may be retried; the handler runs once in a call", async () => {
    const serializable = poolOf(port, { options: "-c default_transaction_isolation=serializable" });
    const { call, orders, ids, runs, decisions } = await shopOf(fromPg(serializable));
    const [both, open] = [gate(), { left: 2 }];
    const book = (key: string) =>
      call(
        async (client) => {
          const { rows } = await client.query(`SELECT count(*)::int AS seats FROM ${orders}`);
          if (--open.left === 0) both.open();
          if (open.left >= 0) await both.opened;
          await client.query(`INSERT INTO ${orders} VALUES ($1, $2)`, [key, rows[0].seats]);
          return key;
        },
        { key },
      );

    const ends = await Promise.allSettled([book("a"), book("b")]);

    const failed = ends.findIndex(({ status }) => status === "rejected");
    expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(1);
    const { reason } = ends[failed] as PromiseRejectedResult;
    expect(reason).toMatchObject({ code: "STORE_UNAVAILABLE", failure: "conflict", retryable: true });
    expect(decisions()).toContain("store-failed");
    expect(runs()).toBe(2);
    expect(await book(failed === 0 ? "a" : "b")).toBe(failed === 0 ? "a" : "b");
    expect([await ids(), runs()]).toEqual([["a", "b"], 3]);
  });

  it.each(["40001", "OC000", "OC001"])("H70: so does %s, injected at the commit", async (code) => {
    const { call, orders, ids, states, runs } = await shopOf(conflictingOnce(fromPg(pool), code));
    const book = () =>
      call(async (client) => {
        await client.query(`INSERT INTO ${orders} VALUES ('a')`);
        return "booked";
      });

    await expect(book()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    expect([await ids(), await states(), runs()]).toEqual([[], [], 1]);
    expect(await book()).toBe("booked");
    expect([await ids(), await states(), runs()]).toEqual([["a"], ["completed"], 2]);
  });

  it.each(Object.entries(CONNECTS))(
    "what the database refuses as late as at the commit is no failure of the store, with %s",
    async (_, connect) => {
      const { client, run } = connect(port);
      const { call, orders, ids, states, decisions } = await shopOf(client);
      await pool.query(
        `ALTER TABLE ${orders} ADD CONSTRAINT late_${orders} UNIQUE (seats) DEFERRABLE INITIALLY DEFERRED`,
      );
      await pool.query(`INSERT INTO ${orders} VALUES ('a', 1)`);
      const book = () =>
        call(async (transaction) => {
          await run(transaction, `INSERT INTO ${orders} VALUES ('b', 1)`);
          return "booked";
        });

      for (const error of [await book().catch((each) => each), await book().catch((each) => each)]) {
        expect(error).toMatchObject({ code: "TRANSACTION_CONDITION", retryable: false });
        expect(error.message).toMatch(/refused the handler's writes at COMMIT/);
        expect(error.message + inspect(error)).not.toContain("Key (seats)");
        expect(sqlStateOf(error.cause)).toBe("23505");
      }
      expect([await ids(), await states()]).toEqual([["a"], []]);
      expect(decisions()).not.toContain("store-failed");
    },
  );

  it("a handler may end otherwise where its `commit` is refused so late: by a final error, or an answer that is not stored", async () => {
    const { call, orders, ids, states, runs } = await poolShop();
    await pool.query(
      `ALTER TABLE ${orders} ADD CONSTRAINT late_${orders} UNIQUE (seats) DEFERRABLE INITIALLY DEFERRED`,
    );
    const book = (key: string, end: () => unknown) =>
      call(
        async (client, { commit }) => {
          await client.query(`INSERT INTO ${orders} VALUES ('a', 1), ('b', 1)`);
          return commit("booked").catch((error: { code: string }) => {
            expect(error.code).toBe("TRANSACTION_CONDITION");
            expect(() => client.query("SELECT 1")).toThrow("was used after its transaction");
            return end();
          });
        },
        { key, shouldStore: (value) => value !== "taken" },
      );
    const fail = () => {
      throw new PermanentError("taken for good");
    };

    expect([await book("a", () => "taken"), await book("a", () => "taken")]).toEqual(["taken", "taken"]);
    await expect(book("b", fail)).rejects.toThrow("taken for good");
    await expect(book("b", fail)).rejects.toThrow("taken for good");
    await expect(book("c", () => "an answer to store")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });

    expect([await ids(), await states(), runs()]).toEqual([[], ["failed"], 4]);
  });

  it("records a final error also where it was aborted before, unless a retry has finished", async () => {
    const { call, transactions, orders, ids, states, runs } = await poolShop();
    const end = async (key: string, between: () => unknown) => {
      const clock = fakeClock(Date.now());
      return call(
        async (client, execution) => {
          await client.query(`INSERT INTO ${orders} VALUES ('${key}')`);
          await clock.advance(29_700);
          expect(execution.signal.aborted).toBe(true);
          expect(() => transactions.clientOf(execution)).toThrow("has no transaction");
          await between();
          throw new PermanentError("no such seat");
        },
        { key, clock, renewLease: false },
      );
    };

    await expect(end("a", () => {})).rejects.toThrow("no such seat");
    await expect(call(() => "again", { key: "a" })).rejects.toThrow("no such seat");
    expect(await end("b", () => call(() => "booked by the retry", { key: "b" }))).toBe("booked by the retry");

    expect([await ids(), await states(), runs()]).toEqual([[], ["completed", "failed"], 3]);
  });

  it("answers where the answer to its COMMIT is lost, and it was applied", async () => {
    const proxy = await startLossyProxy(port);
    const { call, orders, ids, runs } = await shopOf(fromPg(poolOf(proxy.port)));

    const answer = await call(async (client) => {
      await client.query(`INSERT INTO ${orders} VALUES ('a')`);
      proxy.loseAnswerTo("COMMIT");
      return "booked";
    });

    expect([answer, await ids(), runs()]).toEqual(["booked", ["a"], 1]);
  });

  it("may be retried where its COMMIT never comes to the server", async () => {
    const proxy = await startLossyProxy(port);
    const { call, orders, ids } = await shopOf(fromPg(poolOf(proxy.port)));
    const book = (isLost: boolean) =>
      call(async (client) => {
        await client.query(`INSERT INTO ${orders} VALUES ('a')`);
        if (isLost) proxy.loseRequest("COMMIT");
        return "booked";
      });

    await expect(book(true)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    expect(await ids()).toEqual([]);
    expect(await book(false)).toBe("booked");
  });

  it("H14: another call with its key waits for it, does not run, and replays", async ({ signal }) => {
    const { call, runs } = await poolShop();
    const done = gate();
    const first = call(async () => {
      await done.opened;
      return "booked";
    });
    expect(await until(() => runs() === 1, { seconds: 20, signal })).toBe(true);
    const second = call(() => "twice");
    const somebodyWaits = async () =>
      (await pool.query("SELECT 1 FROM pg_locks WHERE NOT granted")).rows.length > 0;
    expect(await until(somebodyWaits, { seconds: 20, signal })).toBe(true);

    done.open();

    expect([await first, await second, runs()]).toEqual(["booked", "booked", 1]);
  });

  it("another call with its key that has waited long enough gets the error that it is in progress", async ({
    signal,
  }) => {
    const { call, runs } = await shopOf(fromPg(pool), 0.01);
    const done = gate();
    const first = call(async () => {
      await done.opened;
      return "booked";
    });
    expect(await until(() => runs() === 1, { seconds: 20, signal })).toBe(true);

    await expect(call(() => "twice")).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });

    done.open();
    expect([await first, runs()]).toEqual(["booked", 1]);
  });

  it("another call with its key runs where the first one rolled back", async ({ signal }) => {
    const { call, runs, ids, orders } = await poolShop();
    const done = gate();
    const first = call(async (client) => {
      await client.query(`INSERT INTO ${orders} VALUES ('first')`);
      await done.opened;
      throw new Error("no answer");
    });
    const failed = first.catch((error) => error.message);
    expect(await until(() => runs() === 1, { seconds: 20, signal })).toBe(true);
    const second = call(async (client) => {
      await client.query(`INSERT INTO ${orders} VALUES ('second')`);
      return "booked";
    });

    done.open();

    expect([await failed, await second, await ids()]).toEqual(["no answer", "booked", ["second"]]);
  });

  it("that is aborted is rolled back at once, and what it answers is not given", async () => {
    const { call, orders, ids, states } = await poolShop();
    const clock = fakeClock(Date.now());

    const ended = call(
      async (client, { signal }) => {
        await client.query(`INSERT INTO ${orders} VALUES ('a')`);
        await clock.advance(29_700);
        expect(signal.aborted).toBe(true);
        return "booked";
      },
      { clock, renewLease: false },
    );

    await expect(ended).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect([await ids(), await states()]).toEqual([[], []]);
  });

  it.each(["after", "before"])(
    "H2: whose connection is lost gets no client of a retry in this process, %s it has asked for its own",
    async (asks) => {
      const { table, orders, ids, states } = await poolShop();
      const [own, application] = [poolOf(port, { max: 2, application_name: orders }), orders];
      const store = new PostgresTransactions({ client: fromPg(own), table });
      const [begun, goOn, retried, finish] = [gate(), gate(), gate(), gate()];
      const call = (work: (execution: Execution<never>) => Promise<unknown>) =>
        runOnce({ operation: "order", store, leaseSeconds: 30 }, "key", {}, work);
      const insert = (execution: Execution<never>, id: string) =>
        store.clientOf(execution).query(`INSERT INTO ${orders} VALUES ($1)`, [id]);

      const late = call(async (execution) => {
        if (asks === "before") store.clientOf(execution);
        begun.open();
        await goOn.opened;
        await insert(execution, "late");
      });
      await begun.opened;
      await pool.query(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1",
        [application],
      );
      const retry = call(async (execution) => {
        retried.open();
        await finish.opened;
        await insert(execution, "retry");
        return "booked";
      });
      await retried.opened;
      goOn.open();
      await expect(late).rejects.toThrow();
      finish.open();

      expect(await retry).toBe("booked");
      expect([await ids(), await states()]).toEqual([["retry"], ["completed"]]);
      expect([own.totalCount - own.idleCount, own.waitingCount]).toEqual([0, 0]);
    },
  );

  it("that never asks for its client gives its connection back when it is over, also after an abort", async () => {
    const { table } = await poolShop();
    const single = poolOf(port, { max: 1, connectionTimeoutMillis: 3000 });
    const store = new PostgresTransactions({ client: fromPg(single), table });
    const clock = fakeClock(Date.now());
    const decisions: string[] = [];
    const observe = ({ decision }: DecisionEvent) => void decisions.push(decision);
    const options = { operation: "order", store, clock, leaseSeconds: 30, renewLease: false, observe };
    const call = (key: string, work: (execution: Execution<never>) => unknown) =>
      runOnce(options, key, {}, work);

    const aborted = call("a", async (execution) => {
      await clock.advance(29_700);
      expect(execution.signal.aborted).toBe(true);
      throw new Error("late");
    });

    await expect(aborted).rejects.toThrow("late");
    // Whether somebody else has finished is asked over the connection that this attempt had.
    expect(decisions).not.toContain("store-failed");
    expect(await call("b", () => "next")).toBe("next");
    expect(await call("a", () => "again")).toBe("again");
  });

  it("is the same through a cache and what keeps results", async () => {
    const { transactions, call, orders, ids, states } = await poolShop();
    const dead = { send: () => Promise.reject(new Error("away")) };
    const fronts = [
      cached(transactions),
      cached(transactions, { in: valkeyCache({ client: dead, prefix: "orders" }) }),
      encrypted(transactions, { keys: keyService() }),
    ];
    for (const store of fronts) {
      const refused = call(
        async (client) => {
          await client.query(`INSERT INTO ${orders} VALUES ('a')`);
          await client.query("DO $do$ BEGIN RAISE SQLSTATE '40001'; END $do$");
        },
        { store, isFinalError: () => true },
      );

      await expect(refused).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
      expect([await ids(), await states()]).toEqual([[], []]);
    }
  });

  it("in a move gives its connection back where the other store is down", async () => {
    const { store, table, orders, ids } = await poolShop();
    const single = poolOf(port, { max: 1 });
    const transactions = new PostgresTransactions({ client: fromPg(single), table });
    const down = failing(new MemoryStore(), "claim", "before", { error: unreachable, times: 1 });
    const moving = migrating(transactions, down as Store<never>);
    const call = (by: Store<never>, work: (execution: Execution<never>) => unknown) =>
      runOnce({ operation: "order", store: by, leaseSeconds: 30 }, "key", {}, work);
    await expect(call(store as Store<never>, () => Promise.reject(new Error("released")))).rejects.toThrow();

    await expect(call(moving, () => "never")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });

    const book = (execution: Execution<never>) =>
      transactions.clientOf(execution).query(`INSERT INTO ${orders} VALUES ('a')`);
    await call(moving, async (execution) => void (await book(execution)));
    expect(await ids()).toEqual(["a"]);
  });

  it("has its duration in its row, as the documented query shows", async () => {
    const { call, table } = await poolShop();
    const document = await readFile(new URL("../../docs/reference/stores.md", import.meta.url), "utf8");
    const [, query = ""] = /```sql\n(SELECT split_part[^`]*)```/.exec(document) ?? [];
    const clock = fakeClock(Date.now());
    await call(() => clock.advance(1500), { clock, renewLease: false });

    const { rows } = await pool.query(query.replace("idempotency", table));

    expect(rows).toEqual([{ operation: "order", p95_ms: 1500 }]);
  });

  it("takes no client of one connection, for which an operation within a handler would wait for ever", async () => {
    const client = fromPg(await clientOf(port));

    expect(() => new PostgresTransactions({ client, table: "records" })).toThrow(
      "`client` must have a connection pool",
    );
  });

  it("has no client in the optimistic mode, and no steps", async () => {
    const { call } = await poolShop();

    await expect(call(() => "booked", { mode: "optimistic" })).rejects.toThrow("has no transaction");
    await expect(call((_, { step }) => step("charge", () => 1))).rejects.toThrow(
      "a store with the method `writeStep`",
    );
    await expect(call(() => 1, { whenAbandoned: "hold" })).rejects.toThrow(
      "a store with the method `unknownOutcomes`",
    );
  });

  it("does with postgres.js, and with every library", async () => {
    const js = await shopOf(fromPostgresJs(sqlOf(port)));
    await js.call(async (sql) => {
      await sql`INSERT INTO ${sql(js.orders)} (id) VALUES ('a')`;
      return "booked";
    });
    expect([await js.ids(), await js.states()]).toEqual([["a"], ["completed"]]);

    for (const [name, connect] of Object.entries(ORMS)) {
      const { client, run } = connect(port) as { client: SqlClient; run: ReturnType<typeof connect>["run"] };
      const shop = await shopOf(client);
      const book = (error?: Error) =>
        shop.call(async (transaction) => {
          await run(transaction as never, `INSERT INTO ${shop.orders} VALUES ('a')`);
          if (error) throw error;
          return "booked";
        });

      await expect(book(new Error("no answer")), name).rejects.toThrow("no answer");
      expect(await book(), name).toBe("booked");
      expect(await book(), name).toBe("booked");
      expect([await shop.ids(), await shop.states(), shop.runs()], name).toEqual([["a"], ["completed"], 2]);
    }
  });

  it.each(Object.entries(CONNECTS))(
    "H70: a serialization failure of a statement may be retried, with %s",
    async (_, connect) => {
      const { client, run } = connect(port);
      const { call, orders, ids, states, runs, decisions } = await shopOf(client);
      const book = (code?: string) =>
        call(
          async (transaction) => {
            await run(transaction, `INSERT INTO ${orders} VALUES ('a')`);
            if (code) await run(transaction, `DO $do$ BEGIN RAISE SQLSTATE '${code}'; END $do$`);
            return "booked";
          },
          // As who takes every error for the end of the matter.
          { isFinalError: () => true },
        );

      for (const code of ["40001", "40P01", "OC000"]) {
        await expect(book(code)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
        expect([await ids(), await states()]).toEqual([[], []]);
      }
      expect(decisions().filter((each) => each === "store-failed")).toHaveLength(3);
      expect(await book()).toBe("booked");
      expect([await ids(), await states(), runs()]).toEqual([["a"], ["completed"], 4]);
    },
  );

  it("an error of the handler's own, and a refusal of the database, stay what they are", async () => {
    const { call, orders, runs } = await poolShop();
    const taken = () =>
      call(async (client) => {
        await client.query(`INSERT INTO ${orders} VALUES ('a'), ('a')`);
      });

    await expect(taken()).rejects.toMatchObject({ code: "23505" });
    await expect(
      call(() => Promise.reject(Object.assign(new Error("mine"), { code: "40001" }))),
    ).rejects.toThrow("mine");
    expect(runs()).toBe(2);
  });
});
