import { DynamoDBStore, runOnce } from "onceonly";
import { PostgresStore, type PostgresStoreOptions, postgresSchema, type SqlClient } from "onceonly/postgres";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

/** A database that answers each statement by this error. */
const refusing = (code: string): SqlClient => ({
  query: () => Promise.reject(Object.assign(new Error("as PostgreSQL says it"), { code, severity: "ERROR" })),
  transaction: () => Promise.reject(new Error("no transaction")),
});

/** A database that has made a record, and no transaction yet. */
const claiming: SqlClient = {
  query: async () => [{ answer: '{"serverTimeMs":1}' }],
  transaction: () => Promise.reject(new Error("no transaction")),
};

const storeOf = (options: object) => () =>
  messageOf(() => new PostgresStore(options as PostgresStoreOptions));

const asking = (code: string) => () => {
  const store = new PostgresStore({ client: refusing(code), table: "records" });
  return messageOf(() => runOnce({ operation: "order", store, leaseSeconds: 30 }, "key", {}, () => 1));
};

const committing = (effects: object) => () => {
  const store = new PostgresStore({ client: claiming, table: "records" });
  return messageOf(() =>
    runOnce({ operation: "order", store, leaseSeconds: 30, whenStoreFails: "run" }, "key", {}, ({ commit }) =>
      commit("done", effects as never),
    ),
  );
};

/** A store in SQL, and what a database makes of it. */
export const POSTGRES_MISTAKES: readonly Mistake[] = [
  {
    made: "gives a PostgresStore the pool itself",
    toldBy: "error",
    text: "option `client` must be an object with the methods query, transaction: give `fromPg(pool)` or `fromPostgresJs(sql)`",
    make: storeOf({ client: { query: () => {}, connect: () => {} }, table: "records" }),
  },
  {
    made: "names a table of SQL by a variable that is not set",
    toldBy: "error",
    text: "option `table` must be the name of a table, such as `idempotency` or `billing.idempotency`, each part of 1 to 48 letters, digits and underscores: see that the environment variable is set from which it is read; got undefined",
    make: storeOf({ client: claiming, table: undefined }),
  },
  {
    made: "puts SQL into the name of the table",
    toldBy: "error",
    text: "option `table` must be the name of a table",
    make: () => messageOf(() => postgresSchema({ table: "records; DROP TABLE orders" })),
  },
  {
    made: "has not run the SQL of `postgresSchema`",
    toldBy: "error",
    text: 'the idempotency store refused INSERT on records (42P01, there is no such table: run the SQL of postgresSchema({ table: "records" }), or name its schema too), and will again',
    make: asking("42P01"),
  },
  {
    made: "has a table of another shape",
    toldBy: "error",
    text: '42703, the table is not as postgresSchema({ table: "records" }) makes it: compare their columns and keys',
    make: asking("42703"),
  },
  {
    made: "gives the role of the function no right on the table",
    toldBy: "error",
    text: "42501, the role of this client lacks a right on records: SELECT, INSERT, UPDATE, or DELETE to reap",
    make: asking("42501"),
  },
  {
    made: "commits SQL as text",
    toldBy: "error",
    text: "writes[0] must be a function of the transaction's client: writes: async (client) => { … }",
    make: committing({ writes: ["INSERT INTO orders VALUES (1)"] }),
  },
  {
    made: "commits SQL to DynamoDB",
    toldBy: "type",
    text: "is not assignable to type 'readonly DynamoDBWrite[]'",
    make: () =>
      runOnce(
        { operation: "order", store: new DynamoDBStore({ tableName: "records" }), leaseSeconds: 30 },
        "key",
        {},
        // @ts-expect-error
        ({ commit }) => commit("done", { writes: async () => {} }),
      ),
  },
  {
    made: "commits SQL without a result",
    toldBy: "error",
    text: "commit takes the result, then { writes, messages }; got effects alone",
    make: () => {
      const store = new PostgresStore({ client: claiming, table: "records" });
      const options = { operation: "order", store, leaseSeconds: 30 };
      return messageOf(() =>
        runOnce(options, "key", {}, ({ commit }) => commit({ writes: async () => {} } as never)),
      );
    },
  },
  {
    made: "reaps in batches of nothing",
    toldBy: "error",
    text: "option `batchSize` must be a whole number from 1 to 100000; got 0 (number)",
    make: () =>
      messageOf(() => new PostgresStore({ client: claiming, table: "records" }).reap({ batchSize: 0 })),
  },
];
