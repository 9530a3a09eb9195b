/** Statements that are transactions by themselves. */
import { isLostConnection, storeFailure } from "./failures.ts";
import type { SqlClient, SqlRow } from "./sql-client.ts";
import type { SqlStatement } from "./statement.ts";

/** One of two conflicting statements is applied, so there are fewer with each try. */
const MAX_TRIES = 8;

/**
 * Repeats a statement after a conflict, when nothing of it was applied. The conflict may be with another key, because a
 * serializable database may confuse two rows of one page. Connections that idled in a frozen process, or to a server that failed
 * over, are lost: the statement is tried once more on another one. The token shows whether the first try was applied.
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
