// Writes whose answer is lost, or that can never be made.
import { describe, expect, it } from "vitest";
import { PermanentError, StoreUnavailableError } from "../../lib/core/errors.ts";
import { answerLost, failing, intercepted, throttled, unreachable } from "../kit/faults/faulty-store.ts";
import { newWorld, START } from "./world.ts";

describe("perform, claimed", () => {
  it("H7: a completion that can never be written costs one effect, and the caller gets the result", async () => {
    const world = newWorld();
    let effects = 0;
    const store = failing(world.memory, "settle", "before", { error: throttled });

    const answer = await world.clock.run(world.start(async () => ++effects, { store }));

    expect(answer).toEqual({ replayed: false, result: 1, original: 1 });
    expect(effects).toBe(1);
    expect(world.decisions().at(-1)).toBe("completion-lost");
    expect(world.decisions().filter((decision) => decision === "store-failed").length).toBeGreaterThan(10);
    expect(world.events.at(-1)?.error).toBeInstanceOf(StoreUnavailableError);
    expect(world.clock.now()).toBeLessThan(START + 30_000);
    expect(world.clock.now()).toBeGreaterThan(START + 25_000);
    expect(world.record().state).toBe("in-progress");
  });

  it("H7: makes no try that could only begin when the time is up", async () => {
    const world = newWorld({
      leaseSeconds: 5.65,
      random: { token: () => "mine", fraction: () => 1 - 2 ** -53 },
    });
    const tries: number[] = [];
    const store = intercepted(world.memory, async (method, request) => {
      if (method !== "settle") return request();
      tries.push(world.clock.now() - START);
      throw unreachable();
    });

    await world.call(async () => "done", { store });

    // The next one would begin at 5150, half a second before the end of the lease.
    expect(tries).toEqual([0, 50, 150, 350, 750, 1550, 3150]);
  });

  it("H7: a completion is written once the store is back", async () => {
    const world = newWorld();
    const store = failing(world.memory, "settle", "before", { times: 4 });

    await world.call(async () => "done", { store });

    expect(world.decisions()).toEqual([...Array(4).fill("store-failed"), "executed"]);
    expect(await world.call(async () => "never")).toBe("done");
  });

  it("H7: a final error that cannot be recorded is thrown all the same", async () => {
    const world = newWorld();
    const store = failing(world.memory, "settle", "before", {
      error: () => new StoreUnavailableError("refused", new Error("denied")),
    });

    await expect(world.call(() => Promise.reject(new PermanentError("sold out")), { store })).rejects.toThrow(
      "sold out",
    );
    expect(world.decisions()).toEqual(["store-failed", "completion-lost"]);
    expect(world.clock.now()).toBe(START);
  });

  it("H8: wins its own claim when the answer was lost", async () => {
    const world = newWorld();
    let runs = 0;

    const answer = await world.call(async ({ attempt }) => [++runs, attempt], {
      store: answerLost(world.memory, "claim"),
    });

    expect(answer).toEqual([1, 1]);
    expect(world.decisions()).toEqual(["executed"]);
  });

  it("H8: counts its own completion, final error and release as done when the answer was lost", async () => {
    for (const [work, state] of [
      [async () => "done", "completed"],
      [() => Promise.reject(new PermanentError("no")), "failed"],
      [() => Promise.reject(new Error("again")), "released"],
    ] as const) {
      const world = newWorld();

      await world.call(work, { store: answerLost(world.memory, "settle") }).catch(() => {});

      expect(world.record().state).toBe(state);
      expect(world.decisions()).toEqual([state === "released" ? "released" : "executed"]);
    }
  });

  it("H8: wins its own replacement of an expired record when the answer was lost", async () => {
    const world = newWorld({ retentionSeconds: 60 });
    await world.call(async () => "old");
    await world.clock.advance(60_000);

    expect(
      await world.call(async ({ attempt }) => attempt, { store: answerLost(world.memory, "claim") }),
    ).toBe(2);
  });
});
