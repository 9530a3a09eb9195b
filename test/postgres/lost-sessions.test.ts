// The connection is lost at each message of a call, with each client and library: the call ends, and a retry runs or replays.
import { runOnce } from "onceonly";
import {
  fromPg,
  fromPostgresJs,
  PostgresStore,
  PostgresTransactions,
  type SqlClient,
} from "onceonly/postgres";
import { fakeClock } from "onceonly/testing";
import type pg from "pg";
import type postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CUTS, type CuttingProxy, startCuttingProxy } from "../kit/faults/cutting-proxy.ts";
import { endOf } from "../kit/time/end-of.ts";
import { inTier } from "../setup/tier.ts";
import { freshTable, hasServer, poolOf, portOf, sqlOf, storeOf } from "./given.ts";
import { ORMS, type Orm } from "./orms-given.ts";

let port: number;
let admin: pg.Pool;
let proxy: CuttingProxy;
beforeAll(async () => {
  if (!hasServer) return;
  port = await portOf();
  admin = poolOf(port);
  proxy = await startCuttingProxy(port);
});
afterAll(() => proxy?.close());

/** As docs/use/stores.md says for a server that may be gone. */
const CONNECTS: Record<string, (port: number) => Orm<never>> = {
  pg: (at) => ({
    client: fromPg(poolOf(at)) as SqlClient<never>,
    run: (client: pg.PoolClient, text: string) => client.query(text),
  }),
  "postgres.js": (at) => ({
    client: fromPostgresJs(sqlOf(at, { max: 2 })) as SqlClient<never>,
    run: (sql: postgres.TransactionSql, text: string) => sql.unsafe(text),
  }),
  "postgres.js, which names no statements": (at) => ({
    client: fromPostgresJs(sqlOf(at, { max: 2, prepare: false })) as SqlClient<never>,
    run: (sql: postgres.TransactionSql, text: string) => sql.unsafe(text),
  }),
  ...ORMS,
};

async function shop(connect: (port: number) => Orm<never>, kind: "within" | "writes", inserts: boolean) {
  const { table } = await storeOf(fromPg(admin));
  const orders = `orders_lost_${freshTable()}`;
  await admin.query(`CREATE TABLE ${orders} (id text)`);
  const clock = fakeClock(Date.now());
  const caller = ({ client, run }: Orm<never>) => {
    const within = new PostgresTransactions({ client, table, waitSeconds: 20 });
    const store = kind === "within" ? within : new PostgresStore({ client, table });
    const insert = (transaction: never) => run(transaction, `INSERT INTO ${orders} VALUES ('a')`);
    const options = { operation: "order", store: store as never, leaseSeconds: 30, clock };
    const bookBy = (work: (insert: () => Promise<unknown>) => Promise<unknown>) =>
      runOnce<unknown, never>({ ...options, isFinalError: () => true }, "key", {}, (execution) => {
        const transaction = within.clientOf(execution) as never;
        return work(async () => insert(transaction));
      });
    const book = (meanwhile: () => unknown = () => {}, isFinalError = () => true) =>
      runOnce<unknown, never>({ ...options, isFinalError }, "key", {}, async (execution) => {
        if (kind === "writes") {
          await meanwhile();
          return execution.commit("booked", { writes: insert as never });
        }
        const transaction = within.clientOf(execution) as never;
        if (inserts) await insert(transaction);
        await meanwhile();
        return "booked";
      });
    return { book, bookBy };
  };
  const rows = async (text: string) => (await admin.query(text)).rows.map((row) => Object.values(row)[0]);
  return {
    ...caller(connect(proxy.port)),
    /** Over a connection without faults. */
    bookElsewhere: caller(CONNECTS.pg!(port)).book,
    clock,
    ids: () => rows(`SELECT id FROM ${orders}`),
    states: () => rows(`SELECT state FROM ${table}`),
  };
}

describe.skipIf(!hasServer).each(Object.entries(CONNECTS))("with %s", (_, connect) => {
  it.each(inTier(["within"] as const, ["within", "writes"] as const))(
    "H80: R2: a call whose connection is lost at any message ends with a code, %s",
    { timeout: 300_000 },
    async (kind) => {
      for (const cut of CUTS) {
        for (let [nth, isHit] = [1, true]; isHit; nth++) {
          // A handler that waits for a server that is gone is ended by its client's own timeouts.
          const isSilent = cut.endsWith("silence") && kind === "within";
          const { book, bookElsewhere, clock, ids, states } = await shop(connect, kind, !isSilent);
          isHit = false;
          void proxy.cutAt(nth, cut).then(() => {
            isHit = true;
          });

          const pass = (isSilent: boolean) => isSilent && clock.advance(31_000);
          const end = await endOf(book(), pass, () => isHit && cut.endsWith("silence"));

          expect(["booked", "STORE_UNAVAILABLE"], `${cut} ${nth}`).toContain(end);
          proxy.heal();
          await clock.advance(60_000);
          const retry = cut.endsWith("silence") ? bookElsewhere : book;
          expect(await endOf(retry(), pass), `${cut} ${nth}`).toBe("booked");
          expect([await ids(), await states()], `${cut} ${nth}`).toEqual([
            isSilent ? [] : ["a"],
            ["completed"],
          ]);
        }
      }
    },
  );

  it.each([
    ["the server ends the session", () => endSessions(), true],
    ["the cable is cut", () => proxy.cutAll(), true],
    ["the cable is cut, and the handler throws an error of its own", () => proxy.cutAll(), false],
  ])(
    "H80, H82: R2, R4: while the handler is busy, %s: STORE_UNAVAILABLE, and a retry runs",
    async (_fault, lose, answers) => {
      for (const isFinalError of [() => true, () => false]) {
        const { book, ids, states } = await shop(connect, "within", true);
        const busy = async () => {
          await lose();
          // The loss is seen, as by a handler that is busy elsewhere for a while.
          await new Promise((resolve) => setTimeout(resolve, 50));
          if (!answers) throw new Error("of its own");
        };

        await expect(book(busy, isFinalError)).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
          retryable: true,
        });

        expect([await ids(), await states()]).toEqual([[], []]);
        expect(await book()).toBe("booked");
        expect([await ids(), await states()]).toEqual([["a"], ["completed"]]);
      }
    },
  );

  it.each([
    ["as it is", (error: unknown) => error],
    ["wrapped", (error: unknown) => new Error("no seat", { cause: error })],
    ["as another error", () => new Error("no seat")],
  ])(
    "H82: R4: a connection that is lost at the handler's own statement is never recorded, thrown %s",
    async (_how, thrown) => {
      for (const lose of [endSessions, async () => proxy.cutAll()]) {
        const { bookBy, ids, states } = await shop(connect, "within", true);

        const end = bookBy(async (insert) => {
          await insert();
          await lose();
          await insert().catch((error: unknown) => {
            throw thrown(error);
          });
        });

        await expect(end).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
        expect([await ids(), await states()]).toEqual([[], []]);
      }
    },
  );

  it("H82: R4: an error of the handler's own is recorded, and its session goes back", async () => {
    const { bookBy, ids, states } = await shop(connect, "within", true);
    const end = () =>
      bookBy(async (insert) => {
        await insert();
        throw Object.assign(new Error("sold out"), { code: "ECONNRESET" });
      });

    await expect(end()).rejects.toThrow("sold out");
    await expect(end()).rejects.toThrow("sold out");
    expect([await ids(), await states()]).toEqual([[], ["failed"]]);
  });
});

/** Ends each backend that is within a transaction of this file, as a failover or an administrator does. */
async function endSessions(): Promise<void> {
  await admin.query(
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%orders_lost%'",
  );
}
