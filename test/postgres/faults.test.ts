// What may go wrong between a call and PostgreSQL: lost answers, lost connections, timeouts, and a database that is not as it should be.
import { type AddressInfo, createServer } from "node:net";
import { StoreUnavailableError } from "onceonly";
import type pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { fromPostgresJs } from "../../lib/postgres/from-postgres-js.ts";
import { PostgresStore } from "../../lib/postgres/postgres-store.ts";
import { postgresSchema } from "../../lib/postgres/schema.ts";
import type { SqlClient } from "../../lib/postgres/sql-client.ts";
import {
  claimOf,
  found,
  freshRecordKey,
  renewalOf,
  settlementOf,
  won,
} from "../../lib/testing/contract/given.ts";
import { until } from "../kit/time/until.ts";
import { addressOf, freshTable, hasServer, poolOf, portOf, servers, sqlOf, storeOf } from "./given.ts";
import { startLossyProxy } from "./proxy-given.ts";
import { shopOf } from "./shop-given.ts";

let port: number;
let admin: pg.Pool;
beforeAll(async () => {
  if (!hasServer) return;
  port = await portOf();
  admin = poolOf(port);
});

const run = (client: unknown, text: string): PromiseLike<unknown> =>
  typeof client === "function"
    ? (client as unknown as { unsafe(text: string): PromiseLike<unknown> }).unsafe(text)
    : (client as pg.PoolClient).query(text);

const ADAPTERS: [string, (port: number) => SqlClient][] = [
  ["pg", (port) => fromPg(poolOf(port)) as SqlClient],
  ["postgres.js", (port) => fromPostgresJs(sqlOf(port)) as SqlClient],
  [
    "postgres.js that prepares nothing",
    (port) => fromPostgresJs(sqlOf(port, { prepare: false })) as SqlClient,
  ],
];

describe.skipIf(!hasServer).each(ADAPTERS)("connections that are lost, with %s", (_, connect) => {
  it.each(["claimed", "optimistic"] as const)(
    "H8: the answer to COMMIT is lost: the writes are applied once, the handler runs once, %s",
    async (mode) => {
      const proxy = await startLossyProxy(port);
      const { call, orders, ids, runs, states } = await shopOf(connect(proxy.port), connect(port));
      let tries = 0;
      const book = () =>
        call(
          ({ commit }) =>
            commit("booked", {
              writes: async (client) => {
                tries++;
                await run(client, `INSERT INTO ${orders} (id) VALUES ('a')`);
                proxy.loseAnswerTo(_.endsWith("nothing") ? "commit" : "COMMIT");
              },
            }),
          { mode },
        );

      expect([await book(), await book()]).toEqual(["booked", "booked"]);

      expect([await ids(), await states(), runs(), tries]).toEqual([["a"], ["completed"], 1, 1]);
    },
  );

  it("a COMMIT that never comes to the server is repeated with its writes", async () => {
    const proxy = await startLossyProxy(port);
    const { call, orders, ids, runs } = await shopOf(connect(proxy.port), connect(port));
    let tries = 0;

    const booked = await call(({ commit }) =>
      commit("booked", {
        writes: async (client) => {
          await run(client, `INSERT INTO ${orders} (id) VALUES ('a')`);
          if (++tries === 1) proxy.loseRequest(_.endsWith("nothing") ? "commit" : "COMMIT");
        },
      }),
    );

    expect([booked, await ids(), runs(), tries]).toEqual(["booked", ["a"], 1, 2]);
  });

  it("a backend that is killed between two statements of a commit ends nothing but the try", async () => {
    const { call, orders, ids, runs } = await shopOf(connect(port));
    let tries = 0;

    const booked = await call(({ commit }) =>
      commit("booked", {
        writes: async (client) => {
          await run(client, `INSERT INTO ${orders} (id) VALUES ('a')`);
          if (++tries === 1) await run(client, "SELECT pg_terminate_backend(pg_backend_pid())");
        },
      }),
    );

    expect([booked, await ids(), runs(), tries]).toEqual(["booked", ["a"], 1, 2]);
  });

  it.skipIf(_ === "pg")("a statement that comes after its connection was lost is refused", async () => {
    const { call, orders, ids } = await shopOf(connect(port));
    let lost: unknown;
    let tries = 0;

    const booked = await call(({ commit }) =>
      commit("booked", {
        writes: async (client) => {
          if (++tries > 1) return void (await run(client, `INSERT INTO ${orders} (id) VALUES ('a')`));
          lost = client;
          await Promise.resolve(run(client, "SELECT pg_terminate_backend(pg_backend_pid())")).catch(() => {});
          await new Promise(() => {});
        },
      }),
    );

    expect([booked, tries]).toEqual(["booked", 2]);
    expect(() => run(lost, `INSERT INTO ${orders} (id) VALUES ('b')`)).toThrow(
      "was used after its transaction",
    );
    expect(await ids()).toEqual(["a"]);
  });

  it("every backend is killed while nothing is asked: the next call goes on", async () => {
    const application = freshTable();
    const own =
      _ === "pg"
        ? (fromPg(poolOf(port, { application_name: application, max: 1 })) as SqlClient)
        : (fromPostgresJs(sqlOf(port, { connection: { application_name: application } })) as SqlClient);
    const { call, decisions } = await shopOf(own);
    await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [
      application,
    ]);

    expect(await call(() => "done")).toBe("done");
    expect(decisions()).toEqual(["executed"]);
  });

  it.each([
    ["INSERT INTO", "claim"],
    ["SET state", "settle"],
    ["SET lease_ends_at", "renew"],
    ["AS answer FROM", "find"],
  ])("the answer to %s is lost: %s is repeated, and recognises its own", async (text) => {
    const proxy = await startLossyProxy(port);
    const { store } = await storeOf(connect(proxy.port));
    const recordKey = freshRecordKey();
    proxy.loseAnswerTo(text);

    const claimed = await store.claim(claimOf(recordKey));
    if (!claimed.won) expect(claimed.record).toMatchObject({ token: "token-1", state: "in-progress" });
    expect(await store.renew(renewalOf(recordKey))).toEqual({ renewed: true });
    expect(await store.settle(settlementOf(recordKey))).toEqual({ settled: true });
    expect(await found(store, recordKey)).toMatchObject({ state: "completed", attempt: 1 });
  });

  it("a server that is down makes the store unavailable, for a while", async () => {
    const store = new PostgresStore({ client: connect(1), table: "records" });

    const failure = await store.claim(claimOf(freshRecordKey())).catch((error) => error);

    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure).toMatchObject({
      failure: "unreachable",
      retryable: true,
      action: "INSERT",
      table: "records",
    });
    expect(failure.message).toContain("ECONNREFUSED");
  });
});

describe.skipIf(!hasServer)("a database that does not do as asked", () => {
  it("a connection that the server ends right after it opens ends no process", async () => {
    const message = (type: string, body: string) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(4 + Buffer.byteLength(body));
      return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
    };
    const shutdown = message("E", "SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0");
    // All of it in one package: that the client is in, that it may ask, and that the server ends.
    const greeting = Buffer.concat([message("R", "\0\0\0\0"), message("Z", "I"), shutdown]);
    const server = createServer((socket) =>
      socket.on("error", () => {}).once("data", () => socket.end(greeting)),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const pool = poolOf((server.address() as AddressInfo).port);

    await expect(fromPg(pool).transaction(async () => {})).rejects.toThrow();

    server.close();
  });

  it("a statement timeout doesn't count as a refusal: the commit is tried again until the row is free", async ({
    signal,
  }) => {
    const { call, orders, ids, runs, table } = await shopOf(
      fromPg(poolOf(port, { statement_timeout: 150 })),
      fromPg(admin),
    );
    const other = await admin.connect();
    let tries = 0;

    const booked = call(async ({ commit }) => {
      await other.query("BEGIN");
      await other.query(`SELECT 1 FROM ${table} FOR UPDATE`);
      return commit("booked", {
        writes: (client) => {
          tries++;
          return client.query(`INSERT INTO ${orders} (id) VALUES ('a')`);
        },
      });
    });
    await until(async () => (await waiting()) > 0, { seconds: 20, signal });
    await until(async () => (await waiting()) === 0, { seconds: 20, signal });
    await other.query("COMMIT");
    other.release();

    expect([await booked, await ids(), runs(), tries]).toEqual(["booked", ["a"], 1, 1]);
  });

  it("a claim that is cancelled is an unavailable store, and nothing runs", async () => {
    const pool = poolOf(port, { statement_timeout: 150 });
    const { call, table, runs } = await shopOf(fromPg(pool));
    const other = await admin.connect();
    await other.query(`BEGIN; LOCK TABLE ${table}`);

    const refused = await call(() => "done").catch((error) => error);
    await other.query("ROLLBACK");
    other.release();

    expect(refused).toMatchObject({ failure: "unreachable", retryable: true });
    expect(refused.message).toContain(
      "57014, the statement was cancelled, by statement_timeout or by an operator",
    );
    expect(runs()).toBe(0);
  });

  it("a missing table is refused, with what to run", async () => {
    const table = freshTable();
    const store = new PostgresStore({ client: fromPg(admin), table });

    const failure = await store.claim(claimOf(freshRecordKey())).catch((error) => error);

    expect(failure).toMatchObject({ failure: "refused", retryable: false });
    expect(failure.message).toBe(
      `the idempotency store refused INSERT on ${table} (42P01, the table doesn't exist: run the SQL from postgresSchema({ table: "${table}" }), or add its schema to the name), and will refuse it again: fix the permissions, the table or the request`,
    );
  });

  it.each([
    ["has no such column", (table: string) => `CREATE TABLE ${table} (pk text PRIMARY KEY)`, "42703"],
    [
      "has no unique key",
      (table: string) =>
        `${postgresSchema({ table })} ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey CASCADE`,
      "42P10",
    ],
  ])("a table that %s is refused", async (_, sqlOf, code) => {
    const table = freshTable();
    await admin.query(sqlOf(table));
    const store = new PostgresStore({ client: fromPg(admin), table });

    const failure = await store.claim(claimOf(freshRecordKey())).catch((error) => error);

    expect(failure).toMatchObject({ failure: "refused" });
    expect(failure.message).toContain(`${code}, the table differs from postgresSchema`);
  });

  it.each([
    ["without rights", {}, /42501, the role of this client lacks a privilege on/],
    ["of a database that is not there", { database: "nowhere" }, /3D000, the database doesn't exist/],
    ["of a role that is not there", { user: "stranger" }, /28000, the server rejected the login/],
  ])("a client %s is refused", async (_, given, message) => {
    const { table } = await storeOf(fromPg(admin));
    const role = freshTable();
    await admin.query(`CREATE ROLE ${role} LOGIN`);
    const client = fromPg(poolOf(port, { ...addressOf(port), user: role, ...given }));
    const store = new PostgresStore({ client, table });

    const failure = await store.claim(claimOf(freshRecordKey())).catch((error) => error);

    expect(failure).toMatchObject({ failure: "refused", retryable: false });
    expect(failure.message).toMatch(message);
  });

  it("a server that accepts no writes, such as one that has failed over, passes", async () => {
    const { table } = await storeOf(fromPg(admin));
    const pool = poolOf(port, { options: "-c default_transaction_read_only=on" });
    const store = new PostgresStore({ client: fromPg(pool), table });

    const failure = await store.claim(claimOf(freshRecordKey())).catch((error) => error);

    expect(failure).toMatchObject({ failure: "unreachable", retryable: true });
    expect(failure.message).toContain("25006, the server is read-only");
  });

  it("H15: a result of 1 MB comes back whole, and is not part of a refusal", async () => {
    const { store } = await storeOf(fromPg(admin));
    const recordKey = freshRecordKey();
    const result = JSON.stringify("ä\u0000x".repeat(250_000));
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey, { result }));

    const { result: stored } = await found(store, recordKey);

    expect(stored).toMatchObject({ in: "item" });
    expect(stored?.in === "item" && (await store.loadResult(stored.address))).toBe(result);
    expect(await store.loadResult("nothing of ours")).toBeUndefined();
  });

  it("H15: a result beyond 16 MB is not kept, and the record contains its size", async () => {
    const { store } = await storeOf(fromPg(admin));
    const recordKey = freshRecordKey();
    await won(store, claimOf(recordKey));
    await store.settle(settlementOf(recordKey, { result: `"${"x".repeat(16 * 1024 * 1024)}"` }));

    expect((await found(store, recordKey)).result).toEqual({ in: "nowhere", bytes: 16 * 1024 * 1024 + 2 });
  });

  it("a damaged record fails closed, and the handler does not run", async () => {
    const { call, table, runs } = await shopOf(fromPg(admin));
    await call(() => "done");
    await admin.query(`UPDATE ${table} SET state = 'finished'`);

    await expect(call(() => "again")).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    expect(runs()).toBe(1);
  });

  it("H5: an expired record that has not been reaped counts as absent", async () => {
    const { call, runs, states } = await shopOf(fromPg(admin));
    const later = { now: () => Date.now() + 120_000, sleep: async () => {} };
    await call(() => "first", { retentionSeconds: 60 });

    expect(await call(() => "second", { retentionSeconds: 60, clock: later })).toBe("second");
    expect([runs(), await states()]).toEqual([2, ["completed"]]);
  });

  it("H40: a key after its retention is reported, or rejected", async () => {
    const { call, decisions } = await shopOf(fromPg(admin));
    const later = { now: () => Date.now() + 120_000, sleep: async () => {} };
    await call(() => "first", { retentionSeconds: 60 });

    const refused = call(() => "second", { retentionSeconds: 60, clock: later, whenKeyExpired: "reject" });

    await expect(refused).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_INVALID" });
    expect(decisions()).toContain("key-expired");
  });

  it("H45: each replay asks the table: a deleted record answers no call", async () => {
    const { call, table, runs } = await shopOf(fromPg(admin));
    await call(() => "first");
    await call(() => "replayed");
    await admin.query(`DELETE FROM ${table}`);

    expect(await call(() => "again")).toBe("again");
    expect(runs()).toBe(2);
  });

  it("H4: a clock that is 10 minutes off is reported, by the server's clock", async () => {
    const { call, decisions } = await shopOf(fromPg(admin));
    const off = { now: () => Date.now() - 600_000, sleep: async () => {} };

    await call(() => "done", { clock: off });

    expect(decisions()).toEqual(["clock-skewed", "executed"]);
  });
});

async function waiting(): Promise<number> {
  const { rows } = await admin.query("SELECT 1 FROM pg_locks WHERE NOT granted");
  return rows.length;
}

describe.skipIf(!hasServer)("a server that limits how long a transaction lasts", () => {
  it("F5: is a store that can't be reached now: the call may be repeated", async ({ skip }) => {
    const newest = await portOf(servers.at(-1));
    const { rows } = await poolOf(newest).query("SHOW server_version_num");
    if (Number(rows[0].server_version_num) < 170_000) skip("transaction_timeout came with PostgreSQL 17");
    const pool = poolOf(newest, { options: "-c transaction_timeout=300" });
    const { store } = await storeOf(fromPg(pool));

    const recordKey = freshRecordKey();
    await store.claim(claimOf(recordKey));

    const call = store.settle(
      settlementOf(recordKey, { writes: [(client) => client.query("SELECT pg_sleep(5)")] }),
    );

    await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
  });
});
