// Attempts with an unknown end: the next call runs, or holds the key.
import { describe, expect, it } from "vitest";
import { ClaimLostError, OutcomeUnknownError, StoreUnavailableError } from "../../lib/core/errors.ts";
import { answerLost, failing, intercepted } from "../kit/faults/faulty-store.ts";
import { abandoned, evidenceOf, never } from "./abandoned-given.ts";
import { counting, newWorld, pausedWorker, START } from "./world.ts";

describe('whenAbandoned: "run"', () => {
  it("H3: runs again, as ever, and its records expire", async () => {
    const world = await abandoned("run");

    expect(world.record().expiresAt).toBeGreaterThan(0);
    expect(await world.call(never)).toBe("ran");
    expect(world.record()).not.toHaveProperty("evidence");
  });
});

describe('whenAbandoned: "hold"', () => {
  it("H42: never runs again by itself: the key is held, and every caller is refused", async () => {
    const world = await abandoned("hold");

    for (let calls = 1; calls <= 3; calls++) {
      await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
      await world.clock.advance(3_600_000);
    }

    expect(world.record()).toMatchObject({ state: "held", attempt: 2 });
    expect(world.decisions()).toEqual(["held", "held", "held"]);
    expect(world.events[0]).toMatchObject({ attempt: 2, ageMs: 36_000 });
    expect(evidenceOf(world)).toEqual({ verdict: "unknown", by: "hold", at: START + 36_000, attempt: 1 });
  });

  it("H6: nothing that may be held has an expiry, even if no call comes for a long time", async () => {
    const world = await abandoned("hold", { retentionSeconds: 60 });

    expect(world.record()).not.toHaveProperty("expiresAt");
    await world.clock.advance(48 * 3_600_000);
    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
    expect(world.record()).not.toHaveProperty("expiresAt");
  });

  it("H1: fences the abandoned attempt: its later writes are not recorded", async () => {
    const world = await abandoned("hold");
    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);

    world.worker.resume("late");

    await expect(world.worker.outcome).rejects.toThrow(ClaimLostError);
    expect(world.record()).toMatchObject({ state: "held" });
  });

  it("a record that ended, was released or has failed for good is not held, and expires", async () => {
    const world = newWorld({ whenAbandoned: "hold" });

    await expect(world.call(() => Promise.reject(new Error("again")))).rejects.toThrow("again");
    expect(world.record()).toMatchObject({ state: "released", expiresAt: expect.any(Number) });
    expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
    expect(world.record()).toMatchObject({ state: "completed", expiresAt: expect.any(Number) });
    expect(world.decisions()).toEqual(["released", "executed"]);
  });

  it("reports a mismatch before it reports that the key is held", async () => {
    const world = await abandoned("hold");
    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);

    await expect(world.call(never, {}, { input: "other" })).rejects.toThrow("a different payload");
  });

  it("costs an ordinary call no request more", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    const { requests, store } = counting(world);

    await world.call(never, { store });
    await world.call(never, { store });

    expect(requests).toEqual(["claim", "settle", "claim"]);
  });

  it.each(["claim", "settle"] as const)("an answer to a %s that was lost changes nothing", async (method) => {
    const world = await abandoned("hold");

    const store = answerLost(world.memory, method);
    await expect(world.call(never, { store })).rejects.toThrow(OutcomeUnknownError);

    expect(world.record()).toMatchObject({ state: "held", attempt: 2 });
  });

  it("H42: a call that dies or fails before it has held the key leaves that to the next one", async () => {
    const world = await abandoned("hold");
    const store = failing(world.memory, "settle", "before");

    await expect(world.call(never, { store })).rejects.toThrow(StoreUnavailableError);
    expect(world.record()).toMatchObject({ state: "in-progress", attempt: 2 });
    await world.clock.advance(36_000);
    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);

    expect(world.record()).toMatchObject({ state: "held", attempt: 3 });
  });

  it("H42: does not release a key whose previous attempt is open, if the claim used all the time", async () => {
    const world = await abandoned("hold");
    const store = intercepted(world.memory, async (method, request, [, seen]) => {
      const answer = await request();
      if (method === "claim" && seen) await world.clock.sleep(60_000);
      return answer;
    });

    await expect(world.call(never, { store })).rejects.toThrow(StoreUnavailableError);

    expect(world.record()).toMatchObject({ state: "in-progress", attempt: 2 });
    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
  });

  it("H3: a commit of unknown outcome leaves its claim, and the first caller after the lease holds the key", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    const store = failing(world.memory, "settle", "before");
    await expect(world.call(({ commit }) => commit("charged"), { store })).rejects.toThrow(
      StoreUnavailableError,
    );

    await world.clock.advance(36_000);

    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
  });

  it("H3: an attempt that was aborted leaves its claim, and its late end is kept until a call holds the key", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    const stopped = world.start(async ({ signal }) => {
      await world.clock.sleep(29_900);
      throw signal.reason ?? new Error("stopped");
    });
    await world.clock.advance(30_000);
    await expect(stopped).rejects.toThrow();
    expect(world.record().state).toBe("in-progress");

    await world.clock.advance(6_000);

    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
  });

  it("waits for the attempt that has the key, and then holds it", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    pausedWorker(world);
    await world.clock.advance(0);

    const whenInProgress = { waitSeconds: 60 };
    await expect(world.call(never, { whenInProgress, leaseSeconds: 100 })).rejects.toThrow(
      OutcomeUnknownError,
    );
  });
});

describe("whenAbandoned with other options", () => {
  it.each([
    [{ mode: "optimistic" }, "isn't supported in optimistic mode, in which"],
    [
      { whenStoreFails: "run" },
      'can\'t be combined with `whenStoreFails: "run"`, because such a run leaves no claim',
    ],
  ] as const)("rejects %j when nothing could be held", async (other, text) => {
    const world = newWorld({ ...other, whenAbandoned: "hold" });

    expect(() => world.start(never)).toThrow(text);
    await expect(world.call(never, { whenAbandoned: "run" })).resolves.toBe("ran");
  });
});
