/** The adapter for Knex. */
import { checkMethods } from "../core/option-checks.ts";
import { closable } from "./closable.ts";
import type { SqlClient, SqlRow, SqlTransaction, SqlValue } from "./sql-client.ts";

/** A Knex database or transaction, which runs statements. */
export interface KnexTransaction {
  raw(text: string, values: readonly SqlValue[]): PromiseLike<{ readonly rows: object[] }>;
}

/** Passed to functions in the `writes` of a commit. */
export interface KnexOpenTransaction extends KnexTransaction {
  isCompleted(): boolean;
}

/** The result of `knex({ client: "pg", … })`. */
export interface KnexDatabase<Transaction extends KnexOpenTransaction> extends KnexTransaction {
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/**
 * Makes a `SqlClient` from Knex with its `pg` client. Functions in the `writes` of a commit receive the Knex transaction, and
 * must not `commit` or `rollback` it.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromKnex<Transaction extends KnexOpenTransaction>(
  knex: KnexDatabase<Transaction>,
): SqlClient<Transaction> {
  checkMethods("knex", knex, ["raw", "transaction"], 'the result of `knex({ client: "pg" })`');
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
      // Knex settles once the transaction is ended from elsewhere, which `work` has yet to notice.
      return working as Promise<T>;
    },
  };
}

/** Throws the server's error, because Knex sends nothing more once the transaction has been ended. */
async function rowsWithin(
  client: KnexOpenTransaction,
  text: string,
  values: readonly SqlValue[],
): Promise<readonly SqlRow[]> {
  if (client.isCompleted())
    throw Object.assign(new Error("the transaction has ended"), { code: "25P01", severity: "ERROR" });
  return rowsOf(client, text, values);
}

/** Knex numbers the values itself, in order of appearance. */
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
