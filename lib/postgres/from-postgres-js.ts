/** The adapter for `postgres` (postgres.js). */
import { type Closable, closable } from "./closable.ts";
import type { SqlClient, SqlRow, SqlTransaction, SqlValue } from "./sql-client.ts";

/** The `sql` within a transaction. */
export interface PostgresJsTransaction {
  unsafe(text: string, values?: (string | number | boolean | null)[]): PromiseLike<readonly object[]>;
}

/** The `sql` that `postgres()` answers. */
export interface PostgresJsSql<Transaction extends PostgresJsTransaction> extends PostgresJsTransaction {
  begin<T>(work: (sql: Transaction) => T | Promise<T>): Promise<unknown>;
  begin<T>(options: string, work: (sql: Transaction) => T | Promise<T>): Promise<unknown>;
}

/**
 * Makes a `SqlClient` of the `sql` of postgres.js. The functions in `writes` of a commit get the `sql` of the transaction, as
 * with `sql.begin`. Await each statement there: postgres.js runs no other.
 */
export function fromPostgresJs<Transaction extends PostgresJsTransaction>(
  sql: PostgresJsSql<Transaction>,
): SqlClient<Transaction> {
  return {
    query: (text, values) => rowsOf(sql, text, values),
    transaction: async (work, first) => {
      let ending: (() => void) | undefined;
      try {
        const done = await sql.begin(async (client) => {
          const open = closable(client);
          ending = open.close;
          // In an object: a list would be awaited as a list of statements.
          return { result: await within(open, work, first) };
        });
        return (done as { readonly result: Awaited<ReturnType<typeof work>> }).result;
      } finally {
        ending?.();
      }
    },
  };
}

/**
 * postgres.js rejects `begin` when the connection is lost. What comes later it sends all the same: into nothing, which ends the
 * process, or into another transaction (https://github.com/porsager/postgres/issues/1208). So work on a lost connection never
 * ends.
 */
async function within<Client extends PostgresJsTransaction, T>(
  { client, isClosed }: Closable<Client>,
  work: (transaction: SqlTransaction<Client>) => Promise<T>,
  first: string | undefined,
): Promise<T> {
  let result: T;
  try {
    if (first) await client.unsafe(first);
    result = await work({ client, query: (text, values) => rowsOf(client, text, values) });
  } catch (error) {
    if (isClosed() || isLost(error)) await never();
    throw error;
  }
  return isClosed() ? never() : result;
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

async function rowsOf(
  sql: PostgresJsTransaction,
  text: string,
  values: readonly SqlValue[],
): Promise<readonly SqlRow[]> {
  return (await sql.unsafe(text, [...values])) as readonly SqlRow[];
}
