/** The differences between PostgreSQL and Aurora DSQL that are not in single statements. */

/** The database behind the client: PostgreSQL 13 or later with all that is compatible with it, or Aurora DSQL. */
export type SqlDialect = "postgresql" | "dsql";

/**
 * A process that is frozen between two statements keeps its locks, and everybody waits who asks for the key. PostgreSQL ends
 * such a transaction after 10 seconds without a statement. DSQL has no locks that others wait for, and no such setting.
 * @param waitMs how long a statement waits for a lock, where that is not the server's matter
 */
export function firstStatement(dialect: SqlDialect | undefined, waitMs?: number): string | undefined {
  if (dialect === "dsql") return undefined;
  if (waitMs === undefined) return "SET LOCAL idle_in_transaction_session_timeout = 10000";
  // Two settings by one statement: some clients take no second one.
  return `SELECT set_config('idle_in_transaction_session_timeout', '10000', true), set_config('lock_timeout', '${waitMs}', true)`;
}

/** The most records that one `reap` deletes: DSQL changes 3,000 rows in a transaction. */
export function maxReaped(dialect: SqlDialect | undefined): number {
  return dialect === "dsql" ? 3000 : 100_000;
}
