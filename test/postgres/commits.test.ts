// Writes in SQL: one transaction with the record, run again where the database asks for it, and refused where they break it.

import { drizzle } from "drizzle-orm/postgres-js";
import {
  CommitInvalidError,
  type Execution,
  PermanentError,
  runOnce,
  TransactionConditionError,
} from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import type pg from "pg";
import type postgres from "postgres";
import { beforeAll, describe, expect, it } from "vitest";
import { fromDrizzle } from "../../lib/postgres/from-drizzle.ts";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { fromPostgresJs } from "../../lib/postgres/from-postgres-js.ts";
import type { SqlClient } from "../../lib/postgres/sql-client.ts";
import { gate } from "../kit/time/gate.ts";
import { conflictingOnce } from "./dsql-given.ts";
import { clientOf, hasServer, poolOf, portOf, sqlOf } from "./given.ts";
import { shopOf } from "./shop-given.ts";

let port: number;
beforeAll(async () => {
  if (hasServer) port = await portOf();
});

describe.skipIf(!hasServer)("commit with writes", () => {
  it("applies record and writes together, with pg", async () => {
    const { call, orders, ids, states, runs } = await shopOf(fromPg(poolOf(port)));
    const book = () =>
      call(({ key, commit }) =>
        commit(`booked ${key}`, {
          writes: async (client) => {
            await client.query(`INSERT INTO ${orders} (id) VALUES ($1)`, [key]);
          },
        }),
      );

    expect([await book(), await book()]).toEqual(["booked key", "booked key"]);

    expect([await ids(), await states(), runs()]).toEqual([["key"], ["completed"], 1]);
  });

  it("applies record and writes together, with postgres.js", async () => {
    const { call, orders, ids, states } = await shopOf(fromPostgresJs(sqlOf(port)));

    const booked = await call(({ key, commit }) =>
      commit("booked", {
        writes: async (sql) => {
          await sql`INSERT INTO ${sql(orders)} (id) VALUES (${key})`;
        },
      }),
    );

    expect([booked, await ids(), await states()]).toEqual(["booked", ["key"], ["completed"]]);
  });

  it("accepts several functions, one after the other", async () => {
    const { call, orders, ids } = await shopOf(fromPg(poolOf(port)));
    const insert = (id: string) => (client: pg.PoolClient) =>
      client.query(`INSERT INTO ${orders} (id) VALUES ($1)`, [id]);

    await call(({ commit }) => commit("booked", { writes: [insert("a"), insert("b")] }));

    expect(await ids()).toEqual(["a", "b"]);
  });

  it("handles concurrent calls with a pool of one connection, and with a single client", async () => {
    for (const client of [fromPg(poolOf(port, { max: 1 })), fromPg(await clientOf(port))]) {
      const { call, orders, ids } = await shopOf(client as SqlClient<pg.ClientBase>);
      const keys = ["a", "b", "c", "d", "e"];

      await Promise.all(
        keys.map((key) =>
          call(
            ({ commit }) =>
              commit("booked", {
                writes: async (own) => {
                  await own.query("SELECT 1");
                  await own.query(`INSERT INTO ${orders} (id) VALUES ($1)`, [key]);
                },
              }),
            { key },
          ),
        ),
      );

      expect(await ids()).toEqual(keys);
    }
  });

  it("H70: a serialization failure runs the writes again, and never the handler", async () => {
    const pool = poolOf(port, { options: "-c default_transaction_isolation=serializable" });
    const { call, orders, ids, runs, decisions } = await shopOf(fromPg(pool));
    await pool.query(`INSERT INTO ${orders} VALUES ('first', 0)`);
    let tries = 0;
    const [both, open] = [gate(), { left: 2 }];
    const book = (key: string) =>
      call(
        ({ commit }) =>
          commit(key, {
            writes: async (client) => {
              tries++;
              const { rows } = await client.query(`SELECT sum(seats)::int AS seats FROM ${orders}`);
              if (--open.left === 0) both.open();
              await both.opened;
              await client.query(`INSERT INTO ${orders} VALUES ($1, $2)`, [key, rows[0].seats + 1]);
            },
          }),
        { key },
      );

    expect(await Promise.all([book("a"), book("b")])).toEqual(["a", "b"]);

    const { rows } = await pool.query(`SELECT seats FROM ${orders} ORDER BY seats`);
    // One after the other, as if nobody else had been there.
    expect(rows.map(({ seats }) => seats)).toEqual([0, 1, 2]);
    expect([await ids(), runs(), tries]).toEqual([["a", "b", "first"], 2, 3]);
    expect(decisions().filter((decision) => decision === "store-failed")).toHaveLength(1);
  });

  it.each(["40001", "OC000", "OC001"])("H70: so does %s at the commit", async (code) => {
    const { call, orders, ids, runs, states } = await shopOf(conflictingOnce(fromPg(poolOf(port)), code));
    let tries = 0;

    await call(({ commit }) =>
      commit("booked", {
        writes: (client) => {
          tries++;
          return client.query(`INSERT INTO ${orders} VALUES ('a')`);
        },
      }),
    );

    expect([await ids(), await states(), runs(), tries]).toEqual([["a"], ["completed"], 1, 2]);
  });

  it("a constraint rolls everything back, and the handler may commit something else", async () => {
    const { call, orders, ids } = await shopOf(fromPg(poolOf(port)));
    const order = (id: string) => (client: pg.PoolClient) =>
      client.query(`INSERT INTO ${orders} (id) VALUES ($1)`, [id]);
    await call(({ commit }) => commit("booked", { writes: order("seat") }), { key: "first" });

    const answer = await call(async ({ commit }) => {
      const refused = await commit("booked", { writes: [order("extra"), order("seat")] }).catch(
        (error) => error,
      );
      expect(refused).toBeInstanceOf(TransactionConditionError);
      expect(refused).toMatchObject({ index: 1, cause: { code: "23505" } });
      expect(JSON.stringify(refused)).not.toContain("seat");
      return commit("sold out");
    });

    expect([answer, await ids()]).toEqual(["sold out", ["seat"]]);
  });

  it.each([
    ["pg", () => fromPg(poolOf(port)) as SqlClient],
    ["postgres.js", () => fromPostgresJs(sqlOf(port)) as SqlClient],
  ])("an error from a user's function refuses the commit, and is its cause, with %s", async (_, connect) => {
    const { call, orders, ids, states } = await shopOf(connect());
    const soldOut = new PermanentError("sold out");

    const refused = call(({ commit }) =>
      commit("booked", {
        writes: async (client) => {
          await insertInto(client, orders);
          throw soldOut;
        },
      }).catch((error) => {
        expect(error).toMatchObject({ code: "TRANSACTION_CONDITION", index: 0, cause: soldOut });
        throw error.cause;
      }),
    );

    await expect(refused).rejects.toThrow("sold out");
    expect([await ids(), await states()]).toEqual([[], ["failed"]]);
  });

  it("a constraint that is checked at the commit refuses there", async () => {
    const pool = poolOf(port);
    const { call, orders, ids } = await shopOf(fromPg(pool));
    await pool.query(`ALTER TABLE ${orders} ADD UNIQUE (seats) DEFERRABLE INITIALLY DEFERRED`);

    const refused = call(({ commit }) =>
      commit("booked", { writes: (client) => client.query(`INSERT INTO ${orders} VALUES ('a'), ('b')`) }),
    );

    await expect(refused).rejects.toMatchObject({ code: "TRANSACTION_CONDITION", cause: { code: "23505" } });
    expect(await ids()).toEqual([]);
  });

  it("a statement that PostgreSQL can't run is reported with its position and code, and is not repeated", async () => {
    const { call, runs, decisions } = await shopOf(fromPg(poolOf(port)));

    const refused = call(({ commit }) =>
      commit("booked", { writes: (client) => client.query("INSERT INTO no_such_table VALUES ('secret')") }),
    );

    await expect(refused).rejects.toThrow(
      "PostgreSQL refuses writes[0] (42P01): nothing was written; fix the write",
    );
    await expect(refused).rejects.toBeInstanceOf(CommitInvalidError);
    expect([runs(), decisions()]).toEqual([1, ["released"]]);
  });

  describe.each([
    ["pg", () => fromPg(poolOf(port)) as SqlClient, 3],
    ["postgres.js", () => fromPostgresJs(sqlOf(port)) as SqlClient, 1],
  ])("refuses a transaction that is broken from within, with %s", (name, connect, most) => {
    const statements = ["INSERT INTO no_such_table VALUES (1)", "ROLLBACK", "COMMIT"].slice(0, most);

    it.each(statements)("by %s", async (statement) => {
      const { call, orders, states } = await shopOf(connect());
      const refusals: unknown[] = [];

      await call(async ({ commit }) => {
        const refused = commit("booked", {
          writes: async (client) => {
            await insertInto(client, orders);
            const own =
              name === "pg"
                ? (client as pg.PoolClient).query(statement)
                : (client as postgres.Sql).unsafe(statement);
            await own.catch(() => {});
          },
        });
        throw await refused.catch((error) => {
          refusals.push(error);
          return error;
        });
      }).catch(() => {});

      expect(refusals).toEqual([
        expect.objectContaining({
          code: "COMMIT_INVALID",
          message: expect.stringMatching(/the `writes` of a commit (caught the error|ended the transaction)/),
        }),
      ]);
      // A COMMIT of the user's own is the one that cannot be taken back.
      expect(await states()).toEqual([statement === "COMMIT" ? "completed" : "released"]);
    });
  });

  it("does not mistake a COMMIT that the server answers with ROLLBACK for a commit", async () => {
    const pool = poolOf(port, { max: 1 });
    const { call, orders, ids, runs, states } = await shopOf(fromPg(pool));
    const connection = await pool.connect();
    const query = connection.query.bind(connection) as (...given: unknown[]) => Promise<unknown>;
    let tries = 0;
    // As where a statement that nobody awaits fails at the last moment.
    const late = async (...given: unknown[]) => {
      if (given[0] === "COMMIT" && tries === 1) await query("SELECT 1 / 0").catch(() => {});
      return query(...given);
    };
    Object.assign(connection, { query: late });
    connection.release();

    await call(({ commit }) =>
      commit("booked", {
        writes: (client) => {
          tries++;
          return client.query(`INSERT INTO ${orders} VALUES ('a')`);
        },
      }),
    );

    expect([await ids(), await states(), runs(), tries]).toEqual([["a"], ["completed"], 1, 2]);
  });

  it.each([
    ["pg", () => fromPg(poolOf(port, { max: 1 })) as SqlClient],
    ["postgres.js", () => fromPostgresJs(sqlOf(port, { max: 1 })) as SqlClient],
  ])("refuses a statement that comes after the transaction, with %s", async (_, connect) => {
    const { call, orders, ids } = await shopOf(connect());
    let kept: unknown;

    await call(({ commit }) =>
      commit("booked", {
        writes: (client) => {
          kept = client;
        },
      }),
    );

    expect(() => insertInto(kept, orders)).toThrow(
      "was used after its transaction had ended: await each statement",
    );
    expect(await ids()).toEqual([]);
  });

  it.each([
    ["postgres.js", () => fromPostgresJs(sqlOf(port, { max: 1 })) as SqlClient],
    ["Drizzle over postgres.js", () => fromDrizzle(drizzle(sqlOf(port, { max: 1 }))) as SqlClient],
  ])("a server that has forgotten the prepared COMMIT, as with a pooler, with %s", async (_, connect) => {
    const { call, orders, ids, states } = await shopOf(connect(), fromPg(poolOf(port)) as SqlClient);
    const book = (key: string) =>
      call(
        ({ commit }) =>
          commit("booked", {
            writes: async (client) => {
              const run = client as { execute?(text: string): unknown; unsafe?(text: string): unknown };
              for (const text of [`INSERT INTO ${orders} (id) VALUES ('${key}')`, "DEALLOCATE ALL"])
                await (run.execute?.(text) ?? run.unsafe?.(text));
            },
          }),
        { key },
      );

    expect([await book("a"), await book("b")]).toEqual(["booked", "booked"]);

    expect([await ids(), await states()]).toEqual([
      ["a", "b"],
      ["completed", "completed"],
    ]);
  });

  it("says what to do if the server does not know a prepared statement of `writes`", async () => {
    const { call, ids } = await shopOf(fromPg(poolOf(port)));

    const refused = call(({ commit }) =>
      commit("booked", { writes: (client) => client.query("EXECUTE nowhere") }),
    );

    await expect(refused).rejects.toMatchObject({
      code: "COMMIT_INVALID",
      message: expect.stringContaining("turn prepared statements off"),
    });
    expect(await ids()).toEqual([]);
  });

  it("makes the server end an idle transaction, so a frozen process holds no key", async () => {
    const limits: unknown[] = [];
    const pg = await shopOf(fromPg(poolOf(port)));
    const js = await shopOf(fromPostgresJs(sqlOf(port)));

    await pg.call(({ commit }) =>
      commit(1, {
        writes: async (client) => {
          const { rows } = await client.query("SHOW idle_in_transaction_session_timeout");
          limits.push(rows[0].idle_in_transaction_session_timeout);
        },
      }),
    );
    await js.call(({ commit }) =>
      commit(1, {
        writes: async (sql) => {
          const [row] = await sql`SHOW idle_in_transaction_session_timeout`;
          limits.push(row?.idle_in_transaction_session_timeout);
        },
      }),
    );

    expect(limits).toEqual(["10s", "10s"]);
  });
});

describe("the type of commit", () => {
  it("follows the store", () => {
    const onPostgres = (execution: Execution<(client: pg.PoolClient) => unknown>) => [
      execution.commit(1, { writes: (client) => client.query("SELECT 1") }),
      execution.commit(1, { writes: [(client) => client.query("SELECT 1")] }),
      // @ts-expect-error: an action of DynamoDB
      execution.commit(1, { writes: [{ Put: { TableName: "orders", Item: {} } }] }),
    ];
    const onDynamoDB = () =>
      runOnce({ operation: "o", store: new DynamoDBStore({ tableName: "t" }) }, "k", {}, ({ commit }) => [
        commit(1, { writes: [{ Put: { TableName: "orders", Item: {} } }] }),
        // @ts-expect-error: SQL
        commit(1, { writes: async () => {} }),
      ]);

    expect([onPostgres, onDynamoDB]).toHaveLength(2);
  });
});

const insertInto = (client: unknown, orders: string): Promise<unknown> => {
  const text = `INSERT INTO ${orders} (id) VALUES ('mine')`;
  return typeof client === "function"
    ? (client as unknown as postgres.Sql).unsafe(text)
    : (client as pg.PoolClient).query(text);
};
