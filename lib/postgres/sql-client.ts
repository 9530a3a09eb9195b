/** The port between the store and a client of PostgreSQL. An adapter makes one of a user's client; no client is imported. */

export type SqlValue = string | number | boolean | null;

/** The columns by their names, in their order. The store reads one column of text, so that type parsers do not matter. */
export type SqlRow = Readonly<Record<string, unknown>>;

export interface SqlTransaction<Client> {
  /** What `writes` of a commit get: the user's own client, within the transaction. */
  readonly client: Client;
  query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /**
   * From now on `client` refuses statements, and `query` takes the last one. The store calls it before that one and before a rollback. Otherwise
   * a statement that isn't awaited would run after them. After a rollback it would be a transaction of its own. Before the COMMIT its
   * failure would make the server answer by ROLLBACK, which many clients take for success.
   */
  close(): void;
}

/** `Client` is what the functions in `writes` of a commit get. */
export interface SqlClient<Client = unknown> {
  /** `true` where one connection serves all calls, each in its turn. PostgresTransactions refuses such a client. */
  readonly isSingle?: boolean;

  /** Runs one statement in a transaction of its own. Rejects with the client's own error. */
  query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>;

  /**
   * Runs `work` in one transaction on one connection. Nobody else uses that connection meanwhile. The statement `first`, where
   * there is one, comes before `work`. Resolves to what `work` resolves to, after the server has confirmed the commit.
   * If `work` rejects, it rolls back and rejects with the same error. If it cannot roll back, or does not know whether the
   * commit was applied, it rejects with the client's error.
   */
  transaction<T>(work: (transaction: SqlTransaction<Client>) => Promise<T>, first?: string): Promise<T>;
}
