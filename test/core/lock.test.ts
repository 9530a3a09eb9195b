// Mutual exclusion by the same claims, without a stored result.
import { describe, expect, it } from "vitest";
import { PermanentError } from "../../lib/core/errors.ts";
import { type LockOptions, lock } from "../../lib/core/lock.ts";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { gate } from "../kit/time/gate.ts";

function given(change: Partial<LockOptions<MemoryWrite>> = {}) {
  const clock = fakeClock();
  const store = new MemoryStore();
  const options: LockOptions<MemoryWrite> = {
    operation: "sync-catalogue",
    store,
    leaseSeconds: 30,
    clock,
    ...change,
  };
  return { clock, store, options, state: () => [...store.records.values()].map(({ state }) => state) };
}

describe("lock", () => {
  it("runs each call in turn, and stores and replays nothing", async () => {
    const { options, state } = given();
    const attempts: (number | undefined)[] = [];
    const result = () => new Map([["not", "JSON"]]);

    for (const input of ["a", "b", "c"]) {
      const returned = await lock(options, "shop", async ({ attempt }) => {
        attempts.push(attempt);
        return [input, result()];
      });
      expect(returned).toEqual([input, result()]);
    }

    expect([attempts, state()]).toEqual([[1, 2, 3], ["released"]]);
  });

  it("has the same fingerprint in each release, so that two releases can take turns", async () => {
    const { options, store } = given();

    await lock(options, "shop", () => "done");

    const [record] = store.records.values();
    expect(record?.fingerprint).toBe("1:yuEkmBPYN5z0-CJLjzTx5DwyQge6roSfLTN1OM-PKng");
  });

  it("refuses a second holder, and lets another key in", async () => {
    const { options } = given();
    const { opened, open } = gate<string>();
    const first = lock(options, "shop", () => opened);
    await Promise.resolve();

    await expect(lock(options, "shop", () => "never")).rejects.toMatchObject({
      code: "EXECUTION_IN_PROGRESS",
    });
    expect(await lock(options, "other", () => "runs")).toBe("runs");
    open("done");

    expect(await first).toBe("done");
    expect(await lock(options, "shop", () => "next")).toBe("next");
  });

  it("waits for its turn with `whenInProgress`", async () => {
    const { options, clock } = given({ whenInProgress: { waitSeconds: 60 } });
    const { opened, open } = gate<string>();
    const first = lock(options, "shop", () => opened);
    const second = lock(options, "shop", () => "second");
    await clock.advance(40_000);

    open("first");

    expect(await first).toBe("first");
    expect(await clock.run(second)).toBe("second");
  });

  it.each([new Error("again"), new PermanentError("never"), "a text"])(
    "throws the work's error, and lets the next one in: %s",
    async (error) => {
      const { options } = given();

      await expect(lock(options, "shop", () => Promise.reject(error))).rejects.toBe(error);

      expect(await lock(options, "shop", () => "next")).toBe("next");
    },
  );

  it("H64: is free one lease and the clock skew after its holder has died, however long it was held", async () => {
    const { options, clock, store } = given();
    const stopped = { now: clock.now, sleep: () => new Promise<void>(() => {}) };
    void lock({ ...options, clock: stopped }, "shop", () => new Promise(() => {}));
    await clock.advance(35_000);
    await expect(lock(options, "shop", () => "early")).rejects.toThrow("in progress");

    await clock.advance(1);

    expect(await lock(options, "shop", ({ attempt }) => attempt)).toBe(2);
    expect(store.records.size).toBe(1);
  });

  it("H61: a holder that lost its lock is notified by its signal, and by an error", async () => {
    const { options, clock, store } = given();
    const { opened, open } = gate<string>();
    let signal: AbortSignal | undefined;
    const held = lock(options, "shop", (hold) => {
      signal = hold.signal;
      return opened;
    });
    await clock.advance(5000);
    for (const recordKey of store.records.keys()) store.alter(recordKey, { token: "another's" });
    await clock.advance(5000);

    expect(signal?.aborted).toBe(true);
    open("late");

    await expect(held).rejects.toMatchObject({ code: "CLAIM_LOST" });
  });

  it("is rejected inside itself, where it would wait for itself", async () => {
    const { options } = given();
    const context = { getRemainingTimeInMillis: () => 30_000 };
    const inner = () => lock({ ...options, context }, "shop", () => 1);

    const outer = await lock(options, "shop", () => inner().catch((error: unknown) => error));

    expect(outer).toMatchObject({
      code: expect.stringMatching(/NESTED_EXECUTION|EXECUTION_IN_PROGRESS/),
    });
  });

  it.each([
    [{ mode: "optimistic" }, "`mode` isn't an option"],
    [{ whenStoreFails: "run" }, "`whenStoreFails` isn't an option"],
    [{ shouldStore: () => true }, "`shouldStore` isn't an option"],
    [{ leaseSeconds: "30" }, "`leaseSeconds`"],
    [{ scope: "" }, "`scope` is empty"],
    [{ operation: "" }, "`operation`"],
    [{ operation: undefined }, "`operation` must be a string of 1 to 64 characters"],
    [{ store: undefined }, "`store` must be"],
  ])("refuses options that no lock can have: %j", async (change, message) => {
    await expect(lock(given(change as object).options, "shop", () => 1)).rejects.toThrow(message);
  });

  it.each([undefined, "sync-catalogue"])("refuses options that aren't an object: %j", async (options) => {
    await expect(lock(options as never, "shop", () => 1)).rejects.toThrow(
      "`options` must be an object such as { operation: …, store: … }",
    );
  });
});
