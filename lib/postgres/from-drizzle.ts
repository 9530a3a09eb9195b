/** The adapter for Drizzle, over any driver of PostgreSQL that has interactive transactions. */

import { InvalidOptionError } from "../core/errors.ts";
import { checkMethods } from "../core/option-checks.ts";
import { closable } from "./closable.ts";
import {
  type BegunSession,
  type CommandAnswer,
  commitUnnamed,
  namesStatements,
  type PostgresJsSql,
  withinBegin,
} from "./from-postgres-js.ts";
import type { SqlClient, SqlRow, SqlTransaction, SqlValue } from "./sql-client.ts";

/** What runs statements in Drizzle: a database, or a transaction. */
export interface DrizzleTransaction {
  execute(query: { getSQL(): unknown } | string): PromiseLike<unknown>;
}

/** A database of Drizzle, such as `drizzle(pool)`. */
export interface DrizzleDatabase<Transaction extends DrizzleTransaction> extends DrizzleTransaction {
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** What `drizzle` was given or has made. */
  readonly $client?: unknown;
}

/**
 * Makes a `SqlClient` of a database of Drizzle. The functions in `writes` of a commit get the transaction of Drizzle. Over
 * `drizzle-orm/neon-http` there are no transactions: commits with writes fail.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) for `drizzle(client)` over a single `Client` of `pg`: there the transactions of two
 * calls are one.
 */
export function fromDrizzle<Transaction extends DrizzleTransaction>(
  db: DrizzleDatabase<Transaction>,
): SqlClient<Transaction> {
  checkMethods("db", db, ["execute", "transaction"], "give what `drizzle(pool)` answers");
  if (isSingle(db.$client)) {
    throw new InvalidOptionError(
      "db",
      "must have a pool: over a single `Client` two calls would share a transaction, and one would commit or undo what the other has written. Give `drizzle(pool)`, with `max: 1` where one connection has to do",
    );
  }
  const overPostgresJs = isPostgresJs(db.$client);
  const isNamed = overPostgresJs && namesStatements(db.$client as PostgresJsSql<never>);
  return {
    query: (text, values) => rowsOf(db, text, values),
    transaction: <T>(
      work: (transaction: SqlTransaction<Transaction>) => Promise<T>,
      first?: string,
    ): Promise<T> => {
      const run = async (transaction: Transaction, session?: BegunSession) => {
        const { client, close } = closable(transaction, "everything");
        if (session) session.close = close;
        if (first) await transaction.execute(first);
        const query = (text: string, values: readonly SqlValue[]) => {
          const statement = () => rowsOf(transaction, text, values);
          return session ? session.run(statement) : statement();
        };
        const result = await work({ client, query, close });
        if (isNamed) await commitUnnamed((text) => transaction.execute(text) as CommandAnswer);
        return result;
      };
      if (!overPostgresJs) return db.transaction((transaction) => run(transaction));
      return withinBegin<Transaction, T>((inner) => db.transaction(inner), run);
    },
  };
}

const isPostgresJs = (client: unknown): client is PostgresJsSql<never> => typeof client === "function";

/** A pool of `pg` counts its connections, and postgres.js is a function. A database within the process has no `connect`. */
function isSingle(client: unknown): boolean {
  const { connect, query, totalCount } = Object(client) as Record<string, unknown>;
  return typeof connect === "function" && typeof query === "function" && totalCount === undefined;
}

/**
 * Drizzle asks a statement for its text and its values: so the values stay apart, and Drizzle is not imported. Its errors have
 * the values in their messages.
 */
async function rowsOf(
  db: DrizzleTransaction,
  text: string,
  values: readonly SqlValue[],
): Promise<readonly SqlRow[]> {
  const built = { toQuery: () => ({ sql: text, params: [...values] }) };
  const answer = await Promise.resolve(db.execute({ getSQL: () => built })).catch((error: unknown) => {
    throw (error as { readonly cause?: unknown }).cause ?? error;
  });
  return (Array.isArray(answer) ? answer : (answer as { readonly rows: SqlRow[] }).rows) as SqlRow[];
}
