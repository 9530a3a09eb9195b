// A fork in memory, and what refuses one.
import { createHash, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { MAX_RETENTION_SECONDS } from "../../lib/contract.ts";
import { OutcomeUnknownError, PermanentError } from "../../lib/core/errors.ts";
import { forkableSteps, planFork } from "../../lib/core/fork-plan.ts";
import { forkRecord } from "../../lib/core/fork-record.ts";
import { encodeError } from "../../lib/core/outcome.ts";
import { rerunRecord } from "../../lib/core/rerun-record.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Store } from "../../lib/core/store.ts";
import { decodeEvidence } from "../../lib/core/verify.ts";
import { eraseResult } from "../../lib/dynamodb/erase-result.ts";
import { saga } from "../../lib/saga/saga.ts";
import { cached } from "../../lib/stores/cached.ts";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import { failing, intercepted, watched } from "../kit/faults/faulty-store.ts";
import { keyService } from "../stores/privacy-given.ts";
import { BY, FORKS, forkWorld, LARGE } from "./plays/forks.ts";

describe("R8: a fork on MemoryStore", () => {
  it.each(FORKS)("$name", ({ check }) => check(new MemoryStore() as Store<never>));
});

describe("R8: the requests of a fork", () => {
  /** An order that failed after its steps, and a store that notes its requests. */
  async function failedOrder() {
    const world = forkWorld(new MemoryStore() as Store<never>);
    await world.place(world.key, 5, { fails: new Error("x") }).catch(() => {});
    const { store: watching, requests } = watched(world.store);
    return { ...world, watching, requests: requests as [string, ...object[]][] };
  }
  const evidenceOf = (request: object | undefined) =>
    decodeEvidence((request as { evidence?: string } | undefined)?.evidence);

  it("reserve the new key, close the original, copy each step, and release the new key", async () => {
    const { key, clock, fork, keyOf, recordOf, watching, requests } = await failedOrder();
    const seen = await recordOf(key);
    const { fingerprint } = seen;
    const [original, target, at] = [keyOf(key), keyOf("new"), clock.now()];
    const answer = await fork("charge", "new", key, watching);
    const expiresAt = Math.ceil(at / 1000 + MAX_RETENTION_SECONDS);
    const attempt = 1;
    const forked = new PermanentError("an operator runs this operation again under another idempotency key", {
      name: "ForkedError",
      statusCode: 409,
    });
    expect(answer).toEqual({
      ...{ forked: true, recordKey: target },
      ...{ copied: ["reserve", "price"], again: ["charge"], started: [] },
    });

    const [token, closing] = requests.flatMap(([name, given]) =>
      name === "claim" ? [Object(given).token] : [],
    );
    // The same in every release: a repetition finishes what an interrupted one began.
    expect(token).toBe(
      createHash("sha256")
        .update(JSON.stringify([original, target, "charge"]))
        .digest("hex"),
    );
    expect(requests).toEqual([
      ["find", original, { consistent: true }],
      ["find", target, { consistent: true }],
      ["loadResult", expect.anything()],
      [
        "claim",
        {
          ...{ recordKey: target, token, fingerprint, expiresAt, leaseEndsAt: expiresAt * 1000 },
          ...{ attempt, createdAt: at, keepsSteps: false },
        },
        undefined,
      ],
      [
        "claim",
        expect.objectContaining({
          ...{ recordKey: original, token: closing, fingerprint, attempt: 2, leaseEndsAt: at + 60_000 },
        }),
        seen,
      ],
      [
        "settle",
        {
          ...{ recordKey: original, token: closing, now: at, state: "failed", isListed: true },
          ...{ expiresAt, writes: [], messages: [], evidence: expect.any(String) },
          result: encodeError(forked, false),
        },
      ],
      ...["reserve", "price"].map((name, index) => [
        "writeStep",
        {
          ...{ recordKey: target, token, name, isFirst: index === 0, writes: [] },
          ...{ result: index === 0 ? JSON.stringify(LARGE) : "5", resultExpiresAt: expiresAt },
          leaseEndsAt: expiresAt * 1000 + index,
          step: { state: "done", attempt, at: at + index },
        },
      ]),
      [
        "settle",
        {
          ...{ recordKey: target, token, now: at, state: "released", isListed: false },
          ...{ expiresAt, writes: [], messages: [], evidence: expect.any(String) },
        },
      ],
    ]);
    const decision = { verdict: "unknown", by: "ana", at, attempt, answered: BY.why };
    const what = "to run the operation again under another key";
    expect(evidenceOf(requests[5]?.[1])).toMatchObject({ ...decision, asked: what, fork: { to: target } });
    expect(evidenceOf(requests.at(-1)?.[1])).toEqual({
      ...{ ...decision, asked: what, fork: { of: original }, step: "charge" },
    });
  });

  it("are repeated after a failure, for about 5 seconds", async () => {
    for (const method of ["find", "claim", "settle", "writeStep", "loadResult"] as const) {
      const { key, place, fork, store, clock } = forkWorld(new MemoryStore() as Store<never>);
      await place(key, 5, { fails: new Error("x") }).catch(() => {});
      const flaky = failing(store, method, "after", { times: 1 });
      expect(await clock.run(fork("charge", "new", key, flaky))).toMatchObject({ forked: true });

      const before = clock.now();
      const other = randomUUID();
      await place(other, 5, { fails: new Error("x") }).catch(() => {});
      const down = failing(store, method, "before");
      await expect(clock.run(fork("charge", "other", other, down))).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
      });
      expect(clock.now() - before).toBeLessThan(6000);
      expect(clock.now() - before).toBeGreaterThan(1000);
    }
  });

  it("end with the first read if the key has expired", async () => {
    const { key, fork, clock, watching, requests } = await failedOrder();
    await clock.advance(90_000_000);

    expect(await fork("charge", "new", key, watching)).toEqual({ forked: false, state: "absent" });

    expect(requests).toHaveLength(1);
  });

  it.each([
    [{ by: undefined }, "`by` must be"],
    [{ why: undefined }, "`why` must be"],
    [{ from: undefined }, "`from` must be the name of a step"],
    [{ from: "" }, "`from` must be the name of a step"],
    [{ as: undefined }, "`as` must be the idempotency key"],
    [{ as: 7 }, "`as` must be the idempotency key"],
    [{ evenThoughStarted: "yes" }, "`evenThoughStarted` must be true or false"],
  ])("aren't made if an option is invalid: %j", async (more, message) => {
    const { key, fork, store } = forkWorld(new MemoryStore() as Store<never>);
    const { store: watching, requests } = watched(store);

    await expect(fork("charge", "new", key, watching, more)).rejects.toThrow(message);

    expect(requests).toEqual([]);
  });

  it.each([undefined, null])("aren't made without a store: %s", async (store) => {
    const forking = forkRecord({ store: store as never }, "order#acme#a", {
      ...BY,
      from: "charge",
      as: "new",
    });

    await expect(forking).rejects.toThrow("`store` must be a store");
  });

  it("release the new record immediately if the original can't be closed", async () => {
    const { key, fork, keyOf, clock, watching, requests } = await failedOrder();
    const raced = intercepted(watching as never, (name, request, [given]) =>
      name === "claim" && (given as { recordKey: string }).recordKey === keyOf(key)
        ? Promise.resolve({ won: false, record: undefined })
        : request(),
    );
    const now = clock.now();

    expect(await fork("charge", "new", key, raced as never)).toEqual({ forked: false, state: "absent" });

    const [[, reserved] = []] = requests.filter(([name]) => name === "claim");
    expect(requests.at(-1)).toEqual([
      "settle",
      {
        ...{
          recordKey: keyOf("new"),
          token: Object(reserved).token,
          now,
          state: "released",
          isListed: false,
        },
        ...{ expiresAt: Math.floor(now / 1000), writes: [], messages: [] },
      },
    ]);
  });

  it("keep a copied step's next step only if that one is copied too", async () => {
    const { key, fork, options, store } = forkWorld(new MemoryStore() as Store<never>);
    const order = saga("order", [
      { name: "reserve", run: () => 1, compensate: () => undefined },
      { name: "charge", run: () => 2, pivot: true },
      { name: "ship", run: () => Promise.reject(new Error("no such carrier")) },
    ]);
    await runOnce({ ...options, whenAbandoned: "hold" }, key, {}, (execution) =>
      order.run(execution, {}),
    ).catch(() => {});
    const { store: watching, requests } = watched(store);

    await fork("order/ship", "new", key, watching, { evenThoughStarted: true });

    const steps = requests.flatMap(([name, given]) => (name === "writeStep" ? [Object(given).step] : []));
    expect(steps.map(({ next }) => next)).toEqual(["order/charge", undefined]);
  });
});

describe("R8: a fork is refused", () => {
  const world = () => forkWorld(new MemoryStore() as Store<never>);

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
    // Another key's fork from the same step is another fork.
    expect(await fork("price", "new", other)).toMatchObject({ forked: true });
    const third = randomUUID();
    await place(third, 1, { keepSteps: true });
    expect(await fork("price", "new", third)).toEqual({ forked: false, state: "taken" });
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
    const lost = forkWorld(small);
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
