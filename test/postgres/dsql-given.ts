// Conflicts that are found at the commit, as in Aurora DSQL.
import { AsyncLocalStorage } from "node:async_hooks";
import type { SqlClient, SqlTransaction } from "../../lib/postgres/sql-client.ts";

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

/**
 * Each statement, and each transaction, is rolled back at its first commit. `seen` is a store as the engine asks it: again,
 * where it found a conflict.
 */
export function conflictingAtFirst<Client>(client: SqlClient<Client>) {
  const known = new Set<string>();
  const asking = new AsyncLocalStorage<{ conflicts: number }>();
  let conflicts = 0;

  const within = async <T>(work: (transaction: SqlTransaction<Client>) => Promise<T>): Promise<T> =>
    client.transaction(async (transaction) => {
      const asked: unknown[] = [];
      const result = await work({
        client: transaction.client,
        query: (text, values) => {
          asked.push([text, values]);
          return transaction.query(text, values);
        },
      });
      const name = JSON.stringify(asked);
      if (known.has(name)) return result;
      known.add(name);
      conflicts++;
      const call = asking.getStore();
      if (call) call.conflicts++;
      throw Object.assign(new Error("change conflicts with another transaction"), {
        code: conflicts % 2 === 0 ? "OC000" : "40001",
        severity: "ERROR",
      });
    });

  const conflicting: SqlClient<Client> = {
    // What only reads has no conflict.
    query: (text, values) =>
      /^\s*(WITH|INSERT|UPDATE|DELETE)/.test(text)
        ? within((transaction) => transaction.query(text, values))
        : client.query(text, values),
    transaction: within,
  };

  const seen = <Seen extends object>(store: Seen): Seen =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        if (!["claim", "settle", "renew", "writeStep", "insert"].includes(`${String(name)}`)) {
          return value.bind(target);
        }
        return async (...given: unknown[]) => {
          for (;;) {
            const call = { conflicts: 0 };
            const [answer, error] = await asking.run(call, () =>
              value.apply(target, given).then(
                (told: unknown) => [told, undefined],
                (failure: unknown) => [undefined, failure],
              ),
            );
            if (call.conflicts > 0) continue;
            if (error !== undefined) throw error;
            return answer;
          }
        };
      },
    });

  return { client: conflicting, seen };
}
