/** The adapter for Knex. */
import { checkMethods } from "../core/option-checks.ts";
import { closable } from "./closable.ts";
import type { SqlClient, SqlRow, SqlTransaction, SqlValue } from "./sql-client.ts";

/** What runs statements in Knex: a database, or a transaction. */
export interface KnexTransaction {
  raw(text: string, values: readonly SqlValue[]): PromiseLike<{ readonly rows: object[] }>;
}

/** What the functions in `writes` of a commit get. */
export interface KnexOpenTransaction extends KnexTransaction {
  isCompleted(): boolean;
}

/** What `knex({ client: "pg", … })` answers. */
export interface KnexDatabase<Transaction extends KnexOpenTransaction> extends KnexTransaction {
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/**
 * Makes a `SqlClient` of Knex, over its client `pg`. The functions in `writes` of a commit get the transaction of Knex, and
 * must neither `commit` nor `rollback` it.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromKnex<Transaction extends KnexOpenTransaction>(
  knex: KnexDatabase<Transaction>,
): SqlClient<Transaction> {
  checkMethods("knex", knex, ["raw", "transaction"], 'give what `knex({ client: "pg" })` answers');
  return {
    query: (text, values) => rowsOf(knex, text, values),
    transaction: async <T>(
      work: (transaction: SqlTransaction<Transaction>) => Promise<T>,
      first?: string,
    ) => {
      let working: Promise<T> | undefined;
      let isWorking = true;
      try {
        await knex.transaction(async (transaction) => {
          const { client, close } = closable(transaction, "everything");
          if (first) await rowsOf(transaction, first, []);
          working = work({ client, query: (text, values) => rowsWithin(transaction, text, values), close });
          await working.finally(() => {
            isWorking = false;
          });
        });
      } catch (error) {
        if (isWorking) await working;
        throw error;
      }
      // Knex is over where somebody ends the transaction, which `work` has yet to find out.
      return working as Promise<T>;
    },
  };
}

/** In the words of the server, as Knex asks nothing more once somebody has ended the transaction. */
async function rowsWithin(
  client: KnexOpenTransaction,
  text: string,
  values: readonly SqlValue[],
): Promise<readonly SqlRow[]> {
  if (client.isCompleted())
    throw Object.assign(new Error("the transaction is over"), { code: "25P01", severity: "ERROR" });
  return rowsOf(client, text, values);
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
