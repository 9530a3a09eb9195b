/** A transaction that is ended from outside: clients know transactions as long as a function only. */
import type { SqlClient, SqlTransaction } from "./sql-client.ts";

export interface OpenTransaction<Client> extends SqlTransaction<Client> {
  /** Rejects with the error of the client, also where nobody knows whether the commit was applied. */
  commit(): Promise<void>;
  /** Never rejects: the server rolls back what has lost its client. */
  rollback(): Promise<void>;
}

/** @throws the error of the client, where no transaction begins */
export function openTransaction<Client>(
  client: SqlClient<Client>,
  first: string | undefined,
): Promise<OpenTransaction<Client>> {
  return new Promise((resolve, reject) => {
    const ended: Promise<void> = client.transaction(
      (transaction) =>
        new Promise<void>((commit, rollBack) => {
          resolve({
            client: transaction.client,
            query: (text, values) => transaction.query(text, values),
            close: () => transaction.close(),
            commit: () => {
              commit();
              return ended;
            },
            rollback: () => {
              transaction.close();
              rollBack(new Error("rolled back"));
              return ended.catch(() => {});
            },
          });
        }),
      first,
    );
    ended.catch(reject);
  });
}
