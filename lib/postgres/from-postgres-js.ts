/** The adapter for `postgres` (postgres.js). */
import { systemClock } from "../core/clock.ts";
import { checkMethods } from "../core/option-checks.ts";
import { textOf } from "./answers.ts";
import { closable } from "./closable.ts";
import { AbortedTransactionError } from "./failures.ts";
import { type PostgresPrepareOptions, prepareOf } from "./options.ts";
import { preparing } from "./preparing.ts";
import type { SqlClient, SqlRow, SqlTransaction, SqlValue } from "./sql-client.ts";

/** The `sql` within a transaction. */
export interface PostgresJsTransaction {
  unsafe(
    text: string,
    values?: (string | number | boolean | null)[],
    options?: { prepare?: boolean },
  ): PromiseLike<readonly object[]>;
}

/** The `sql` that `postgres()` returns. */
export interface PostgresJsSql<Transaction extends PostgresJsTransaction> extends PostgresJsTransaction {
  readonly options?: { readonly prepare?: boolean };
  begin<T>(work: (sql: Transaction) => T | Promise<T>): Promise<unknown>;
  begin<T>(options: string, work: (sql: Transaction) => T | Promise<T>): Promise<unknown>;
}

/**
 * Makes a `SqlClient` from the `sql` of postgres.js. Functions in the `writes` of a commit receive the transaction's `sql`, as
 * with `sql.begin`. Await each statement there, because postgres.js doesn't run it otherwise. With a transaction pooler, pass
 * `prepare: false` to `postgres()`, which also saves a round trip per commit with writes.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromPostgresJs<Transaction extends PostgresJsTransaction>(
  sql: PostgresJsSql<Transaction>,
  options: PostgresPrepareOptions = {},
): SqlClient<Transaction> {
  checkMethods("sql", sql, ["unsafe", "begin"], "the result of `postgres()`");
  const prepare = prepareOf(options);
  // postgres.js names them itself.
  const { alone, nameWithin } = preparing(sql, prepare ?? (namesStatements(sql) ? undefined : false), () =>
    isDirect(sql),
  );
  const rowsIn = async (
    client: PostgresJsTransaction,
    text: string,
    values: readonly SqlValue[],
    name: string | undefined,
  ) => (await client.unsafe(text, [...values], { prepare: name !== undefined })) as readonly SqlRow[];
  return {
    query: (text, values) => alone(text, (name) => rowsIn(sql, text, values, name)),
    transaction: <T>(work: (transaction: SqlTransaction<Transaction>) => Promise<T>, first?: string) =>
      withinBegin<Transaction, T>(
        (run) => sql.begin(run),
        async (transaction, session) => {
          const { client, close } = closable(transaction);
          session.close = close;
          const query = (text: string, values: readonly SqlValue[] = []) =>
            session.run(() => rowsIn(transaction, text, values, nameWithin(text)));
          if (first) await query(first);
          const result = await work({ client, query, close });
          if (namesStatements(sql)) await commitUnnamed((text) => query(text) as CommandAnswer);
          return result;
        },
      ),
  };
}

async function isDirect(sql: PostgresJsTransaction): Promise<boolean> {
  const rows = await sql.unsafe("SELECT pg_backend_pid()::text AS pid");
  const { state } = rows as { readonly state?: { readonly pid?: unknown } };
  return textOf(rows[0] as SqlRow) === `${state?.pid}`;
}

/** A postgres.js transaction, until it ends or its connection is lost. */
export interface BegunSession {
  close: () => void;
  /** Runs a statement of the store. Rejects once the session is over. */
  run<T>(statement: () => Promise<T>): Promise<T>;
}

/** How long a connection may take to close after an error that announces it. */
const CLOSING_MS = 1000;

/**
 * Runs `work` within a postgres.js `begin`, and rejects as soon as the connection is lost, even if `work` is waiting. After that
 * postgres.js would still send statements: to nowhere, which ends the process, or into another transaction
 * (https://github.com/porsager/postgres/issues/1208). So `work` is cut off at that point: its client is closed, and its result,
 * which would make postgres.js send COMMIT or ROLLBACK, never reaches it.
 */
export async function withinBegin<Transaction, T>(
  begin: (run: (transaction: Transaction) => Promise<{ readonly result: T }>) => Promise<unknown>,
  work: (transaction: Transaction, session: BegunSession) => Promise<T>,
): Promise<T> {
  let isOver = false;
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const session: BegunSession = {
    close: () => {},
    run: async (statement) => {
      if (isOver) throw Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
      return statement();
    },
  };
  try {
    const done = await begin(async (transaction) => {
      try {
        const result = await work(transaction, session);
        // Wrapped in an object: postgres.js awaits the members of an array.
        return isOver ? await never() : { result };
      } catch (error) {
        // Such an error may also come from elsewhere, while this connection is fine.
        if (isLost(error)) await Promise.race([over, systemClock.sleep(CLOSING_MS)]);
        if (isOver) await never();
        throw error;
      }
    });
    return (done as { readonly result: T }).result;
  } finally {
    isOver = true;
    end();
    session.close();
  }
}

/** The result of a postgres.js statement, including its command tag. */
export type CommandAnswer = PromiseLike<{ readonly command?: string }>;

/** Whether an `sql` prepares named statements, which is its default. */
export const namesStatements = ({ options }: Pick<PostgresJsSql<never>, "options">): boolean =>
  options?.prepare !== false;

/**
 * Commits with an unnamed statement, and leaves an empty transaction to the COMMIT of postgres.js. That COMMIT is named, and a
 * server after a pooler may not know the name. The transaction is then aborted, postgres.js sends its COMMIT again, and treats
 * the answer, ROLLBACK, as success (https://github.com/porsager/postgres/pull/1212).
 */
export async function commitUnnamed(run: (text: string) => CommandAnswer): Promise<void> {
  // In one round trip.
  const [{ command }] = await Promise.all([run("COMMIT"), run("BEGIN")]);
  if (command === "ROLLBACK") throw new AbortedTransactionError();
}

const never = (): Promise<never> => new Promise(() => {});

/** The connection is closed, or about to be, according to the server or the socket. */
function isLost(error: unknown): boolean {
  for (let each = error; each; each = (each as { cause?: unknown }).cause) {
    const { code, severity } = Object(each) as { code?: unknown; severity?: unknown };
    if (/^(FATAL|PANIC)$/.test(`${severity}`)) return true;
    if (/^(CONNECTION_(CLOSED|DESTROYED)|ECONNRESET|EPIPE|ETIMEDOUT)$/.test(`${code}`)) return true;
  }
  return false;
}
