// What one call does, and what it reports.
import { describe, expect, it } from "vitest";
import {
  ExecutionInProgressError,
  FingerprintMismatchError,
  OutcomeUnknownError,
} from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { newWorld, pausedWorker, START } from "./world.ts";

describe("perform, with a store that rolls back what an attempt left open", () => {
  it.each([
    ["has run", async () => "done", {}],
    ["is answered", async () => "done", { key: "done before" }],
    ["fails", () => Promise.reject(new Error("down")), {}],
  ])("H80: hands it the token of every attempt that %s", async (_, work, request) => {
    const world = newWorld();
    await world.call(async () => "before", {}, { key: "done before" });
    const over: string[] = [];
    const tokens: unknown[] = [];
    const store = intercepted(
      Object.assign(world.memory, { handlerOver: (token: string) => void over.push(token) }),
      (method, ask, [claim]) => {
        if (method === "claim") tokens.push(Object(claim).token);
        // The proxy intercepts every method.
        return (method as string) === "handlerOver" ? (ask() as never) : ask();
      },
    );

    await world.call(work, { store }, request).catch(() => {});

    expect(over).toHaveLength(1);
    expect(over).toEqual(tokens.slice(0, 1));
  });
});

describe("perform, claimed", () => {
  it("runs once and answers every call with the first result", async () => {
    const world = newWorld();
    let runs = 0;
    const work = async ({ attempt }: Execution) => ({ run: ++runs, attempt });

    const answers = [await world.call(work), await world.call(work), await world.call(work)];

    expect(answers).toEqual(Array(3).fill({ run: 1, attempt: 1 }));
    expect(world.decisions()).toEqual(["executed", "replayed", "replayed"]);
    expect(world.record()).toMatchObject({ state: "completed", attempt: 1, completedAt: START });
  });

  it("rejects another payload under the same key, before it reveals anything about progress", async () => {
    const world = newWorld();
    const worker = pausedWorker(world);
    await world.clock.advance(0);

    await expect(world.call(async () => "other", {}, { input: "other" })).rejects.toThrow(
      FingerprintMismatchError,
    );
    worker.resume("done");
    await worker.outcome;
    await expect(world.call(async () => "other", {}, { input: "other" })).rejects.toThrow(
      FingerprintMismatchError,
    );

    expect(world.decisions()).toEqual(["mismatch", "executed", "mismatch"]);
  });

  it("rejects a second caller while the lease is live, and reports when it ends", async () => {
    const world = newWorld();
    pausedWorker(world);
    await world.clock.advance(30_000 + 5000);

    const second = world.call(async () => "second");

    await expect(second).rejects.toThrow(ExecutionInProgressError);
    await expect(second).rejects.toMatchObject({ leaseExpiresAt: START + 35_000 });
    expect(world.decisions()).toEqual(["in-progress"]);
  });

  it("takes over when the lease has ended, with the next attempt number", async () => {
    const world = newWorld();
    pausedWorker(world);
    await world.clock.advance(35_001);

    expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
    expect(world.decisions()).toEqual(["taken-over", "executed"]);
  });

  it("a held record answers that the outcome is unknown", async () => {
    const world = newWorld();
    pausedWorker(world);
    await world.clock.advance(0);
    world.memory.alter([...world.memory.records.keys()][0]!, { state: "held" });

    await expect(world.call(async () => "never")).rejects.toThrow(OutcomeUnknownError);
  });

  it("H23: a key that the caller did not send is reported as unprotected", async () => {
    const world = newWorld();

    await world.call(async () => 1, {}, { keyIsFresh: true });

    expect(world.decisions()).toEqual(["ran-unprotected", "executed"]);
  });

  it("needs a lease if the remaining time is unknown", async () => {
    const world = newWorld({ leaseSeconds: undefined });

    await expect(world.call(async () => 1)).rejects.toThrow("`leaseSeconds` is required");
    expect(await world.call(async () => 1, {}, { remainingMs: 1000 })).toBe(1);
  });

  it.each([
    [undefined, 10_000, 15_000],
    [5, 10_000, 15_000],
    [60, 10_000, 65_000],
  ])(
    "with leaseSeconds %s and %i ms left the lease ends after %i ms",
    async (leaseSeconds, remainingMs, ms) => {
      const world = newWorld({ leaseSeconds });

      world.start(() => new Promise(() => {}), {}, { remainingMs });
      await world.clock.advance(0);

      expect(world.record().leaseEndsAt).toBe(START + ms);
    },
  );

  it("an observer that throws or rejects changes nothing", async () => {
    for (const observe of [
      () => {
        throw new Error("broken");
      },
      async () => {
        throw new Error("broken");
      },
    ]) {
      expect(await newWorld({ observe }).call(async () => "done")).toBe("done");
    }
  });

  it("reports operation, key hash, attempt and duration, and never the key", async () => {
    const world = newWorld();

    await world.call(() => world.clock.sleep(250), {}, { key: "secret" });

    expect(world.events).toEqual([
      {
        decision: "executed",
        operation: "create-order",
        scope: "tenant-1",
        keyHash: expect.stringMatching(/^[\w-]{43}$/),
        attempt: 1,
        durationMs: 250,
        error: undefined,
      },
    ]);
    expect(JSON.stringify(world.events)).not.toContain("secret");
  });

  it.each(["in-progress", "held"] as const)(
    "reports for a key that is %s how long it has been claimed",
    async (state) => {
      const world = newWorld();
      pausedWorker(world);
      await world.clock.advance(7000);
      world.memory.alter([...world.memory.records.keys()][0]!, { state });

      await world.call(async () => "never").catch(() => {});

      expect(world.events).toMatchObject([{ decision: state, ageMs: 7000, durationMs: 0 }]);
    },
  );
});
