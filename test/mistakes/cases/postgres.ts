import { runOnce } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
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
    made: "passes a PostgresStore the pool itself",
    reportedBy: "error",
    text: "`client` must be a client, such as `fromPg(pool)` or `fromPostgresJs(sql)`",
    make: storeOf({ client: { query: () => {}, connect: () => {} }, table: "records" }),
  },
  {
    made: "takes the SQL table's name from a variable that isn't set",
    reportedBy: "error",
    text: "`table` must be the name of a table, such as `idempotency` or `billing.idempotency`, with 1 to 48 letters, digits and underscores in each part: check that the environment variable it comes from is set (got undefined)",
    make: storeOf({ client: claiming, table: undefined }),
  },
  {
    made: "puts SQL into the table's name",
    reportedBy: "error",
    text: "`table` must be the name of a table",
    make: () => messageOf(() => postgresSchema({ table: "records; DROP TABLE orders" })),
  },
  {
    made: "hasn't run the SQL from `postgresSchema`",
    reportedBy: "error",
    text: 'the idempotency store refused INSERT on records (42P01, the table doesn\'t exist: run the SQL from postgresSchema({ table: "records" }), or add its schema to the name), and will refuse it again',
    make: asking("42P01"),
  },
  {
    made: "has a table with different columns",
    reportedBy: "error",
    text: '42703, the table differs from postgresSchema({ table: "records" }): compare the columns and keys',
    make: asking("42703"),
  },
  {
    made: "gives the function's role no privilege on the table",
    reportedBy: "error",
    text: "42501, the role of this client lacks a privilege on records: it needs SELECT, INSERT and UPDATE, and DELETE to reap",
    make: asking("42501"),
  },
  {
    made: "commits SQL as a string",
    reportedBy: "error",
    text: "writes[0] must be a function that accepts the transaction's client: writes: async (client) => { … }",
    make: committing({ writes: ["INSERT INTO orders VALUES (1)"] }),
  },
  {
    made: "commits SQL to DynamoDB",
    reportedBy: "type",
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
    reportedBy: "error",
    text: "commit expects the result first, then { writes, messages } (got only { writes, messages })",
    make: () => {
      const store = new PostgresStore({ client: claiming, table: "records" });
      const options = { operation: "order", store, leaseSeconds: 30 };
      return messageOf(() =>
        runOnce(options, "key", {}, ({ commit }) => commit({ writes: async () => {} } as never)),
      );
    },
  },
  {
    made: "reaps in batches of 0",
    reportedBy: "error",
    text: "`batchSize` must be a whole number between 1 and 100000 (got 0)",
    make: () =>
      messageOf(() => new PostgresStore({ client: claiming, table: "records" }).reap({ batchSize: 0 })),
  },
];
