// A caller makes a new key for each try, and each try reaches another process. A process has a store and an observer of its own.
import { randomUUID } from "node:crypto";
import { type DecisionEvent, runOnce, type Store, watchNewKeys } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { fakeClock, MemoryStore } from "onceonly/testing";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { PostgresStore } from "../../lib/postgres/postgres-store.ts";
import { connect, createTable } from "../kit/tables.ts";
import {
  hasServer as hasPostgres,
  poolOf,
  portOf as postgresPort,
  storeOf as postgresStoreOf,
} from "../postgres/given.ts";
import { CLIENTS, hasServer as hasValkey, portOf, storeOf } from "../valkey/given.ts";

type AnyStore = Store<never>;

/** Makes the store of one more process, on one table. */
type Processes = () => Promise<() => AnyStore>;

const ENGINES: Readonly<Record<string, Processes | undefined>> = {
  memory: async () => {
    const store = new MemoryStore();
    return () => store as AnyStore;
  },
  ...Object.fromEntries(
    inject("everyDynamodbEngine").map(({ name, endpoint }): [string, Processes] => [
      name,
      async () => {
        const tableName = await createTable(connect(endpoint));
        return () => new DynamoDBStore({ tableName, client: connect(endpoint) }) as AnyStore;
      },
    ]),
  ),
  ...(hasPostgres && {
    PostgreSQL: async () => {
      const port = await postgresPort();
      const { table } = await postgresStoreOf(fromPg(poolOf(port)));
      return () => new PostgresStore({ client: fromPg(poolOf(port)), table }) as AnyStore;
    },
  }),
  ...(hasValkey && {
    Valkey: async () => {
      const client = await Object.values(CLIENTS)[0]!(await portOf());
      const { store } = storeOf(client);
      return () => store as AnyStore;
    },
  }),
};

const clock = fakeClock(Date.now());

function processOn(store: AnyStore, countIn: AnyStore | undefined = store, more: object = {}) {
  const reported: DecisionEvent[] = [];
  const observe = (event: DecisionEvent) => void reported.push(event);
  const watched = watchNewKeys(store, { observe, countIn, clock, ...more });
  const options = { operation: "pay", scope: "acme", store: watched, clock, leaseSeconds: 30 };
  return {
    reported,
    pay: (key: string = randomUUID(), change: object = {}, payload: object = { cents: 100 }) =>
      runOnce({ ...options, ...change }, key, payload, () => "paid"),
  };
}

describe.each(Object.entries(ENGINES))("watchNewKeys that counts in a store, on %s", (_, start) => {
  let newStore: () => AnyStore;
  beforeAll(async () => {
    newStore = await start!();
  });

  it.each(["claimed", "optimistic"])(
    "H59: reports one payload under a third new key, each key in a separate process: %s",
    async (mode) => {
      const processes = Array.from({ length: 5 }, () => processOn(newStore()));
      for (const { pay } of processes) await pay(undefined, { mode, operation: `pay-${mode}` });

      expect(processes.map(({ reported }) => reported.map(({ decision }) => decision))).toEqual([
        [],
        [],
        ["new-keys"],
        ["new-keys"],
        ["new-keys"],
      ]);
      expect(processes[2]!.reported[0]).toMatchObject({ operation: `pay-${mode}`, scope: "acme" });
    },
  );

  it("H59: misses none of simultaneous keys, and counts none twice", async () => {
    const processes = Array.from({ length: 6 }, () => processOn(newStore()));
    const one = { operation: "at-once" };
    await Promise.all(processes.map(({ pay }) => pay(undefined, one)));
    const reported = processes.flatMap((each) => each.reported.map(({ decision }) => decision));

    expect(reported).toEqual(["new-keys", "new-keys", "new-keys", "new-keys"]);
  });

  it("H59: reports nothing for one key in all processes, for other payloads and for other owners", async () => {
    const one = { operation: "others" };
    const processes = Array.from({ length: 4 }, () => processOn(newStore()));
    const key = randomUUID();
    for (const [index, { pay }] of processes.entries()) {
      await pay(key, one);
      await pay(undefined, { ...one, scope: `globex-${index}` });
      await pay(undefined, one, { cents: index });
    }

    expect(processes.flatMap(({ reported }) => reported)).toEqual([]);
  });

  it("starts counting again after a while", async () => {
    const one = { operation: "later" };
    const [first, second] = [processOn(newStore()), processOn(newStore())];
    for (const { pay } of [first, second]) await pay(undefined, one);
    await clock.advance(600_000);
    for (const { pay } of [first, second]) await pay(undefined, one);
    expect([...first.reported, ...second.reported]).toEqual([]);
    await first.pay(undefined, one);
    expect(first.reported).toHaveLength(1);
  });
});

describe("a store that can't count", () => {
  const failing = (insert: () => Promise<never>) => Object.assign(new MemoryStore(), { insert }) as AnyStore;

  it("is reported, changes no outcome, and the process counts by itself", async () => {
    const refused = new Error("no right");
    const { pay, reported } = processOn(
      new MemoryStore() as AnyStore,
      failing(() => Promise.reject(refused)),
    );
    for (const _ of "123") expect(await pay()).toBe("paid");

    expect(reported.map(({ decision, error }) => [decision, error])).toEqual([
      ["store-failed", refused],
      ["store-failed", refused],
      ["store-failed", refused],
      ["new-keys", undefined],
    ]);
  });

  it("is waited for a second, and no longer", async () => {
    const { pay, reported } = processOn(
      new MemoryStore() as AnyStore,
      failing(() => new Promise(() => {})),
    );
    let answer: unknown;
    const paying = pay().then((paid) => {
      answer = paid;
    });
    await clock.advance(999);
    expect(answer).toBeUndefined();
    await clock.advance(1);
    await paying;

    expect(answer).toBe("paid");
    expect(reported).toEqual([]);
  });

  it("gives up if too many count one payload at the same time", async () => {
    const conflicting = failing((async () => ({ settled: false, record: undefined })) as never);
    const { pay, reported } = processOn(new MemoryStore() as AnyStore, conflicting);
    await pay();

    expect(reported).toMatchObject([{ decision: "store-failed", error: { code: "STORE_UNAVAILABLE" } }]);
  });

  it("is rejected immediately if it isn't a store", () => {
    expect(() => processOn(new MemoryStore() as AnyStore, {} as never)).toThrow("countIn");
  });

  it("is not asked about a key that was released", async () => {
    const store = new MemoryStore() as AnyStore;
    const { pay, reported } = processOn(store, store, { keys: 2 });
    const given = { shouldStore: () => false };
    for (const _ of "123") await pay("again", given);

    expect(reported).toEqual([]);
  });
});
