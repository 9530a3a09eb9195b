// Attempts that failed before they had an effect.
import { describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { failing, intercepted } from "../kit/faults/faulty-store.ts";
import { newWorld, START } from "./world.ts";

type Work = Execution<MemoryWrite>;

/** Work that stops on request. */
const obedient = ({ signal }: Work) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

describe("release", () => {
  it("lets a retry run immediately, with the next attempt number", async () => {
    const world = newWorld();

    await expect(world.call(() => Promise.reject(new Error("again")))).rejects.toThrow("again");

    expect(world.record()).toMatchObject({ state: "released", attempt: 1 });
    expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
    expect(world.decisions()).toEqual(["released", "executed"]);
  });

  it("H50: a shouldStore that throws does not make the work run again", async () => {
    const world = newWorld({
      shouldStore: () => {
        throw new TypeError("no status");
      },
    });

    expect(await world.call(async () => "first")).toBe("first");
    expect(await world.call(async () => "second")).toBe("first");
  });

  it("rule 4: an isFinalError that throws does not hide the handler's error", async () => {
    const world = newWorld({
      isFinalError: () => {
        throw new TypeError("no code");
      },
    });

    await expect(world.call(() => Promise.reject(new Error("own")))).rejects.toThrow("own");
    expect(world.record().state).toBe("released");
  });

  it("lets the client correct its request", async () => {
    const world = newWorld();
    await world.call(() => Promise.reject(new Error("invalid"))).catch(() => {});

    expect(await world.call(async () => "mended", {}, { input: "mended" })).toBe("mended");
  });

  it("answers with a result that is not stored, and the next call runs", async () => {
    const world = newWorld({ shouldStore: (value) => value !== 503 });

    expect(await world.start(async () => 503)).toEqual({ replayed: false, result: 503, original: 503 });
    expect(await world.call(async () => 200)).toBe(200);
    expect(await world.call(async () => 500)).toBe(200);
  });

  it.each([
    ["the store", () => new StoreUnavailableError("unreachable", new Error("no answer"))],
    ["a store that cannot read its record", () => new TypeError("unreadable")],
  ])("rule 4: never hides the handler's error in place of one of %s", async (_, error) => {
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
