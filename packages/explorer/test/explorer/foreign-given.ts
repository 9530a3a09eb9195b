// Real databases behind an explored handler: each statement and each command is a point.
import { AsyncLocalStorage } from "node:async_hooks";
import type pg from "pg";
import type { Clock } from "../../../../lib/core/clock.ts";
import { openTransaction } from "../../../../lib/postgres/open-transaction.ts";
import type { SqlClient } from "../../../../lib/postgres/sql-client.ts";
import type { ValkeyClient } from "../../../../lib/valkey/valkey-client.ts";
import { foreignRequest, whenEnvironmentEnds } from "../../lib/simulator/foreign-request.ts";

const broken = () => Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });

function statement<Answer>(text: string, values: readonly unknown[], run: () => Promise<Answer>) {
  const operation = text.trim().split(/\s+/)[0] ?? "";
  const input = { text, values: [...values] };
  return foreignRequest({ target: "postgres", operation, input, run, broken });
}

/** What a function in `writes` gets. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** As `idle_in_transaction_session_timeout` of the store, whose own 10 seconds are real. */
const LONGEST_IDLE_MS = 10_000;

interface ExploredSql extends SqlClient<Queryable> {
  /** A run begins: ends what one before has left open, as a server does. The clock is its own. */
  begin(clock: Clock): void;
}

/** Each statement of a client, BEGIN and COMMIT too. */
export function exploredSql(client: SqlClient<pg.PoolClient>): ExploredSql {
  const outside = AsyncLocalStorage.snapshot();
  const open = new Set<() => void>();
  let time: Clock | undefined;
  return {
    begin: (clock) => {
      time = clock;
      for (const end of open) end();
    },
    query: (text, values) => statement(text, values, () => client.query(text, values)),
    transaction: async (work, first) => {
      let isLost = false;
      let real: Awaited<ReturnType<typeof openTransaction<pg.PoolClient>>> | undefined;
      const lose = () => {
        isLost = true;
        open.delete(lose);
        outside(() => void real?.rollback());
      };
      let idles = new AbortController();
      const noteStatement = () => {
        idles.abort();
        idles = new AbortController();
        const { signal } = idles;
        void time?.sleep(LONGEST_IDLE_MS, signal).then(() => signal.aborted || lose());
      };
      const forget = whenEnvironmentEnds(lose);
      open.add(lose);
      /** A connection that broke takes its transaction along. */
      const ask = async <Answer>(text: string, values: readonly unknown[], run: () => Promise<Answer>) => {
        let isAnswered = false;
        try {
          return await statement(text, values, async () => {
            if (isLost) throw broken();
            idles.abort();
            const answer = await run();
            noteStatement();
            return answer;
          });
        } catch (error) {
          isAnswered = (error as { severity?: unknown }).severity !== undefined;
          if (!isAnswered) lose();
          throw error;
        }
      };
      try {
        const begun = await ask("BEGIN", [], async () => {
          real = await openTransaction(client, first);
          if (isLost) void real.rollback();
          return real;
        });
        let result: Awaited<ReturnType<typeof work>>;
        try {
          result = await work({
            client: {
              query: (text, values = []) => ask(text, values, () => begun.client.query(text, values)),
            },
            query: (text, values) => ask(text, values, () => begun.query(text, values)),
            close: () => begun.close(),
          });
        } catch (error) {
          if (isLost) throw broken();
          await ask("ROLLBACK", [], () => begun.rollback());
          throw error;
        }
        await ask("COMMIT", [], () => begun.commit());
        return result;
      } finally {
        idles.abort();
        forget();
        open.delete(lose);
      }
    },
  };
}

/** Each command of a client. */
export function exploredValkey(client: ValkeyClient): ValkeyClient {
  return {
    send: (key, command) =>
      foreignRequest({
        target: "valkey",
        operation: command[0] ?? "",
        input: { command: [...command] },
        run: () => client.send(key, command),
        broken: () => new Error("Connection is closed."),
      }),
  };
}
