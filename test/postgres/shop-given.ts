// A shop on PostgreSQL: a table of orders, and a handler's call that writes to it.
import { type DecisionEvent, type Execution, runOnce } from "onceonly";
import type { EngineOptions } from "onceonly/store-kit";
import type { SqlClient } from "../../lib/postgres/sql-client.ts";
import type { PostgresWrite } from "../../lib/postgres/writes.ts";
import { freshTable, storeOf } from "./given.ts";

export async function shopOf<Client>(client: SqlClient<Client>, behind: SqlClient = client) {
  const { store, table } = await storeOf(client);
  const orders = freshTable();
  await behind.query(`CREATE TABLE ${orders} (id text PRIMARY KEY, seats integer NOT NULL DEFAULT 1)`, []);
  const events: DecisionEvent[] = [];
  let runs = 0;

  const rowsOf = async (text: string) => (await behind.query(text, [])).map((row) => Object.values(row)[0]);

  return {
    store,
    table,
    orders,
    /** How often a handler ran. */
    runs: () => runs,
    decisions: () => events.map(({ decision }) => decision),
    /** The ids of the orders. */
    ids: () => rowsOf(`SELECT id FROM ${orders} ORDER BY id`),
    /** The states of the records. */
    states: () => rowsOf(`SELECT state FROM ${table} ORDER BY pk`),
    call: <T>(
      work: (execution: Execution<PostgresWrite<Client>>) => T | Promise<T>,
      { key = "key", ...options }: { key?: string } & Partial<EngineOptions<PostgresWrite<Client>>> = {},
    ) =>
      runOnce(
        {
          operation: "order",
          store,
          leaseSeconds: 30,
          observe: (event) => void events.push(event),
          ...options,
        },
        key,
        {},
        (execution) => {
          runs++;
          return work(execution);
        },
      ),
  };
}
