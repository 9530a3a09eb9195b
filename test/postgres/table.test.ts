// The table: its SQL, its name, and how its records are reaped and listed.
import { InvalidOptionError } from "onceonly";
import { PostgresStore, postgresSchema } from "onceonly/postgres";
import { beforeAll, describe, expect, it } from "vitest";
import { fromDrizzle } from "../../lib/postgres/from-drizzle.ts";
import { fromKnex } from "../../lib/postgres/from-knex.ts";
import { fromKysely } from "../../lib/postgres/from-kysely.ts";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { fromPostgresJs } from "../../lib/postgres/from-postgres-js.ts";
import { fromPrisma } from "../../lib/postgres/from-prisma.ts";
import { claimOf, freshRecordKey, settlementOf, won } from "../../lib/testing/contract/given.ts";
import { freshTable, hasServer, poolOf, portOf, sqlOf, storeOf } from "./given.ts";

let port: number;
beforeAll(async () => {
  if (hasServer) port = await portOf();
});

const client = { query: async () => [], transaction: async () => undefined as never };

describe("the name of the table", () => {
  it.each([
    undefined,
    "",
    "records; DROP TABLE orders",
    'records"',
    "a.b.c",
    "1records",
    "undefined",
    "x".repeat(49),
    {},
  ])("is rejected if it is %s", (table) => {
    const options = { client, table: table as string };

    expect(() => new PostgresStore(options)).toThrow(InvalidOptionError);
    expect(() => postgresSchema(options)).toThrow(InvalidOptionError);
  });

  it.each([0, 1, 1.5, 1001, "4"])("is not split into %s partitions", (partitions) => {
    expect(() => postgresSchema({ table: "records", partitions: partitions as number })).toThrow(
      "`partitions` must be a whole number between 2 and 1000",
    );
  });

  it("is quoted, with its schema", () => {
    const sql = postgresSchema({ table: "Billing.select" });

    expect(sql).toContain('CREATE TABLE IF NOT EXISTS "Billing"."select" (');
    expect(sql).toContain('"select_expiry" ON "Billing"."select" (expires_at)');
  });
});

describe("the client of a store", () => {
  it.each([{}, { query: () => {} }, () => {}, undefined])(
    "is rejected if it isn't a SqlClient: %s",
    (given) => {
      const options = { client: given as unknown as typeof client, table: "records" };

      expect(() => new PostgresStore(options)).toThrow(
        "`client` must be a client, such as `fromPg(pool)` or `fromPostgresJs(sql)`",
      );
    },
  );
});

describe("the options of fromPg and fromPostgresJs", () => {
  const pool = { totalCount: 0, query() {} } as unknown as Parameters<typeof fromPg>[0];
  const sql = Object.assign(() => {}, { unsafe() {}, begin() {} }) as never;

  it.each([{ prepare: "true" }, { prepare: 1 }, { prepared: true }])(
    "are rejected if they are %j",
    (given) => {
      const options = given as { prepare?: boolean };

      expect(() => fromPg(pool, options)).toThrow(InvalidOptionError);
      expect(() => fromPostgresJs(sql, options)).toThrow(InvalidOptionError);
    },
  );
});

describe("an adapter's argument", () => {
  it.each([
    ["pool", fromPg],
    ["sql", fromPostgresJs],
    ["db", fromDrizzle],
    ["db", fromKysely],
    ["knex", fromKnex],
    ["prisma", fromPrisma],
  ])("is rejected if it isn't a %s, such as an import that isn't loaded yet", (option, from) => {
    const make = from as (client: unknown) => unknown;

    for (const given of [undefined, null, {}, "postgres://localhost"]) {
      expect(() => make(given)).toThrow(InvalidOptionError);
      expect(() => make(given)).toThrow(new RegExp(`^\`${option}\` must be .*; it needs the methods? `));
    }
  });
});

describe.skipIf(!hasServer)("a client that prepares statements", () => {
  it("names each statement of the store once for a connection", async () => {
    const pool = poolOf(port, { max: 1 });
    const { store } = await storeOf(fromPg(pool, { prepare: true }));
    const call = async () => {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      await store.settle(settlementOf(recordKey));
      await store.claim(claimOf(recordKey, { token: "other" }));
      const { rows } = await pool.query(
        "SELECT name FROM pg_prepared_statements WHERE statement ~ 'records_'",
      );
      return rows.map(({ name }) => name).sort();
    };

    const first = await call();

    expect(first).toHaveLength(2);
    expect(await call()).toEqual(first);
  });

  it("gets advice if the server no longer knows a statement, as with a pooler", async () => {
    const pool = poolOf(port, { max: 1 });
    const { store } = await storeOf(fromPg(pool, { prepare: true }));
    await won(store, claimOf(freshRecordKey()));
    await pool.query("DEALLOCATE ALL");

    await expect(store.claim(claimOf(freshRecordKey()))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      failure: "refused",
      message: expect.stringContaining("with a pooler in transaction mode"),
    });
  });

  it("prepares again by itself with postgres.js", async () => {
    const sql = sqlOf(port, { max: 1 });
    const { store } = await storeOf(fromPostgresJs(sql, { prepare: true }));
    await won(store, claimOf(freshRecordKey()));
    await sql.unsafe("DEALLOCATE ALL");

    await won(store, claimOf(freshRecordKey()));
  });
});

describe.skipIf(!hasServer)("postgresSchema", () => {
  it("may run again, and works in a schema with names that SQL reserves", async () => {
    const pool = poolOf(port);
    const schema = freshTable();
    await pool.query(`CREATE SCHEMA ${schema}`);
    const sql = postgresSchema({ table: `${schema}.select` });

    await pool.query(sql);
    await pool.query(sql);

    const store = new PostgresStore({ client: fromPg(pool), table: `${schema}.select` });
    await won(store, claimOf(freshRecordKey()));
  });

  it("has an index for who reaps and one for who lists, and both are used", async () => {
    const pool = poolOf(port);
    const { table } = await storeOf(fromPg(pool));
    await pool.query(
      `INSERT INTO ${table} SELECT 'k' || i, 1, 'completed', 't', 1, i, 'f', i, i, i FROM generate_series(1, 20000) AS i`,
    );
    await pool.query(`ANALYZE ${table}`);
    const planOf = async (sql: string) => {
      const { rows } = await pool.query(`EXPLAIN ${sql}`);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    };

    expect(
      await planOf(`SELECT pk FROM ${table} WHERE expires_at <= 10 ORDER BY expires_at LIMIT 5`),
    ).toContain(`${table}_expiry`);
    expect(
      await planOf(
        `SELECT pk FROM ${table} AS r WHERE r.unsettled_since < 10 AND (r.unsettled_since, r.pk) > (1, 'k') ORDER BY r.unsettled_since, r.pk LIMIT 5`,
      ),
    ).toContain(`${table}_unsettled`);
  });
});

describe.skipIf(!hasServer)("reap", () => {
  it("deletes expired records, the oldest first, a batch at a time, and nothing else", async () => {
    const pool = poolOf(port);
    const { store, table } = await storeOf(fromPg(pool));
    const past = Math.floor(Date.now() / 1000) - 100;
    for (const expiresAt of [past + 2, past, past + 1, past + 3600, undefined]) {
      const recordKey = freshRecordKey();
      await won(store, claimOf(recordKey));
      await store.settle(settlementOf(recordKey, { expiresAt }));
    }
    const left = async () => {
      const { rows } = await pool.query(`SELECT expires_at FROM ${table} ORDER BY expires_at`);
      return rows.map((row) => row.expires_at);
    };

    expect(await store.reap({ batchSize: 2 })).toBe(2);
    expect(await left()).toEqual([past + 2, past + 3600, null]);
    expect([await store.reap(), await store.reap()]).toEqual([1, 0]);
    expect(await left()).toEqual([past + 3600, null]);
  });

  it("by several at the same time deletes each record once", async () => {
    const pool = poolOf(port);
    const { store, table } = await storeOf(fromPg(pool));
    await pool.query(
      `INSERT INTO ${table} SELECT 'k' || i, 1, 'completed', 't', 1, i, 'f', i, i, i FROM generate_series(1, 500) AS i`,
    );

    const reaped = await Promise.all(Array.from({ length: 5 }, () => store.reap({ batchSize: 100 })));

    const { rows } = await pool.query(`SELECT count(*)::int AS left FROM ${table}`);
    expect(reaped.reduce((sum, each) => sum + each) + rows[0].left).toBe(500);
  });

  it.each([0, -1, 1.5, 1e6, "100", Number.NaN])("refuses a batch size of %s", async (batchSize) => {
    const store = new PostgresStore({ client, table: "records" });

    await expect(store.reap({ batchSize: batchSize as number })).rejects.toThrow(InvalidOptionError);
  });
});

describe.skipIf(!hasServer)("unknownOutcomes", () => {
  it("goes through pages, the oldest first, and reports a record of another version as unreadable", async () => {
    const pool = poolOf(port);
    const { store, table } = await storeOf(fromPg(pool));
    await pool.query(
      `INSERT INTO ${table} SELECT 'k' || i, 1, 'in-progress', 't', 1, i % 50, 'f', i FROM generate_series(1, 350) AS i`,
    );
    await pool.query(`UPDATE ${table} SET version = 99 WHERE pk = 'k50'`);

    const listed = [];
    for await (const outcome of store.unknownOutcomes({ before: 49 })) listed.push(outcome);

    expect(listed).toHaveLength(343);
    expect(new Set(listed.map(({ recordKey }) => recordKey)).size).toBe(343);
    expect(listed.map(({ since }) => since)).toEqual(
      listed.map(({ since }) => since).toSorted((a, b) => a - b),
    );
    expect(listed.filter(({ state }) => state === "unreadable")).toEqual([
      { recordKey: "k50", state: "unreadable", since: 0 },
    ]);
  });
});
