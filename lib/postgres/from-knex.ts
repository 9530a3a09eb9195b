/** The adapter for Knex. */
import type { SqlClient, SqlRow, SqlValue } from "./sql-client.ts";

/** What runs statements in Knex: a database, or a transaction. */
export interface KnexTransaction {
  raw(text: string, values: readonly SqlValue[]): PromiseLike<{ readonly rows: object[] }>;
}

/** What `knex({ client: "pg", … })` answers. */
export interface KnexDatabase<Transaction extends KnexTransaction> extends KnexTransaction {
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/**
 * Makes a `SqlClient` of Knex, over its client `pg`. The functions in `writes` of a commit get the transaction of Knex, and
 * must neither `commit` nor `rollback` it.
 */
export function fromKnex<Transaction extends KnexTransaction>(
  knex: KnexDatabase<Transaction>,
): SqlClient<Transaction> {
  return {
    query: (text, values) => rowsOf(knex, text, values),
    transaction: (work, first) =>
      knex.transaction(async (client) => {
        if (first) await rowsOf(client, first, []);
        return work({ client, query: (text, values) => rowsOf(client, text, values) });
      }),
  };
}

/** Knex numbers the values itself, in the order in which they stand. */
async function rowsOf(
  knex: KnexTransaction,
  text: string,
  values: readonly SqlValue[],
): Promise<readonly SqlRow[]> {
  const inOrder: SqlValue[] = [];
  const counted = text.replace(/\$(\d+)/g, (_, place) => {
    inOrder.push(values[place - 1] as SqlValue);
    return "?";
  });
  const { rows } = await knex.raw(counted, inOrder);
  return rows as readonly SqlRow[];
}
