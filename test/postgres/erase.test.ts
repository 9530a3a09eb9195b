// Erasing on PostgreSQL, and as on Aurora DSQL: with a conflict at each first commit.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Store } from "../../lib/core/store.ts";
import { eraseResult } from "../../lib/dynamodb/erase-result.ts";
import { PostgresOutbox } from "../../lib/postgres/postgres-outbox.ts";
import { PostgresTransactions } from "../../lib/postgres/postgres-transactions.ts";
import type { SqlClient } from "../../lib/postgres/sql-client.ts";
import { type ErasedWorld, erasuresOf } from "../core/plays/erasures.ts";
import { hasServer, storeOf } from "./given.ts";
import { STAGES } from "./stages-given.ts";

const ERASURE = { by: "ana", why: "request 12" };
const never = () => expect.unreachable("it ran again");

/** @param tables of the records, and of the results of their steps */
function erasedWorld(
  store: Store<never>,
  behind: SqlClient<unknown>,
  ...tables: readonly [records: string, ...others: string[]]
): ErasedWorld {
  return {
    store,
    hasSteps: store.writeStep !== undefined,
    held: async (recordKey) => {
      const rowsOf = (table: string) =>
        behind.query(`SELECT to_json(r) FROM ${table} AS r WHERE pk = $1`, [recordKey]);
      return JSON.stringify(await Promise.all(tables.map(rowsOf)));
    },
    setVersion: async (recordKey, version) => {
      await behind.query(`UPDATE ${tables[0]} SET version = $2 WHERE pk = $1`, [recordKey, version]);
    },
  };
}

describe.skipIf(!hasServer).each(Object.entries(STAGES))("on %s", (_, stage) => {
  let world: ErasedWorld;

  beforeAll(async () => {
    const { client, behind, dialect, seen } = await stage();
    const { store, table } = await storeOf(client, undefined, dialect && { dialect });
    const rows = dialect ? [] : [`${table}_step_results`];
    world = erasedWorld(seen(store), behind, table, ...rows);
  });

  it.each(erasuresOf(true))("$name", ({ check }) => check(world));
});

describe.skipIf(!hasServer)("on PostgreSQL", () => {
  let client: SqlClient<never>;
  let store: Store<never>;
  let table: string;

  beforeAll(async () => {
    client = (await STAGES.PostgreSQL!()).client as unknown as SqlClient<never>;
    ({ store, table } = await storeOf(client));
  });

  it.each(erasuresOf(false))("of handlers within a transaction: $name", async ({ check, name }) => {
    // Nobody sees an attempt that has not committed.
    if (name.includes("alive")) return;
    const transactions = new PostgresTransactions({ client, table });
    await check(erasedWorld(transactions as unknown as Store<never>, client, table));
  });

  it("H39: a commit whose messages wait stays as it is, and is erased once they are dropped", async () => {
    const outbox = new PostgresOutbox({ client, table });
    const options = { operation: "pay", store, leaseSeconds: 30 };
    const key = randomUUID();
    const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
    await runOnce(options, key, {}, ({ commit }) =>
      commit("canary-4711", { messages: [{ queue, key: "order-7", body: { to: "canary-4711" } }] }),
    );
    const erase = () => eraseResult({ operation: "pay", store }, key, ERASURE);

    expect(await erase()).toEqual({ erased: false, state: "waiting" });
    expect(await runOnce(options, key, {}, never)).toBe("canary-4711");

    const ana = { by: "ana", why: "canary-4711 is gone" };
    for await (const { commit } of outbox.list("waiting"))
      if (commit) await outbox.drop(commit, { ...ana, messages: [0] });
    expect(await erase()).toEqual({ erased: true });
    const { recordKey } = identify("pay", "", key);
    const text = await erasedWorld(store, client, table).held(recordKey);
    expect(text).toContain("request 12");
    expect(text).not.toContain("canary-4711");
  });
});
