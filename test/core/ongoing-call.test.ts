// How long a call tries, for which requests, and whose claim it goes on with.
import { describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { type RunOnceOptions, runOnce } from "../../lib/core/run-once.ts";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { failing, intercepted, type StoreMethod } from "../kit/faults/faulty-store.ts";
import { never } from "./abandoned-given.ts";
import { newWorld } from "./world.ts";

const PATIENCE_MS = 30_000;

/** A call with 6 seconds left, on a store of which some requests never get an answer. */
function given(silent: readonly StoreMethod[], options: Partial<RunOnceOptions<MemoryWrite, "result">> = {}) {
  const clock = fakeClock();
  const start = clock.now();
  const store = intercepted(
    Object.assign(new MemoryStore(), { patienceMs: PATIENCE_MS }),
    (method, request) => (silent.includes(method) ? new Promise(() => {}) : request()),
  );
  const context = { getRemainingTimeInMillis: () => 6000 - (clock.now() - start) };
  const call = (work: (execution: Execution<MemoryWrite>) => unknown) =>
    clock.run(runOnce({ operation: "order", store, clock, context, ...options }, "key", {}, work));
  return { clock, store, call, passed: () => clock.now() - start };
}

describe("a request without an answer", () => {
  it("H80: R2: at the last moment of a call has the store's patience", async () => {
    const { clock, call, passed } = given(["settle"]);

    expect(await call(() => clock.sleep(5750).then(() => "done"))).toBe("done");
    expect(passed()).toBe(5750 + PATIENCE_MS);
  });

  it("H80: R2: counts as one from a store that can't be reached", async () => {
    const { call } = given(["claim"]);

    await expect(call(never)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure: "unreachable" });
  });

  it("H80: R2: is given up after half of the time too, because timers may be early", async () => {
    const { clock, store } = given(["claim"]);
    const early = { now: clock.now, sleep: (ms: number) => clock.advance(ms / 2) };

    const call = runOnce({ operation: "order", store, clock: early, leaseSeconds: 30 }, "key", {}, never);

    await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("H80: R2: has the store's patience if it releases the key, and carries no writes", async () => {
    const { call, passed } = given(["settle"], { context: undefined, leaseSeconds: 30 });

    await expect(call(() => Promise.reject(new TypeError("no connection")))).rejects.toThrow(TypeError);
    expect(passed()).toBe(PATIENCE_MS);
  });
});

describe("a completion that the store can't take", () => {
  it.each([
    ["until shortly before the end of the invocation", 0, 3000, 5500],
    ["for 30 seconds if the time for an answer is over", 5500, 30_000, 36_000],
  ])("is tried %s", async (_, worksMs, atLeast, atMost) => {
    const { clock, store, passed } = given([]);
    const options = {
      operation: "order",
      store: failing(store, "settle", "before"),
      clock,
      renewLease: true,
    };
    const context = { getRemainingTimeInMillis: () => 6000 };

    const call = runOnce({ ...options, context }, "key", {}, () => clock.sleep(worksMs).then(() => "done"));

    expect(await clock.run(call)).toBe("done");
    expect(passed()).toBeGreaterThanOrEqual(atLeast);
    expect(passed()).toBeLessThanOrEqual(atMost);
  });
});

describe("a call that goes on with the claim of an earlier one of the same owner", () => {
  let tokens = 0;
  const owned = (owner: string) =>
    [{ random: { token: () => `${owner}${++tokens}`, fraction: () => 0.5 } }, { owner }] as const;

  it("H62: runs while the lease of the earlier one is live", async () => {
    const world = newWorld();
    world.start(() => new Promise(() => {}), ...owned("arn:1 "));
    await world.clock.advance(1000);

    expect(await world.call(() => "went on", ...owned("arn:1 "))).toBe("went on");
    expect(world.record()).toMatchObject({ state: "completed", attempt: 2 });
  });

  it("H62: doesn't run beside another owner's", async () => {
    const world = newWorld();
    world.start(() => new Promise(() => {}), ...owned("arn:1 "));
    await world.clock.advance(1000);

    await expect(world.call(never, ...owned("arn:2 "))).rejects.toMatchObject({
      code: "EXECUTION_IN_PROGRESS",
    });
    await expect(world.call(never)).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
  });

  it("H42: doesn't run if the key is held", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    const unsure = () => Promise.reject(new OutcomeUnknownError());
    await expect(world.call(unsure, ...owned("arn:1 "))).rejects.toThrow(OutcomeUnknownError);

    await expect(world.call(never, ...owned("arn:1 "))).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(world.record()).toMatchObject({ state: "held", attempt: 1 });
  });
});

it("leaves a foreign error as it is", async () => {
  const world = newWorld();
  const bug = new TypeError("unreadable answer");
  const store = failing(world.memory, "claim", "before", { error: () => bug });

  await expect(world.call(never, { store })).rejects.toBe(bug);
  expect(bug).not.toHaveProperty("keyHash");
});
