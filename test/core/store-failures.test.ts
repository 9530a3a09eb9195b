// A store that fails before anybody runs.
import { describe, expect, it } from "vitest";
import { STORE_FAILURES, StoreUnavailableError } from "../../lib/core/errors.ts";
import { failing, intercepted, throttled } from "../kit/faults/faulty-store.ts";
import { newWorld, pausedWorker } from "./world.ts";

describe("perform, claimed", () => {
  it("H13: a throttled claim refuses by default, and runs nothing", async () => {
    const world = newWorld({ store: undefined });
    let runs = 0;
    const store = failing(world.memory, "claim", "before", { error: throttled });

    await expect(world.call(async () => ++runs, { store })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      failure: "throttled",
    });

    expect(runs).toBe(0);
    expect(world.decisions()).toEqual(["store-failed"]);
  });

  it("H13: a throttled claim runs once and reports it, if the options say so, and the result is still recorded", async () => {
    const world = newWorld({ whenStoreFails: "run" });
    let runs = 0;
    const store = failing(world.memory, "claim", "before", { error: throttled });

    expect(await world.call(async () => ++runs, { store })).toBe(1);

    expect(world.decisions()).toEqual(["store-failed", "ran-unprotected", "executed"]);
    expect(await world.call(async () => ++runs)).toBe(1);
  });

  it.each(STORE_FAILURES)(
    'H13: `whenStoreFails: "run"` runs over an outage, and never over a refusal: %s',
    async (failure) => {
      const error = () => new StoreUnavailableError(failure, new Error("no"));
      for (const [mode, method] of [
        ["claimed", "claim"],
        ["optimistic", "find"],
      ] as const) {
        const world = newWorld({ whenStoreFails: "run", mode });
        let runs = 0;
        const store = failing(world.memory, method, "before", { error });

        const ended = await world.call(async () => ++runs, { store }).catch((thrown: unknown) => thrown);

        if (failure === "refused") expect([ended, runs]).toEqual([expect.objectContaining({ failure }), 0]);
        else expect([ended, runs]).toEqual([1, 1]);
        expect(world.decisions().includes("ran-unprotected")).toBe(failure !== "refused");
      }
    },
  );

  it("H13: a claim that was made although its response was lost doesn't block the unprotected run", async () => {
    const world = newWorld({ whenStoreFails: "run" });
    const store = failing(world.memory, "claim", "after");

    expect(await world.call(async () => "done", { store })).toBe("done");
    expect(await world.call(async () => "never")).toBe("done");
  });

  it.each([
    ["its result cannot be loaded", "loadResult", {}],
    ["waiting for its winner fails", "find", { whenInProgress: { waitSeconds: 10 } }],
  ] as const)("H13: a record that was seen is never run over, although %s", async (_, method, options) => {
    const world = newWorld({ whenStoreFails: "run", ...options });
    if (method === "loadResult") await world.call(async () => "r".repeat(2000));
    else pausedWorker(world);
    await world.clock.advance(0);
    let runs = 0;

    const call = world.call(async () => ++runs, { store: failing(world.memory, method, "before") });

    await expect(call).rejects.toThrow(StoreUnavailableError);
    expect(runs).toBe(0);
    expect(world.decisions()).not.toContain("ran-unprotected");
  });

  it("gives up when the record changes under every claim", async () => {
    const world = newWorld();
    let claims = 0;
    const store = intercepted(world.memory, async () => {
      claims++;
      return { won: false, record: undefined };
    });

    await expect(world.call(async () => "never", { store })).rejects.toMatchObject({ failure: "conflict" });
    expect(claims).toBe(8);
  });

  it("claims again when the refusal shows a record that can be claimed by now", async () => {
    const world = newWorld();
    await world.call(() => Promise.reject(new Error("released"))).catch(() => {});
    let refusals = 0;
    const store = intercepted(world.memory, async (method, request) =>
      method === "claim" && refusals++ === 0 ? { won: false, record: world.record() } : request(),
    );

    expect(await world.call(async ({ attempt }) => attempt, { store })).toBe(2);
  });
});
