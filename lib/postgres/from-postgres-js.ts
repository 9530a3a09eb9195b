/** The adapter for `postgres` (postgres.js). */
import { checkMethods } from "../core/option-checks.ts";
import { closable } from "./closable.ts";
import { AbortedTransactionError } from "./failures.ts";
import { type PostgresPrepareOptions, prepares } from "./options.ts";
import type { SqlClient, SqlRow, SqlValue } from "./sql-client.ts";

/** The `sql` within a transaction. */
export interface PostgresJsTransaction {
  unsafe(
    text: string,
    values?: (string | number | boolean | null)[],
    options?: { prepare?: boolean },
  ): PromiseLike<readonly object[]>;
}

/** The `sql` that `postgres()` answers. */
export interface PostgresJsSql<Transaction extends PostgresJsTransaction> extends PostgresJsTransaction {
  readonly options?: { readonly prepare?: boolean };
  begin<T>(work: (sql: Transaction) => T | Promise<T>): Promise<unknown>;
  begin<T>(options: string, work: (sql: Transaction) => T | Promise<T>): Promise<unknown>;
}

/**
 * Makes a `SqlClient` of the `sql` of postgres.js. The functions in `writes` of a commit get the `sql` of the transaction, as
 * with `sql.begin`. Await each statement there: postgres.js runs no other. Behind a pooler of transactions give `postgres()` the
 * option `prepare: false`, which also saves a round trip of each commit with writes.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromPostgresJs<Transaction extends PostgresJsTransaction>(
  sql: PostgresJsSql<Transaction>,
  options: PostgresPrepareOptions = {},
): SqlClient<Transaction> {
  checkMethods("sql", sql, ["unsafe", "begin"], "give what `postgres()` answers");
  const prepare = prepares(options);
  const rowsIn = async (client: PostgresJsTransaction, text: string, values: readonly SqlValue[]) =>
    (await client.unsafe(text, [...values], { prepare })) as readonly SqlRow[];
  return {
    query: (text, values) => rowsIn(sql, text, values),
    transaction: async (work, first) => {
      const begun = { isOver: false, close() {} };
      try {
        const done = await sql.begin(async (transaction) => {
          const { client, close } = closable(transaction);
          begun.close = close;
          const query = (text: string, values: readonly SqlValue[] = []) =>
            begun.isOver ? never() : rowsIn(transaction, text, values);
          const result = await unlessLost(begun, async () => {
            if (first) await query(first);
            const answer = await work({ client, query, close });
            if (namesStatements(sql)) await commitUnnamed((text) => query(text) as CommandAnswer);
            return answer;
          });
          // In an object: a list would be awaited as a list of statements.
          return { result };
        });
        return (done as { readonly result: Awaited<ReturnType<typeof work>> }).result;
      } finally {
        begun.isOver = true;
        begun.close();
      }
    },
  };
}

/**
 * postgres.js rejects `begin` when the connection is lost. What comes later it sends all the same: into nothing, which ends the
 * process, or into another transaction (https://github.com/porsager/postgres/issues/1208). So work on a lost connection never
 * ends.
 */
async function unlessLost<T>(begun: { readonly isOver: boolean }, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    return begun.isOver ? never() : result;
  } catch (error) {
    if (begun.isOver || isLost(error)) await never();
    throw error;
  }
}

/** What postgres.js answers to a statement, with the tag of its command. */
export type CommandAnswer = PromiseLike<{ readonly command?: string }>;

/** Whether an `sql` prepares statements under names, as it does unless it is told not to. */
export const namesStatements = ({ options }: Pick<PostgresJsSql<never>, "options">): boolean =>
  options?.prepare !== false;

/**
 * Commits by a statement without a name, and leaves an empty transaction to the COMMIT of postgres.js. That one has a name, and behind
 * a pooler the server may not know it. Then the transaction is aborted, postgres.js sends its COMMIT again, and takes the
 * answer, ROLLBACK, for success (https://github.com/porsager/postgres/pull/1212).
 */
export async function commitUnnamed(run: (text: string) => CommandAnswer): Promise<void> {
  // In one round trip.
  const [{ command }] = await Promise.all([run("COMMIT"), run("BEGIN")]);
  if (command === "ROLLBACK") throw new AbortedTransactionError();
}

const never = (): Promise<never> => new Promise(() => {});

/** The connection is closed, or about to be: the server has said so, or the socket. */
function isLost(error: unknown): boolean {
  for (let each = error; each; each = (each as { cause?: unknown }).cause) {
    const { code, severity } = Object(each) as { code?: unknown; severity?: unknown };
    if (/^(FATAL|PANIC)$/.test(`${severity}`)) return true;
    if (/^(CONNECTION_(CLOSED|DESTROYED)|ECONNRESET|EPIPE|ETIMEDOUT)$/.test(`${code}`)) return true;
  }
  return false;
}
