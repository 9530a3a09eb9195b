/** The port between the store and a PostgreSQL client. An adapter wraps the caller's client; this library imports none. */

export type SqlValue = string | number | boolean | null;

/** Columns by name, in order. The store reads one text column, so type parsers don't matter. */
export type SqlRow = Readonly<Record<string, unknown>>;

export interface SqlTransaction<Client> {
  /** Passed to the `writes` of a commit: the caller's own client, within the transaction. */
  readonly client: Client;
  query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /**
   * After this, `client` refuses statements, and `query` accepts one last statement. The store calls it before that one and
   * before a rollback. Otherwise a statement that isn't awaited would run later: after a rollback as a separate transaction;
   * before the COMMIT, its failure would make the server answer with ROLLBACK, which many clients report as success.
   */
  close(): void;
}

/** `Client` is the type that functions in the `writes` of a commit receive. */
export interface SqlClient<Client = unknown> {
  /** `true` if one connection serves all calls in turn. PostgresTransactions refuses such a client. */
  readonly isSingle?: boolean;

  /** Runs one statement in a separate transaction. Rejects with the client's own error. */
  query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>;

  /**
   * Runs `work` in one transaction on one connection that nothing else uses meanwhile. The statement `first`, if given, runs
   * before `work`. Resolves to the result of `work` after the server has confirmed the commit. If `work` rejects, it rolls back
   * and rejects with the same error. If it can't roll back, or doesn't know whether the commit was applied, it rejects with the
   * client's error.
   */
  transaction<T>(work: (transaction: SqlTransaction<Client>) => Promise<T>, first?: string): Promise<T>;
}
