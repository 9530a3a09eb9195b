// The end of an attempt: released, left alone, or recorded; in time or not.
import { describe, expect, it } from "vitest";
import { PermanentError, StoreUnavailableError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { Interrupted } from "../../lib/core/running.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { failing, gate, intercepted, newWorld, START } from "./world.ts";

type Work = Execution<MemoryWrite>;

/** Work that stops when it is told to. */
const obedient = ({ signal }: Work) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

describe("signal", () => {
  it("H42: aborts half a second before the deadline, and the attempt is not released", async () => {
    const world = newWorld({ leaseSeconds: undefined });

    const call = world.call(obedient, {}, { remainingMs: 10_000 });

    await expect(call).rejects.toThrow("the deadline of this attempt is near");
    expect(world.clock.now()).toBe(START + 9500);
    expect(world.decisions()).toEqual(["outcome-unknown"]);
    expect(world.record().state).toBe("in-progress");
  });

  it.each([
    [1000, 900],
    [10, 9],
    [0, 0],
    [-5, 0],
  ])("H42: of %i ms, aborts after %i", async (remainingMs, abortsAfter) => {
    const world = newWorld({ leaseSeconds: undefined });

    await expect(world.call(obedient, {}, { remainingMs })).rejects.toThrow("near");

    expect(world.clock.now()).toBe(START + abortsAfter);
  });

  it("H42: whenever a worker is killed, its key is stuck until the end of its lease and no longer", async () => {
    for (const killedAt of [0, 1, 500, 9499, 9500, 9999, 10_000]) {
      const world = newWorld({ leaseSeconds: undefined });
      world.start(() => new Promise(() => {}), {}, { remainingMs: 10_000 });
      await world.clock.advance(killedAt);

      const retry = { remainingMs: 10_000 };
      await expect(world.call(async () => "early", {}, retry)).rejects.toThrow("in progress");
      await world.clock.advance(START + 15_001 - world.clock.now());

      expect(await world.call(async ({ attempt }) => attempt, {}, retry)).toBe(2);
    }
  });

  it("does not abort once the work is over, and keeps no sleeper", async () => {
    const world = newWorld();
    let signal: AbortSignal | undefined;

    await world.call(async (execution) => {
      signal = execution.signal;
    });
    expect(world.clock.sleepers).toBe(0);
    await world.clock.advance(60_000);

    expect(signal?.aborted).toBe(false);
  });

  it("H42: a result that arrives after the abort is still recorded", async () => {
    const world = newWorld();
    const { opened, open } = gate<string>();
    const call = world.start(() => opened);
    await world.clock.advance(29_900);

    open("late");

    expect((await call).result).toBe("late");
    expect(world.record().state).toBe("completed");
  });

  it("H42: an answer that is not stored does not release after the abort", async () => {
    const world = newWorld({ shouldStore: () => false });
    const { opened, open } = gate<string>();
    const call = world.start(() => opened);
    await world.clock.advance(29_900);

    open("503");

    expect((await call).result).toBe("503");
    expect(world.decisions()).toEqual(["outcome-unknown"]);
    expect(world.record().state).toBe("in-progress");
  });

  it("H42: a final error after the abort is recorded: the handler has ended and says so", async () => {
    const world = newWorld();
    const { opened, fail } = gate();
    const call = world.start(() => opened);
    await world.clock.advance(29_900);

    fail(new PermanentError("sold out"));

    await expect(call).rejects.toThrow("sold out");
    expect(world.record().state).toBe("failed");
  });
});

describe("Interrupted", () => {
  it("H42: work that may still be going on is neither released nor failed, and its error is unwrapped", async () => {
    const world = newWorld({ isFinalError: () => true });
    const error = new Error("early timeout");

    await expect(world.call(() => Promise.reject(new Interrupted(error)))).rejects.toBe(error);

    expect(world.decisions()).toEqual(["outcome-unknown"]);
    expect(world.record().state).toBe("in-progress");
  });

  it("does not undo a commit", async () => {
    const world = newWorld();
    const error = new Error("early timeout");
    const work = async ({ commit }: Work) => {
      await commit("committed");
      throw new Interrupted(error);
    };

    await expect(world.call(work)).rejects.toBe(error);

    expect(await world.call(work)).toBe("committed");
  });
});

describe("release", () => {
  it("lets a retry run at once, with the next attempt number", async () => {
    const world = newWorld();

    await expect(world.call(() => Promise.reject(new Error("again")))).rejects.toThrow("again");

    expect(world.record()).toMatchObject({ state: "released", attempt: 1 });
    expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
    expect(world.decisions()).toEqual(["released", "executed"]);
  });

  it("lets the client mend its request", async () => {
    const world = newWorld();
    await world.call(() => Promise.reject(new Error("invalid"))).catch(() => {});

    expect(await world.call(async () => "mended", {}, { input: "mended" })).toBe("mended");
  });

  it("answers with a result that is not stored, and the next call runs", async () => {
    const world = newWorld({ shouldStore: (value) => value !== 503 });

    expect(await world.call(async () => 503)).toBe(503);
    expect(await world.call(async () => 200)).toBe(200);
    expect(await world.call(async () => 500)).toBe(200);
  });

  it.each([
    ["the store", () => new StoreUnavailableError("unreachable", new Error("no answer"))],
    ["a store that cannot read its record", () => new TypeError("unreadable")],
  ])("rule 4: never hides the handler's error behind one of %s", async (_, error) => {
    const world = newWorld();
    const store = failing(world.memory, "settle", "before", { error });

    await expect(world.call(() => Promise.reject(new Error("own")), { store })).rejects.toThrow("own");
    expect(world.record().state).toBe("in-progress");
  });

  it("rule 4: does not keep the caller waiting for long", async () => {
    const world = newWorld();
    const store = failing(world.memory, "settle", "before");

    await expect(world.call(() => Promise.reject(new Error("own")), { store })).rejects.toThrow("own");

    expect(world.clock.now() - START).toBeLessThan(1000);
    expect(world.decisions().length).toBeGreaterThan(1);
    expect(new Set(world.decisions())).toEqual(new Set(["store-failed"]));
  });

  it("rule 3: nothing releases once the effect may have happened", async () => {
    const releases: unknown[] = [];
    const world = newWorld();
    const store = intercepted(failing(world.memory, "settle", "after"), (method, request, [settlement]) => {
      if (method === "settle") releases.push((settlement as { state: string }).state);
      return request();
    });

    await world.call(async ({ commit }: Work) => commit("done"), { store }).catch(() => {});
    await world.call(async () => "done", { store }, { key: "key-2" });
    await world.call(obedient, { store }, { key: "key-3" }).catch(() => {});

    expect(new Set(releases)).toEqual(new Set(["completed"]));
  });
});

describe("freeze and thaw", () => {
  it("H43: work that resumes after its attempt was taken over is fenced", async () => {
    const world = newWorld();
    const { opened, open } = gate();
    const frozen = world.start(async ({ commit }: Work) => {
      await opened;
      return commit("frozen", { writes: [world.orderWrite()] });
    });
    await world.clock.advance(600_000);
    await world.call(({ commit }: Work) => commit("winner", { writes: [world.orderWrite()] }));

    open();

    expect((await frozen).result).toBe("winner");
    expect(world.orders()).toBe(1);
  });

  it("H43: work that was not awaited and resumes in a later invocation cannot commit", async () => {
    const world = newWorld();
    const { opened, open } = gate();
    let leftBehind: Promise<unknown> | undefined;
    await world.call(async ({ commit }: Work) => {
      leftBehind = opened.then(() => commit("late", { writes: [world.orderWrite()] }));
      leftBehind.catch(() => {});
      return "returned";
    });
    await world.clock.advance(600_000);

    open();

    await expect(leftBehind).rejects.toThrow("this attempt is over");
    expect(world.orders()).toBe(0);
    expect(await world.call(async () => "never")).toBe("returned");
  });

  it("H44: interleaved calls in one process do not mix their keys, attempts or results", async () => {
    const world = newWorld();
    const gates = [gate(), gate(), gate()];
    const work = (index: number) => async (execution: Work) => {
      await gates[index]?.opened;
      return execution.commit({
        index,
        key: execution.key,
        scope: execution.scope,
        operation: execution.operation,
        child: execution.childKey("charge"),
      });
    };
    const calls = gates.map((_, index) =>
      world.start(work(index), {}, { key: `key-${index}`, scope: `tenant-${index}` }),
    );
    await world.clock.advance(0);

    for (const index of [2, 0, 1]) gates[index]?.open();

    const results = (await Promise.all(calls)).map(({ result }) => result as { child: string });
    expect(results).toEqual(
      [0, 1, 2].map((index) => ({
        index,
        key: `key-${index}`,
        scope: `tenant-${index}`,
        operation: "create-order",
        child: expect.any(String),
      })),
    );
    expect(new Set(results.map(({ child }) => child)).size).toBe(3);
    expect(new Set(world.events.map(({ keyHash }) => keyHash)).size).toBe(3);
  });
});
