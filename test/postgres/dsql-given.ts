// Conflicts that are found at the commit, as in Aurora DSQL.
import type { SqlClient } from "../../lib/postgres/sql-client.ts";

/** The first transaction with writes is rolled back there. */
export function conflictingOnce<Client>(client: SqlClient<Client>, code: string): SqlClient<Client> {
  let isOver = false;
  return {
    query: client.query,
    transaction: (work) =>
      client.transaction(async (transaction) => {
        const result = await work(transaction);
        if (isOver) return result;
        isOver = true;
        throw Object.assign(new Error("change conflicts with another transaction"), {
          code,
          severity: "ERROR",
        });
      }),
  };
}
