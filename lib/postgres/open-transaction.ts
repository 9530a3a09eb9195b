/** A transaction that is ended from outside: clients know transactions as long as a function only. */
import type { SqlClient, SqlTransaction } from "./sql-client.ts";

export interface OpenTransaction<Client> extends SqlTransaction<Client> {
  /** Rejects with the error of the client, also where nobody knows whether the commit was applied. */
  commit(): Promise<void>;
  /**
   * Never rejects, because the server rolls back a transaction that has lost its client. Resolves to the error that ended the
   * transaction before, if one did.
   */
  rollback(): Promise<{ readonly lostBy: unknown } | undefined>;
}

/** @throws the error of the client, where no transaction begins */
export function openTransaction<Client>(
  client: SqlClient<Client>,
  first: string | undefined,
): Promise<OpenTransaction<Client>> {
  const ours = new Error("rolled back");
  return new Promise((resolve, reject) => {
    const ended: Promise<void> = client.transaction(
      (transaction) =>
        new Promise<void>((commit, rollBack) => {
          resolve({
            client: transaction.client,
            // A client may never answer a statement whose connection was lost, but it ends the transaction.
            query: (text, values) =>
              Promise.race([transaction.query(text, values), ended as Promise<unknown> as Promise<never>]),
            close: () => transaction.close(),
            commit: () => {
              commit();
              return ended;
            },
            rollback: () => {
              transaction.close();
              rollBack(ours);
              return ended.then(
                () => undefined,
                (lostBy: unknown) => (lostBy === ours ? undefined : { lostBy }),
              );
            },
          });
        }),
      first,
    );
    ended.catch(reject);
  });
}
