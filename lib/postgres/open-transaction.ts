/** A transaction that is ended from outside: clients only offer transactions that last as long as a function. */
import { answerWithin } from "../core/answer-within.ts";
import { systemClock } from "../core/clock.ts";
import type { SqlClient, SqlTransaction } from "./sql-client.ts";

export interface OpenTransaction<Client> extends SqlTransaction<Client> {
  /** Rejects with the client's error, also if it's unknown whether the commit was applied. */
  commit(): Promise<void>;
  /**
   * Never rejects, because the server rolls back a transaction that has lost its client. Resolves to the error that ended the
   * transaction earlier, if one did, also if the server doesn't answer in time.
   */
  rollback(): Promise<{ readonly lostBy: unknown } | undefined>;
}

/** How long the server has for a ROLLBACK. */
export const ROLLBACK_MS = 5000;

export const noRollback = () => new Error(`no answer to ROLLBACK in ${ROLLBACK_MS} ms`);

/** @throws the client's error if no transaction begins */
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
            // A client may never answer a statement whose connection was lost, but it does end the transaction.
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
              return answerWithin(systemClock, ROLLBACK_MS, ended, noRollback, "background").then(
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
