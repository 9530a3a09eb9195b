/** The adapter for Drizzle, with any PostgreSQL driver that has interactive transactions. */

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

/** A Drizzle database or transaction, which runs statements. */
export interface DrizzleTransaction {
  execute(query: { getSQL(): unknown } | string): PromiseLike<unknown>;
}

/** A Drizzle database, such as `drizzle(pool)`. */
export interface DrizzleDatabase<Transaction extends DrizzleTransaction> extends DrizzleTransaction {
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** The client that `drizzle` was given or created. */
  readonly $client?: unknown;
}

/**
 * Makes a `SqlClient` from a Drizzle database. Functions in the `writes` of a commit receive the Drizzle transaction.
 * `drizzle-orm/neon-http` has no transactions, so commits with writes fail.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) for `drizzle(client)` with a single `pg` `Client`, on which the transactions of
 * two calls would be one.
 */
export function fromDrizzle<Transaction extends DrizzleTransaction>(
  db: DrizzleDatabase<Transaction>,
): SqlClient<Transaction> {
  checkMethods("db", db, ["execute", "transaction"], "the result of `drizzle(pool)`");
  if (isSingle(db.$client)) {
    throw new InvalidOptionError(
      "db",
      "must use a pool: two calls on a single `Client` would share a transaction, and one would commit or roll back what the other wrote. Pass `drizzle(pool)`, with `max: 1` if you can only have one connection",
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

/** A `pg` pool counts its connections, and postgres.js is a function. An in-process database has no `connect`. */
function isSingle(client: unknown): boolean {
  const { connect, query, totalCount } = Object(client) as Record<string, unknown>;
  return typeof connect === "function" && typeof query === "function" && totalCount === undefined;
}

/**
 * Drizzle asks a statement for its text and values, so values stay separate and Drizzle need not be imported. Its errors contain
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
