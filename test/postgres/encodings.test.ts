// Databases that are not in UTF-8, and content that a column cannot hold: an effect happens once, or not at all.
import { runOnce } from "onceonly";
import { fromPg, PostgresStore, PostgresTransactions, postgresSchema } from "onceonly/postgres";
import { fakeClock } from "onceonly/testing";
import type pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { freshTable, hasServer, poolOf, portOf, storeOf } from "./given.ts";

let port: number;
let admin: pg.Pool;
beforeAll(async () => {
  if (!hasServer) return;
  port = await portOf();
  admin = poolOf(port);
});

async function databaseIn(encoding: string) {
  const database = freshTable();
  await admin.query(
    `CREATE DATABASE ${database} ENCODING '${encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`,
  );
  const table = freshTable();
  const pool = poolOf(port, { database });
  await pool.query(postgresSchema({ table }));
  return { client: fromPg(pool), table, pool };
}

describe.skipIf(!hasServer)("a database", () => {
  it.each(["SQL_ASCII", "LATIN1", "WIN1252", "EUC_JP"])(
    "H84: A4: in %s is rejected before anything runs, with what to do",
    async (encoding) => {
      const { client, table, pool } = await databaseIn(encoding);
      let runs = 0;
      const refusalOf = (store: unknown, mode: "claimed" | "optimistic") =>
        runOnce(
          { operation: "order", store: store as never, leaseSeconds: 30, mode, whenStoreFails: "run" },
          "key",
          {},
          () => {
            runs++;
            return "café 🙂";
          },
        ).catch((error) => error);

      for (const refusal of [
        await refusalOf(new PostgresStore({ client, table }), "claimed"),
        await refusalOf(new PostgresStore({ client, table }), "optimistic"),
        await refusalOf(new PostgresTransactions({ client, table }), "claimed"),
      ]) {
        expect(refusal).toMatchObject({ code: "STORE_UNAVAILABLE", failure: "refused", retryable: false });
        expect(refusal.message).toContain(
          `the database has the encoding ${encoding}, which can't store every result: create a database with ENCODING 'UTF8'`,
        );
      }
      expect(runs).toBe(0);
      expect((await pool.query(`SELECT 1 FROM ${table}`)).rows).toEqual([]);
    },
  );

  it("H84: A4: that refuses a result for its content has a record that marks the operation as done", async () => {
    const { table } = await storeOf(fromPg(admin));
    await admin.query(`ALTER TABLE ${table} ALTER result TYPE varchar(20)`);
    const clock = fakeClock(Date.now());
    let runs = 0;
    const store = new PostgresStore({ client: fromPg(admin), table });
    const call = (key: string, result: string) =>
      runOnce({ operation: "order", store, leaseSeconds: 30, clock }, key, {}, () => {
        runs++;
        return result;
      });

    expect(await call("long", "a result that has no room")).toBe("a result that has no room");
    await clock.advance(120_000);
    await expect(call("long", "again")).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(await call("short", "has room")).toBe("has room");
    expect(await call("short", "again")).toBe("has room");
    expect(runs).toBe(2);
  });

  it("H84: A4: keeps NUL, lone surrogates and characters of every plane in results, steps, errors and scopes", async () => {
    const { store } = await storeOf(fromPg(admin));
    const odd = { text: "\u0000 \ud800 \udc00 🙂 \u{10ffff} \ufffe ' \\u0000 \\", "\u0000 \ud800": 1e308 };
    const large = { ...odd, filler: "🙂".repeat(5000) };
    const options = { operation: "bücher 🙂", scope: "тенант \u0000\u0085🙂", store, leaseSeconds: 30 };
    let runs = 0;
    const call = () =>
      runOnce(options, "schlüssel 🙂", { odd: 1 }, async ({ step }) => {
        runs++;
        const first = await step("schritt 🙂 '\"\\", () => odd);
        const second = await step("large", () => large);
        return { first, second };
      });
    const fail = () =>
      runOnce({ ...options, isFinalError: () => true }, "fails", {}, () => {
        throw new Error(odd.text);
      });

    expect(await call()).toEqual({ first: odd, second: large });
    expect(await call()).toEqual({ first: odd, second: large });
    await expect(fail()).rejects.toThrow(odd.text);
    await expect(fail()).rejects.toThrow(odd.text);
    expect(runs).toBe(1);
  });

  it("H84: A4: a step whose name PostgreSQL cannot hold is refused before it runs", async () => {
    const { store } = await storeOf(fromPg(admin));
    let runs = 0;
    const call = runOnce({ operation: "order", store, leaseSeconds: 30 }, "key", {}, ({ step }) =>
      step("charge\u0000", () => ++runs),
    );

    await expect(call).rejects.toMatchObject({ code: "STEP_INVALID" });
    expect(runs).toBe(0);
  });
});
