// Steps on PostgreSQL: each in one transaction with its writes, and a retry goes on behind what is done.
import { type Execution, runOnce } from "onceonly";
import { fromPg, PostgresStore, PostgresTransactions, type PostgresWrite } from "onceonly/postgres";
import type pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { RECORD_VERSION, STEP_ROWS_VERSION } from "../../lib/contract.ts";
import { eraseResult } from "../../lib/dynamodb/erase-result.ts";
import { claimOf, freshRecordKey, NOW, settlementOf, won } from "../../lib/testing/contract/given.ts";
import { freshTable, hasServer, poolOf, portOf, storeOf } from "./given.ts";
import { startLossyProxy } from "./proxy-given.ts";
import { shopOf } from "./shop-given.ts";

let port: number;
beforeAll(async () => {
  if (hasServer) port = await portOf();
});

describe.skipIf(!hasServer)("a step", () => {
  it("commits its writes with its result, and a retry continues after it", async () => {
    const { call, orders, ids, runs, states } = await shopOf(fromPg(poolOf(port)));
    const large = "\u0000ä".repeat(20_000);
    let isFirst = true;
    const book = () =>
      call(async ({ step, commit }) => {
        const seat = await step("seat", (own) =>
          own.commit(large, { writes: (client) => client.query(`INSERT INTO ${orders} VALUES ('seat')`) }),
        );
        if (isFirst) {
          isFirst = false;
          throw new Error("the printer is out of paper");
        }
        return commit(seat === large, {
          writes: (client) => client.query(`INSERT INTO ${orders} VALUES ('z')`),
        });
      });

    await expect(book()).rejects.toThrow("paper");
    expect(await ids()).toEqual(["seat"]);

    expect(await book()).toBe(true);
    expect([await ids(), runs(), await states()]).toEqual([["seat", "z"], 2, ["completed"]]);
  });

  it("H8: counts as written if the response to its COMMIT was lost", async () => {
    const proxy = await startLossyProxy(port);
    const { call, orders, ids, runs } = await shopOf(fromPg(poolOf(proxy.port)), fromPg(poolOf(port)));
    let tries = 0;

    const answer = await call(({ step }) =>
      step("seat", (own) =>
        own.commit("A1", {
          writes: async (client) => {
            tries++;
            await client.query(`INSERT INTO ${orders} VALUES ('seat')`);
            proxy.loseAnswerTo("COMMIT");
          },
        }),
      ),
    );

    expect([answer, await ids(), runs(), tries]).toEqual(["A1", ["seat"], 1, 1]);
  });

  it("fails closed if its record can't be read", async () => {
    const pool = poolOf(port);
    const { call, table, runs } = await shopOf(fromPg(pool));
    await call(async ({ step }) => {
      await step("seat", () => "A1");
      throw new Error("no");
    }).catch(() => {});

    for (const steps of ['{"seat":{"state":"sold"}}', '{"seat":1}', "[1]", '"seat"']) {
      await pool.query(`UPDATE ${table} SET steps = $1`, [steps]);
      await expect(call(() => "done")).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    }
    expect(runs()).toBe(1);
  });
});

describe.skipIf(!hasServer)("the larger results of steps", () => {
  const ERASURE = { by: "ana", why: "request 12" };
  const failure = new Error("the printer is out of paper");
  const textOf = (name: string) => `${name}-`.repeat(1000);

  async function world(partitions?: number) {
    const pool = poolOf(port);
    const { store, table } = await storeOf(fromPg(pool), undefined, partitions ? { partitions } : {});
    const options = { operation: "trip", store, leaseSeconds: 30 };
    const one = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows[0];
    return {
      pool,
      store,
      table,
      call: <T>(work: (run: Execution<PostgresWrite<pg.PoolClient>>) => Promise<T>, more: object = {}) =>
        runOnce<T, PostgresWrite<pg.PoolClient>>({ ...options, ...more }, "key", {}, work),
      rows: async () => Number((await one(`SELECT count(*) FROM ${table}_step_results`)).count),
      record: () =>
        one(`SELECT state, version, octet_length(steps::text) AS bytes, step_results FROM ${table}`),
      erase: () => eraseResult({ operation: "trip", store }, "key", ERASURE),
    };
  }

  it("have rows of their own, so that a step doesn't copy those before it, and the operation's end deletes them", async () => {
    const { call, rows, record } = await world();

    const answer = await call(async ({ step }) => {
      for (let index = 0; index < 100; index++) await step(`step-${index}`, () => textOf(`${index}`));
      expect(await rows()).toBe(100);
      const { version, bytes, step_results } = await record();
      expect([version, step_results]).toEqual([STEP_ROWS_VERSION, null]);
      expect(bytes).toBeLessThan(16_000);
      return "booked";
    });

    expect([answer, await rows(), (await record()).version]).toEqual(["booked", 0, RECORD_VERSION]);
  });

  it("are what each later attempt gets, on a table with partitions too", async () => {
    const { call, rows } = await world(4);
    const runs: string[] = [];
    const seen: unknown[] = [];
    const attempt = () =>
      call(async ({ step }) => {
        const results = [];
        for (const name of ["seat", "hotel"])
          results.push(
            await step(name, () => {
              runs.push(name);
              return textOf(name);
            }),
          );
        seen.push(results);
        throw failure;
      });

    for (let attempts = 0; attempts < 3; attempts++) await expect(attempt()).rejects.toBe(failure);

    expect([runs, await rows()]).toEqual([["seat", "hotel"], 2]);
    expect(seen).toEqual(Array(3).fill([textOf("seat"), textOf("hotel")]));
  });

  it("H39: are erased with a record that keeps its steps", async () => {
    const { call, rows, erase, record } = await world();
    await call(async ({ step }) => step("seat", () => textOf("seat")), { keepSteps: true });
    expect([await rows(), await record()]).toMatchObject([
      1,
      { state: "completed", version: STEP_ROWS_VERSION },
    ]);

    expect(await erase()).toEqual({ erased: true });

    expect([await rows(), await record()]).toMatchObject([0, { version: RECORD_VERSION, bytes: null }]);
  });

  it("H39: are deleted with their record, whether `reap`, former code or an operator deletes it", async () => {
    const { call, store, pool, table, rows } = await world();
    const hold = () => call(async ({ step }) => step("seat", () => textOf("seat")), { keepSteps: true });

    await hold();
    await pool.query(`UPDATE ${table} SET expires_at = 1`);
    expect([await store.reap(), await rows()]).toEqual([1, 0]);

    await hold();
    await pool.query(`DELETE FROM ${table}`);
    expect(await rows()).toBe(0);
  });

  it("H39: aren't written by a late copy of a step's write, whether its record has ended or is gone", async () => {
    const { store, pool, table, rows } = await world();
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const step = { state: "done", attempt: 1, at: NOW } as const;
    const change = { recordKey, token: "token-1", name: "seat", step, result: textOf("seat"), isFirst: true };
    const write = () => store.writeStep({ ...change, resultExpiresAt: NOW, leaseEndsAt: NOW, writes: [] });
    expect(await write()).toMatchObject({ settled: true });
    await store.settle(settlementOf(recordKey, { dropsSteps: true }));

    expect([await write(), await rows()]).toMatchObject([{ settled: false }, 0]);

    await pool.query(`DELETE FROM ${table}`);
    expect([await write(), await rows()]).toEqual([{ settled: false, record: undefined }, 0]);
  });

  it("are deleted when a step is written again, and when a call claims the expired record", async () => {
    const { store, rows } = await world();
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    const write = (at: number, seen?: { state: "done"; attempt: number; at: number }) =>
      store.writeStep({
        ...{ recordKey, token: "token-1", name: "seat", result: textOf(`${at}`), isFirst: !seen, seen },
        ...{ step: { state: "done", attempt: 1, at }, resultExpiresAt: NOW, leaseEndsAt: NOW, writes: [] },
      });
    await write(1);
    await write(2, { state: "done", attempt: 1, at: 1 });
    expect(await rows()).toBe(1);
    const { result } = (await store.find(recordKey, { consistent: true }))?.steps?.seat ?? {};
    expect(await store.loadResult((result as { address: string }).address)).toContain("2-2-2-");

    const seen = await store.find(recordKey, { consistent: true });
    const claim = claimOf(recordKey, { token: "token-2", attempt: 2, keepsSteps: false });
    expect(await store.claim(claim, seen)).toMatchObject({ won: true });
    expect(await rows()).toBe(0);
  });

  it("are deleted when a handler within a transaction completes their operation", async () => {
    const { call, pool, table, rows } = await world();
    await expect(
      call(async ({ step }) => {
        await step("seat", () => textOf("seat"));
        throw failure;
      }),
    ).rejects.toBe(failure);
    expect(await rows()).toBe(1);

    const store = new PostgresTransactions({ client: fromPg(pool), table });
    expect(
      await runOnce({ operation: "trip", store, leaseSeconds: 30 }, "key", {}, async () => "booked"),
    ).toBe("booked");

    expect(await rows()).toBe(0);
  });

  it("H89: are read from their column if former code wrote them", async () => {
    const { call, pool, table } = await world();
    const seats: unknown[] = [];
    const attempt = () =>
      call(async ({ step }) => {
        seats.push(await step("seat", () => textOf("seat")));
        throw failure;
      });
    await expect(attempt()).rejects.toBe(failure);
    await pool.query(`WITH former AS (DELETE FROM ${table}_step_results RETURNING pk AS record, key, result AS text)
UPDATE ${table} AS r SET version = 3, step_results = jsonb_build_object(key, text) FROM former WHERE record = r.pk`);

    await expect(attempt()).rejects.toBe(failure);

    expect(seats).toEqual([textOf("seat"), textOf("seat")]);
  });

  it("are refused before any of them is written if the schema is older, or if the role lacks a right to their table", async () => {
    const { call, pool, table, rows } = await world();
    const small = () => call(async ({ step }) => step("seat", () => "A1"));
    const role = freshTable();
    await pool.query(`CREATE ROLE ${role}; GRANT SELECT, INSERT, UPDATE ON ${table} TO ${role};
GRANT SELECT, INSERT ON ${table}_step_results TO ${role}`);
    const asRole = callAs(role, table);
    await expect(asRole("other")).rejects.toThrow(
      `(42501, the role of this client lacks a privilege on ${table}: it needs SELECT, INSERT and UPDATE, and DELETE to reap; on ${table}_step_results it needs SELECT, INSERT and DELETE)`,
    );
    await pool.query(`GRANT DELETE ON ${table}_step_results TO ${role}`);
    expect(await asRole("another")).toBe("A1");
    expect(await rows()).toBe(0);

    await pool.query(`DROP TABLE ${table}_step_results`);
    await expect(small()).rejects.toThrow("(42P01, the table doesn't exist: run the SQL from postgresSchema");
  });

  function callAs(role: string, table: string) {
    const pool = poolOf(port, { options: `-c role=${role}` });
    const store = new PostgresStore({ client: fromPg(pool), table });
    return (key: string) =>
      runOnce({ operation: "trip", store, leaseSeconds: 30 }, key, {}, ({ step }) =>
        step("seat", () => "A1"),
      );
  }
});
