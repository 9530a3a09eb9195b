// A fork: from a handler's step and from a saga's, in memory and on a real engine.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { OutcomeUnknownError, PermanentError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { forkableSteps, forkRecord, planFork } from "../../lib/core/fork-record.ts";
import { identify } from "../../lib/core/identity.ts";
import { decisionIn } from "../../lib/core/reopening.ts";
import { rerunRecord } from "../../lib/core/rerun-record.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Store } from "../../lib/core/store.ts";
import { decodeEvidence } from "../../lib/core/verify.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { eraseResult } from "../../lib/dynamodb/erase-result.ts";
import { saga } from "../../lib/saga/saga.ts";
import { cached } from "../../lib/stores/cached.ts";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { connect, createTable } from "../kit/tables.ts";
import { keyService } from "../stores/privacy-given.ts";

const BY = { by: "ana", why: "release 7 priced wrongly" };
const LARGE = "x".repeat(30_000);

function newWorld(store: Store<never>) {
  const clock = fakeClock(Date.now());
  const key: string = randomUUID();
  const options = { operation: "order", scope: "acme", store, clock, leaseSeconds: 30, renewLease: false };
  const keyOf = (name: string) => identify("order", "acme", name).recordKey;
  const recordOf = async (name: string) => (await store.find(keyOf(name), { consistent: true }))!;
  const ran: string[] = [];
  /** Reserves, prices by this deployment, charges, and may fail in the end. */
  const place = (name: string, price: number, more: { fails?: Error; keepSteps?: boolean } = {}) => {
    const { fails, ...opts } = more;
    return runOnce(
      { ...options, ...opts },
      name,
      { order: 7 },
      async ({ step, childKey }: Execution<never>) => {
        const reserved = await step("reserve", () => {
          ran.push("reserve");
          return LARGE;
        });
        await clock.advance(1);
        const amount = await step("price", () => {
          ran.push("price");
          return price;
        });
        await clock.advance(1);
        const charged = await step("charge", () => {
          ran.push(`charge ${amount}`);
          return childKey("charge");
        });
        if (fails) throw fails;
        return { reserved: reserved.length, amount, charged };
      },
    );
  };
  const fork = (from: string, as: string, of: string = key, through = store, more = {}) =>
    forkRecord({ store: through, clock }, keyOf(of), { ...BY, from, as, ...more });
  return { clock, key, options, keyOf, recordOf, ran, place, fork, store };
}

const stores: [name: string, make: () => Promise<Store<never>>][] = [
  ["MemoryStore", async () => new MemoryStore() as Store<never>],
  [
    "DynamoDBStore",
    async () => {
      const client = connect(inject("dynamodbEngines")[0]!.endpoint);
      return new DynamoDBStore({ tableName: await createTable(client), client });
    },
  ],
];

describe.each(stores)("R8: a fork on %s", (_, make) => {
  let store: Store<never>;
  beforeAll(async () => {
    store = await make();
  });

  it("copies the steps before, runs the others again, and names the two records in each other", async () => {
    const { key, place, fork, ran, recordOf, keyOf } = newWorld(store);
    await expect(place(key, 9999, { fails: new Error("down") })).rejects.toThrow("down");
    const as = `${key}-repaired`;

    expect(await fork("price", as)).toEqual({
      forked: true,
      recordKey: keyOf(as),
      copied: ["reserve"],
      again: ["price", "charge"],
      started: [],
    });

    // Until the fork runs, the original can't go on.
    await expect(place(key, 10)).rejects.toMatchObject({ name: "ForkedError", statusCode: 409 });
    expect(await place(as, 10)).toMatchObject({ reserved: LARGE.length, amount: 10 });
    expect(ran).toEqual(["reserve", "price", "charge 9999", "price", "charge 10"]);
    expect(await place(as, 10)).toMatchObject({ amount: 10 });
    const [original, forked] = [await recordOf(key), await recordOf(as)];
    expect(decodeEvidence(original.evidence)).toMatchObject({
      ...{ by: "ana", answered: BY.why, fork: { to: keyOf(as) }, past: [{ state: "released" }] },
    });
    expect(decodeEvidence(forked.evidence)).toMatchObject({
      ...{ by: "ana", answered: BY.why, fork: { of: keyOf(key) }, step: "price" },
    });
    expect([original.state, forked.state]).toEqual(["failed", "completed"]);
    // Neither is an earlier decision about what happened.
    expect([decisionIn(original), decisionIn(forked)]).toEqual([undefined, undefined]);
  });

  it("of a finished key that kept its steps leaves its answer, and can be made again", async () => {
    const { key, place, fork, ran, recordOf } = newWorld(store);
    const wrong = await place(key, 9999, { keepSteps: true });
    const before = await recordOf(key);

    expect(await fork("price", `${key}-1`)).toMatchObject({ forked: true, copied: ["reserve"] });
    // A repetition, as after a lost answer, changes nothing.
    expect(await fork("price", `${key}-1`)).toMatchObject({ forked: true });
    expect(await place(key, 10)).toEqual(wrong);
    expect(await recordOf(key)).toEqual(before);
    // From another step it would be another fork.
    expect(await fork("charge", `${key}-1`)).toEqual({ forked: false, state: "taken" });
    expect(await fork("reserve", `${key}-2`)).toMatchObject({ forked: true, copied: [] });
    await place(`${key}-1`, 10);
    await place(`${key}-2`, 20);
    // Nor after the fork has run.
    expect(await fork("price", `${key}-1`)).toMatchObject({ forked: true });
    expect(ran.slice(3)).toEqual(["price", "charge 10", "reserve", "price", "charge 20"]);
  });

  it("of a saga that stopped runs it to its end, with new child keys", async () => {
    const world = newWorld(store);
    const { options, key, fork } = world;
    const ran: string[] = [];
    const keys: string[] = [];
    const order = (price: number, isUp: boolean) =>
      saga("order", [
        {
          name: "reserve",
          run: () => void ran.push("reserve"),
          compensate: () => void ran.push("unreserve"),
        },
        {
          name: "charge",
          pivot: true,
          run: ({ childKey }) => {
            ran.push(`charge ${price}`);
            keys.push(childKey());
          },
        },
        {
          name: "ship",
          run: () => (isUp ? void ran.push("ship") : Promise.reject(new Error("no such carrier"))),
        },
      ]);
    const call = (name: string, price: number, isUp: boolean) =>
      runOnce({ ...options, whenAbandoned: "hold" }, name, {}, (execution) =>
        order(price, isUp).run(execution, {}),
      );
    await expect(call(key, 9999, false)).rejects.toMatchObject({ code: "SAGA_PENDING" });
    expect(forkableSteps(await world.recordOf(key))).toEqual(["order/reserve", "order/charge", "order/ship"]);

    // The carrier's answer may have been lost.
    expect(await fork("order/charge", `${key}-1`)).toEqual({
      forked: false,
      state: "started",
      steps: ["order/ship"],
    });
    const anyway = { evenThoughStarted: true };
    expect(await fork("order/charge", `${key}-1`, key, store, anyway)).toMatchObject({
      copied: ["order/reserve"],
      started: ["order/ship"],
    });
    expect((await world.recordOf(`${key}-1`)).expiresAt).toBeUndefined();
    await call(`${key}-1`, 10, true);

    expect(ran).toEqual(["reserve", "charge 9999", "charge 10", "ship"]);
    expect(new Set(keys).size).toBe(2);
    // From a step that was never recorded, all that are done are copied.
    const other = randomUUID();
    await expect(call(other, 5, false)).rejects.toThrow();
    expect(await fork("order/ship", `${other}-1`, other, store, anyway)).toMatchObject({
      copied: ["order/reserve", "order/charge"],
    });
    await call(`${other}-1`, 6, true);
    expect(ran.slice(4)).toEqual(["reserve", "charge 5", "ship"]);
  });
});

describe("R8: a fork is refused", () => {
  const world = () => newWorld(new MemoryStore() as Store<never>);

  it("for a key without a record, in progress, or whose new key is taken", async () => {
    const { key, place, fork, options } = world();
    expect(await fork("price", "new")).toEqual({ forked: false, state: "absent" });
    let isDone = () => {};
    const running = runOnce(options, key, { order: 7 }, async ({ step }) => {
      await step("price", () => 1);
      await new Promise<void>((done) => (isDone = done));
    });
    await new Promise((next) => setImmediate(next));
    expect(await fork("price", "new")).toEqual({ forked: false, state: "in-progress" });
    isDone();
    await running;
    const other = randomUUID();
    await place(other, 1, { keepSteps: true });
    expect(await fork("price", key, other)).toEqual({ forked: false, state: "taken" });
    await expect(fork("price", "", other)).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_INVALID" });
  });

  it("for steps that the record doesn't have, and says which it has", async () => {
    const { key, place, fork } = world();
    await place(key, 1);
    await expect(fork("price", "new")).rejects.toThrow(/this record has none.*set `keepSteps`.*use `rerun`/);
    const other = randomUUID();
    await expect(place(other, 1, { fails: new Error("x") })).rejects.toThrow("x");
    await expect(fork("ship", "new", other)).rejects.toThrow(
      "`from` must be one of the recorded steps: reserve, price, charge",
    );
    await expect(fork("price", undefined as never, other)).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  it("while the outcome of a step is unknown", async () => {
    const { key, options, fork } = world();
    const held = runOnce({ ...options, whenAbandoned: "hold" }, key, {}, async ({ step }) => {
      await step("reserve", () => 1);
      await step("charge", () => Promise.reject(new OutcomeUnknownError()), { atMostOnce: true });
    });
    await expect(held).rejects.toThrow();
    await expect(fork("charge", "new")).rejects.toThrow("the outcome of charge is unknown");
  });

  it("for a saga that has turned back, and while messages wait", async () => {
    const { key, options, fork, keyOf, store } = world();
    const back = saga("order", [
      { name: "reserve", run: () => 1, compensate: () => undefined },
      {
        name: "ship",
        run: () => Promise.reject(new PermanentError("sold out")),
        compensate: () => undefined,
      },
    ]);
    const call = runOnce({ ...options, keepSteps: true, isFinalError: () => true }, key, {}, (execution) =>
      back.run(execution, {}),
    );
    await expect(call).rejects.toThrow();
    expect(await fork("order/reserve", "new")).toEqual({ forked: false, state: "undone" });

    (store as unknown as MemoryStore).alter(keyOf(key), { expiresAt: undefined } as never);
    expect(await fork("order/reserve", "new")).toEqual({ forked: false, state: "waiting" });
  });

  it("through a store that doesn't hold the records, or that would lose the encryption", async () => {
    const { key, options, place, fork, store } = world();
    const sealed = encrypted(store, { keys: keyService(), clock: options.clock });
    const failed = runOnce({ ...options, store: sealed }, key, { order: 7 }, async ({ step }) => {
      await step("price", () => "canary-4711");
      throw new Error("x");
    });
    await expect(failed).rejects.toThrow("x");
    await expect(fork("price", "new")).rejects.toThrow("must be the handler's `encrypted` store");
    await expect(fork("price", "new", key, cached(store))).rejects.toThrow("without `cached` or `migrating`");
    expect(await fork("price", "new", key, sealed)).toMatchObject({ forked: true });
    await place("new", 1).catch(() => undefined);
  });

  it.each([
    ["claim", { won: false, record: { state: "held" } }, "held"],
    ["claim", { won: false, record: undefined }, "absent"],
    ["settle", { settled: false, record: { state: "completed" } }, "completed"],
    ["settle", { settled: false, record: undefined }, "absent"],
  ])("if another call was first at %s: %j", async (method, answer, state) => {
    const { key, place, fork, store, keyOf } = world();
    await expect(place(key, 1, { fails: new Error("x") })).rejects.toThrow("x");
    const raced = intercepted(store as never, (name, request, [given]) =>
      name === method && (given as { recordKey: string }).recordKey === keyOf(key)
        ? Promise.resolve(answer)
        : request(),
    );
    expect(await fork("price", "new", key, raced as never)).toEqual({ forked: false, state });
    // The new key is free again.
    expect(await place("new", 5)).toMatchObject({ amount: 5 });
  });

  it("if the new key is claimed meanwhile: nothing runs under a half copy", async () => {
    for (const [method, nth] of [
      ["claim", 1],
      ["writeStep", 1],
      ["settle", 2],
    ] as const) {
      const { key, place, fork, store } = world();
      await expect(place(key, 1, { fails: new Error("x") })).rejects.toThrow("x");
      let count = 0;
      const raced = intercepted(store as never, (name, request) => {
        if (name !== method || ++count !== nth) return request();
        return Promise.resolve({ won: false, settled: false, record: undefined });
      });
      const answer = await fork("charge", "new", key, raced as never);
      expect(answer).toEqual({ forked: false, state: "taken" });
      // The original stays open unless its fork is reserved.
      if (method === "claim")
        expect(await place(key, 2).catch((error) => error.name)).not.toBe("ForkedError");
    }
  });

  it("to another key, or from a rerun, once an unfinished original is closed", async () => {
    const { key, place, fork, store, keyOf, clock } = world();
    await expect(place(key, 1, { fails: new Error("x") })).rejects.toThrow("x");
    await fork("price", "new");
    expect(await fork("price", "newer")).toEqual({ forked: false, state: "forked", to: keyOf("new") });
    expect(await rerunRecord({ store, clock }, keyOf(key), BY)).toEqual({ rerun: false, state: "forked" });
    const erasing = { operation: "order", scope: "acme", store, clock };
    for (const _ of [1, 2])
      expect(await eraseResult(erasing, key, BY)).toEqual({ erased: true, forkedTo: keyOf("new") });
  });

  it("half-way never runs under the new key, and the same fork finishes it", async () => {
    for (const [method, nth] of [
      ["claim", 2],
      ["settle", 1],
      ["writeStep", 1],
      ["writeStep", 2],
      ["settle", 2],
    ] as const) {
      const { key, place, fork, store, ran, clock } = world();
      await expect(place(key, 9999, { fails: new Error("x") })).rejects.toThrow("x");
      let count = 0;
      let isDown = false;
      const dying = intercepted(store as never, (name, request) => {
        isDown ||= name === method && ++count === nth;
        return isDown ? Promise.reject(new Error("killed")) : request();
      });
      await expect(fork("charge", "new", key, dying as never)).rejects.toThrow("killed");
      await clock.advance(120_000);
      await expect(place("new", 1)).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
      expect(await fork("price", "new")).toEqual({ forked: false, state: "taken" });
      expect(await fork("charge", "new")).toMatchObject({ forked: true });
      expect(await place("new", 1)).toMatchObject({ amount: 9999 });
      expect(ran.slice(3)).toEqual(["charge 9999"]);
    }
  });

  it("isn't, to a key whose record has expired", async () => {
    const { key, place, fork, clock } = world();
    await place("new", 1);
    await clock.advance(90_000_000);
    await place(key, 1, { keepSteps: true });
    expect(await fork("price", "new")).toMatchObject({ forked: true });
    expect(await place("new", 2)).toMatchObject({ amount: 2 });
  });

  it("of two operators who fork at the same time, both get the same fork", async () => {
    const { key, place, fork, store } = world();
    await place(key, 1, { keepSteps: true });
    const losing = intercepted(store as never, async (name, request, [given]) => {
      if (name !== "claim") return request();
      await request();
      return {
        won: false,
        record: await store.find((given as { recordKey: string }).recordKey, { consistent: true }),
      };
    });
    expect(await fork("price", "new", key, losing as never)).toMatchObject({ forked: true });
  });

  it("if a step's result is missing; one that was too large to keep is copied as such", async () => {
    const small = new MemoryStore({ maxResultBytes: 1000 }) as Store<never>;
    const lost = newWorld(small);
    const tooLarge = lost.place(lost.key, 1).catch((error) => error);
    expect(await tooLarge).toMatchObject({ code: "RESULT_NOT_KEPT" });
    await runOnce(lost.options, "two", {}, async ({ step }) => {
      await step("reserve", () => LARGE).catch(() => undefined);
      await lost.clock.advance(1);
      await step("price", () => 1);
      throw new Error("x");
    }).catch(() => undefined);
    expect(await lost.fork("price", "new", "two")).toMatchObject({ copied: ["reserve"] });
    const again = runOnce(lost.options, "new", {}, ({ step }) => step("reserve", () => expect.unreachable()));
    await expect(again).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    const { key, place, fork, store } = world();
    await expect(place(key, 1, { fails: new Error("x") })).rejects.toThrow("x");
    const gone = intercepted(store as never, (name, request) =>
      name === "loadResult" ? Promise.resolve(undefined) : request(),
    );
    await expect(fork("price", "new", key, gone as never)).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
  });

  it("plans from any record, also one without steps", () => {
    expect(forkableSteps({})).toEqual([]);
    expect(() => planFork({}, "x")).toThrow(/this record has none/);
  });
});
