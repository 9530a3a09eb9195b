// Statements that are prepared by default: when they are, and what may happen to their names.
import type { SqlClient } from "onceonly/postgres";
import type pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { fromPostgresJs } from "../../lib/postgres/from-postgres-js.ts";
import { PostgresStore } from "../../lib/postgres/postgres-store.ts";
import { postgresSchema } from "../../lib/postgres/schema.ts";
import { claimOf, freshRecordKey, settlementOf, won } from "../../lib/testing/contract/given.ts";
import { bouncerPort, clientOf, freshTable, hasServer, poolOf, portOf, sqlOf, storeOf } from "./given.ts";
import { hasPgBouncer } from "./pgbouncer-given.ts";
import { shopOf } from "./shop-given.ts";

let port: number;
beforeAll(async () => {
  if (hasServer) port = await portOf();
});

interface Given {
  readonly client: SqlClient;
  /** On the only connection. */
  readonly run: (text: string) => Promise<readonly object[]>;
}

const CLIENTS: [string, (port: number, prepare?: boolean) => Promise<Given>][] = [
  [
    "a pg pool",
    async (at, prepare) => {
      const pool = poolOf(at, { max: 1 });
      const options = prepare === undefined ? {} : { prepare };
      return {
        client: fromPg(pool, options) as SqlClient,
        run: async (text) => (await pool.query(text)).rows,
      };
    },
  ],
  [
    "a pg client",
    async (at, prepare) => {
      const client = await clientOf(at);
      const options = prepare === undefined ? {} : { prepare };
      return {
        client: fromPg(client, options) as SqlClient,
        run: async (text) => (await client.query(text)).rows,
      };
    },
  ],
  [
    "postgres.js",
    async (at, prepare) => {
      const sql = sqlOf(at, { max: 1 });
      const options = prepare === undefined ? {} : { prepare };
      return {
        client: fromPostgresJs(sql, options) as SqlClient,
        run: async (text) => await sql.unsafe(text),
      };
    },
  ],
];

async function callOn(store: PostgresStore): Promise<void> {
  const recordKey = freshRecordKey();
  await won(store, claimOf(recordKey));
  expect(await store.settle(settlementOf(recordKey))).toEqual({ settled: true });
}

async function namesOf({ run }: Given, table: string): Promise<unknown[]> {
  const rows = await run(`SELECT name FROM pg_prepared_statements WHERE statement LIKE '%"${table}"%'`);
  return rows.map((row) => Object.values(row)[0]).sort();
}

describe.skipIf(!hasServer).each(CLIENTS)("statements on %s", (_, connect) => {
  it("R3: are prepared once per connection, without an option", async () => {
    const given = await connect(port);
    const { store, table } = await storeOf(given.client);
    await callOn(store);
    const first = await namesOf(given, table);

    for (let calls = 0; calls < 5; calls++) await callOn(store);

    expect(first).toHaveLength(2);
    expect(await namesOf(given, table)).toEqual(first);
  });

  it("R3: have no names with `prepare: false`", async () => {
    const given = await connect(port, false);
    const { store, table } = await storeOf(given.client);

    await callOn(store);

    expect(await namesOf(given, table)).toEqual([]);
  });

  it.skipIf(!hasPgBouncer)("R3: have no names behind a transaction pooler", async () => {
    const given = await connect(await bouncerPort());
    const { store, table } = await storeOf(given.client);

    await Promise.all(Array.from({ length: 12 }, () => callOn(store)));

    for (let looks = 0; looks < 8; looks++) expect(await namesOf(given, table)).toEqual([]);
  });

  it.each(["DISCARD ALL", "DEALLOCATE ALL"])("R3: survive a neighbor's %s", async (statement) => {
    const given = await connect(port);
    const { store } = await storeOf(given.client);
    await callOn(store);

    await given.run(statement);
    await callOn(store);
    await given.run(statement);

    await callOn(store);
  });

  it("R3: survive a change of the table, and another search path", async () => {
    const given = await connect(port);
    const [one, two] = [freshTable(), freshTable()];
    const table = freshTable();
    for (const schema of [one, two]) {
      await given.run(`CREATE SCHEMA ${schema}`);
      await given.run(postgresSchema({ table: `${schema}.${table}` }));
    }
    const store = new PostgresStore({ client: given.client, table });
    const count = async (schema: string) =>
      Object.values((await given.run(`SELECT count(*)::int FROM ${schema}.${table}`))[0] ?? {})[0];

    await given.run(`SET search_path = ${one}`);
    for (let calls = 0; calls < 7; calls++) await callOn(store);
    await given.run(`ALTER TABLE ${table} ADD COLUMN more text, ALTER COLUMN attempt TYPE bigint`);
    await callOn(store);
    await given.run(`SET search_path = ${two}`);
    await callOn(store);

    expect([await count(one), await count(two)]).toEqual([8, 1]);
  });

  it("R3: run again without a name if the plan would return other columns", async () => {
    const { client, run } = await connect(port);
    const table = freshTable();
    await run(`CREATE TABLE ${table} (a integer)`);
    await run(`INSERT INTO ${table} VALUES (1)`);
    const read = () => client.query(`SELECT * FROM ${table} WHERE a = $1`, [1]);
    await read();

    await run(`ALTER TABLE ${table} ADD COLUMN b integer`);

    expect([...(await read())]).toEqual([{ a: 1, b: null }]);
  });

  it("R3: in a commit have no names, so that the handler's rows are never lost", async () => {
    const { client } = await connect(port);
    const { call, orders, ids, runs } = await shopOf(client, fromPg(poolOf(port)) as SqlClient);
    let tries = 0;
    const book = (key: string) =>
      call(
        ({ commit }) =>
          commit("booked", {
            writes: async (given) => {
              tries++;
              const own = given as { unsafe?(text: string): unknown; query?(text: string): unknown };
              for (const text of [`INSERT INTO ${orders} (id) VALUES ('${key}')`, "DEALLOCATE ALL"])
                await (own.unsafe?.(text) ?? own.query?.(text));
            },
          }),
        { key },
      );

    expect([await book("a"), await book("b"), await book("b")]).toEqual(["booked", "booked", "booked"]);

    expect([await ids(), runs(), tries]).toEqual([["a", "b"], 2, 2]);
  });
});

describe.skipIf(!hasServer)("names on pg", () => {
  it("R3: that exist already are not used", async () => {
    const given = { client: poolOf(port, { max: 1 }) };
    const { store, table } = await storeOf(fromPg(given.client));
    await callOn(store);
    const { rows } = await given.client.query(
      `SELECT name FROM pg_prepared_statements WHERE statement LIKE '%"${table}"%'`,
    );
    const pool = poolOf(port, { max: 1 });
    for (const { name } of rows) await pool.query(`PREPARE "${name}" AS SELECT 1`);

    await callOn(new PostgresStore({ client: fromPg(pool), table }));
  });

  it("R3: are not used within a transaction that the caller began on its client", async () => {
    const client = await clientOf(port);
    const { store, table } = await storeOf(fromPg(client));
    await callOn(store);
    const orders = freshTable();
    await client.query(`CREATE TABLE ${orders} (id text)`);

    await client.query("DEALLOCATE ALL");
    await client.query("BEGIN");
    await client.query(`INSERT INTO ${orders} VALUES ('a')`);
    await callOn(store);
    await client.query("COMMIT");

    const { rows } = await client.query(
      `SELECT id, (SELECT count(*)::int FROM ${table}) AS calls FROM ${orders}`,
    );
    expect(rows).toEqual([{ id: "a", calls: 2 }]);
  });

  it.each([
    ["no connection", undefined],
    ["a server that is starting", "57P03"],
    ["too many connections", "53300"],
  ])("R3: are used by a pool whose first check found %s", async (_, code) => {
    const pool = poolOf(port, { max: 1 });
    const { table } = await storeOf(fromPg(poolOf(port)));
    const connect = pool.connect.bind(pool);
    let refusals = 1;
    const failing = Object.assign(Object.create(pool), {
      query: pool.query.bind(pool),
      connect: (callback: (error: Error | undefined) => void) =>
        refusals-- > 0
          ? callback(Object.assign(new Error("refused"), code && { code }))
          : connect(callback as never),
    }) as pg.Pool;
    const store = new PostgresStore({ client: fromPg(failing), table });

    await callOn(store);

    expect(
      await namesOf({ client: fromPg(pool), run: async (text) => (await pool.query(text)).rows }, table),
    ).toHaveLength(2);
  });

  it("R3: are not given to statements over a range, and to a hundred texts at most", async () => {
    const pool = poolOf(port, { max: 1 });
    const client = fromPg(pool);
    for (let texts = 0; texts < 120; texts++) await client.query(`SELECT $1::text AS t${texts}`, ["a"]);
    await client.query("SELECT 1 AS a LIMIT $1", [1]);

    const { rows } = await pool.query("SELECT statement FROM pg_prepared_statements");

    expect(rows).toHaveLength(100);
    expect(rows.filter(({ statement }) => /LIMIT/.test(statement))).toEqual([]);
  });
});

describe.skipIf(!hasServer)("the plan of a prepared statement", () => {
  it("R3: can't be made for a table of a few pages, since those are neither analyzed nor cut off", async () => {
    const pool = poolOf(port);
    const { table } = await storeOf(fromPg(pool));

    const { rows } = await pool.query("SELECT reloptions FROM pg_class WHERE relname = $1", [table]);

    expect(rows[0].reloptions).toEqual(
      expect.arrayContaining([
        "autovacuum_vacuum_threshold=500",
        "autovacuum_analyze_threshold=500",
        "vacuum_truncate=false",
      ]),
    );
  });
});
