// Work that reaches its deadline.

import { describe, expect, it } from "vitest";
import { PermanentError, StoreUnavailableError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { Interrupted } from "../../lib/core/running.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { counting, newWorld, START } from "./world.ts";

type Work = Execution<MemoryWrite>;

/** Work that stops on request. */
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

  it("is aborted immediately if first read at its time, and never once the attempt is over", async () => {
    const world = newWorld({ leaseSeconds: undefined });
    let kept: Work | undefined;
    const late = async (execution: Work) => {
      await world.clock.sleep(9500);
      return execution.signal.aborted;
    };
    const quick = async (execution: Work) => {
      kept = execution;
      return "done";
    };

    expect(await world.call(late, {}, { remainingMs: 10_000 })).toBe(true);
    await world.call(quick, {}, { remainingMs: 10_000, key: "key-2" });
    const signal = kept?.signal;
    await world.clock.advance(20_000);

    expect(signal?.aborted).toBe(false);
  });

  it("H42: starts without time left if nothing was claimed", async () => {
    const world = newWorld({ leaseSeconds: undefined, mode: "optimistic" });

    expect(await world.call(() => "ran", {}, { remainingMs: 0 })).toBe("ran");
  });

  it.each([0, -5])("H42: does not start with %i ms left, and gives the claim back", async (remainingMs) => {
    const world = newWorld({ leaseSeconds: undefined });
    let runs = 0;

    await expect(world.call(() => ++runs, {}, { remainingMs })).rejects.toThrow(StoreUnavailableError);

    expect(runs).toBe(0);
    expect(world.record().state).toBe("released");
  });

  it.each([
    [1000, 900],
    [10, 9],
  ])("H42: of %i ms, aborts after %i", async (remainingMs, abortsAfter) => {
    const world = newWorld({ leaseSeconds: undefined });

    await expect(world.call(obedient, {}, { remainingMs })).rejects.toThrow("near");

    expect(world.clock.now()).toBe(START + abortsAfter);
  });

  it.each([0, -5])("H42: with %i ms left nothing runs, and the key is free", async (remainingMs) => {
    const world = newWorld({ leaseSeconds: undefined });
    let runs = 0;

    await expect(world.call(async () => ++runs, {}, { remainingMs })).rejects.toThrow(StoreUnavailableError);

    expect(runs).toBe(0);
    expect(world.record().state).toBe("released");
  });

  it.each(["claimed", "optimistic"] as const)(
    "H42: half of the time that is left after the work is for the writes of its end, and half for its record: %s",
    async (mode) => {
      for (const [endsAt, patienceMs] of [
        [0, 4750],
        [5000, 2250],
        [9600, 0],
      ] as const) {
        const world = newWorld({ mode });
        const given: unknown[] = [];
        const store = intercepted(world.memory, (method, request, [end]) => {
          if (method === "settle" || method === "insert") given.push(Object(end).patienceMs);
          return request();
        });

        await world.call(() => world.clock.sleep(endsAt), { store }, { remainingMs: 10_000 });

        expect(given).toEqual([patienceMs]);
      }
    },
  );

  it("H43: a take-over that would come after the deadline is not sent", async () => {
    const world = newWorld();
    await world.call(() => Promise.reject(new Error("again"))).catch(() => {});
    const { requests, store } = counting(world, async (_, request) => {
      const answer = await request();
      await world.clock.sleep(30_000);
      return answer;
    });

    const late = world.call(async () => "never", { store }, { remainingMs: 30_000 });

    await expect(late).rejects.toThrow(StoreUnavailableError);
    expect(requests).toEqual(["claim"]);
    expect(world.record()).toMatchObject({ state: "released", attempt: 1 });
  });

  it("H42: a claim that used all the time runs nothing, and is released if the store allows it", async () => {
    for (const broken of [false, true]) {
      const world = newWorld();
      const store = intercepted(world.memory, async (method, request) => {
        if (method === "claim") await world.clock.sleep(29_600);
        if (method === "settle" && broken) throw new TypeError("broken");
        return request();
      });
      let runs = 0;

      await expect(world.call(async () => ++runs, { store })).rejects.toThrow("unreachable");

      expect(runs).toBe(0);
      expect(world.record().state).toBe(broken ? "in-progress" : "released");
    }
  });

  it("H42: a key whose worker is killed at any point is stuck until the end of its lease and no longer", async () => {
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

  it("H42: after the abort only an end that the handler itself calls final is recorded", async () => {
    const world = newWorld({ isFinalError: () => true });

    await expect(world.call(obedient)).rejects.toThrow("near");

    expect(world.decisions()).toEqual(["outcome-unknown"]);
  });

  it("H42: a PermanentError after the abort is recorded: the handler has ended and says so", async () => {
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
