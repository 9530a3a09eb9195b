// A shop whose orders are booked within transactions, over a server whose connections are lost.
import { type Execution, runOnce } from "onceonly";
import {
  fromPg,
  fromPostgresJs,
  PostgresStore,
  PostgresTransactions,
  type SqlClient,
} from "onceonly/postgres";
import { fakeClock } from "onceonly/testing";
import type pg from "pg";
import type postgres from "postgres";
import { afterAll, beforeAll } from "vitest";
import { type Cut, type CuttingProxy, startCuttingProxy } from "../kit/faults/cutting-proxy.ts";
import { bouncerPort, freshTable, hasServer, poolOf, portOf, sqlOf, storeOf } from "./given.ts";
import { ORMS, type Orm } from "./orms-given.ts";

export type Connect = (port: number) => Orm<never>;
type PostgresOptions = Parameters<typeof sqlOf>[1];

export const withPg = (at: number, options: pg.PoolConfig = {}): Orm<never> => ({
  client: fromPg(poolOf(at, options)) as SqlClient<never>,
  run: (client: pg.PoolClient, text: string) => client.query(text),
});

export const withPostgresJs = (at: number, options: PostgresOptions = {}): Orm<never> => ({
  client: fromPostgresJs(sqlOf(at, { max: 2, ...options })) as SqlClient<never>,
  run: (sql: postgres.TransactionSql, text: string) => sql.unsafe(text),
});

export const CONNECTS: Record<string, Connect> = {
  pg: withPg,
  "postgres.js": withPostgresJs,
  "postgres.js, which names no statements": (at) => withPostgresJs(at, { prepare: false }),
  ...ORMS,
};

type Insert = () => Promise<unknown>;

/** @param through what stands between the clients and the server, behind the proxy that loses connections */
export function lossyServer(through?: "PgBouncer") {
  /** Other files end sessions on the same server. */
  const prefix = `orders_${freshTable()}`;
  let port: number;
  let shops = 0;
  let admin: pg.Pool;
  let proxy: CuttingProxy;
  beforeAll(async () => {
    if (!hasServer) return;
    port = await portOf();
    admin = poolOf(port);
    proxy = await startCuttingProxy(through ? await bouncerPort() : port);
  });
  afterAll(() => proxy?.close());

  async function shop(connect: Connect, kind: "within" | "writes" = "within") {
    const { table } = await storeOf(fromPg(admin));
    const orders = `${prefix}_${shops++}`;
    await admin.query(`CREATE TABLE ${orders} (id text)`);
    const insertion = `INSERT INTO ${orders} VALUES ('a')`;
    const clock = fakeClock(Date.now());
    const caller = ({ client, run }: Orm<never>) => {
      const within = new PostgresTransactions({ client, table, waitSeconds: 20 });
      const store = kind === "within" ? within : new PostgresStore({ client, table });
      const insert = (transaction: never) => run(transaction, insertion);
      const options = { operation: "order", store: store as never, leaseSeconds: 30, clock };
      const bookBy = (
        work: (insert: Insert, execution: Execution<never>) => Promise<unknown>,
        changed: { readonly renewLease?: boolean } = {},
      ) =>
        runOnce<unknown, never>(
          { ...options, ...changed, isFinalError: () => true },
          "key",
          {},
          (execution) => {
            const transaction = within.clientOf(execution) as never;
            return work(async () => insert(transaction), execution);
          },
        );
      const book = (meanwhile: () => unknown = () => {}, isFinalError = () => true) =>
        runOnce<unknown, never>({ ...options, isFinalError }, "key", {}, async (execution) => {
          if (kind === "writes") {
            await meanwhile();
            return execution.commit("booked", { writes: insert as never });
          }
          await insert(within.clientOf(execution) as never);
          await meanwhile();
          return "booked";
        });
      return { book, bookBy };
    };
    const rows = async (text: string) => (await admin.query(text)).rows.map((row) => Object.values(row)[0]);
    return {
      ...caller(connect(proxy.port)),
      /** Over a connection without faults. */
      bookElsewhere: caller(withPg(port)).book,
      clock,
      /** The fault meets the handler's next statement, whatever else the clients send meanwhile. */
      cutAtInsert: (cut: Cut) => proxy.cutAt(insertion, cut),
      /** The server ends the session of the handler, as it does by itself after 10 seconds without a statement. */
      endIdleSession: () => terminate(`(query LIKE '%${table}%' OR query LIKE '%${orders}%')`),
      ids: () => rows(`SELECT id FROM ${orders}`),
      states: () => rows(`SELECT state FROM ${table}`),
    };
  }

  /** Ends each backend that is within such a transaction, as a failover or an administrator does. */
  async function terminate(condition: string): Promise<void> {
    await admin.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE state = 'idle in transaction' AND ${condition}`,
    );
  }

  return {
    shop,
    endSessions: () => terminate(`query LIKE '%${prefix}%'`),
    get proxy() {
      return proxy;
    },
  };
}
