/** Statements that are a transaction of their own. */
import { isLostConnection, storeFailure } from "./failures.ts";
import type { SqlClient, SqlRow } from "./sql-client.ts";
import type { SqlStatement } from "./statement.ts";

/** One of two that conflict is applied: with each try there are fewer. */
const MAX_TRIES = 8;

/**
 * Repeats a statement after a conflict: nothing of it was applied. The conflict may be with another key, since a database that
 * is serializable may take two rows of one page for one. Connections that idled in a frozen process, or to a server that failed
 * over, are lost: another one is asked once. The token tells where the first try was applied.
 * @throws StoreUnavailableError (`STORE_UNAVAILABLE`)
 */
export async function runAlone(
  client: SqlClient,
  table: string,
  { action, text, values }: SqlStatement,
): Promise<readonly SqlRow[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await client.query(text, values);
    } catch (error) {
      const failure = storeFailure(error, action, table);
      const mayPass = failure.failure === "conflict" || (tries === 1 && isLostConnection(failure));
      if (tries === MAX_TRIES || !mayPass) throw failure;
    }
  }
}
