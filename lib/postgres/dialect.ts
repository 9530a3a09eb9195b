/** Differences between PostgreSQL and Aurora DSQL beyond single statements. */

/** The database behind the client: PostgreSQL 13 or later and databases compatible with it, or Aurora DSQL. */
export type SqlDialect = "postgresql" | "dsql";

/**
 * A process that freezes between two statements keeps its locks, and every caller with that key waits. PostgreSQL ends such a
 * transaction after 10 seconds without a statement. DSQL has neither locks to wait for nor such a setting.
 * @param waitMs how long a statement waits for a lock, if not the server's default
 */
export function firstStatement(dialect: SqlDialect | undefined, waitMs?: number): string | undefined {
  if (dialect === "dsql") return undefined;
  if (waitMs === undefined) return "SET LOCAL idle_in_transaction_session_timeout = 10000";
  // Both settings in one statement: some clients accept only one.
  return `SELECT set_config('idle_in_transaction_session_timeout', '10000', true), set_config('lock_timeout', '${waitMs}', true)`;
}

/** The most records that one `reap` deletes: DSQL changes at most 3,000 rows in a transaction. */
export function maxReaped(dialect: SqlDialect | undefined): number {
  return dialect === "dsql" ? 3000 : 100_000;
}
