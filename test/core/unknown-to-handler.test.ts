// Handlers that do not know whether their effect happened, and say so.
import { describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../lib/core/errors.ts";
import { failing } from "../kit/faults/faulty-store.ts";
import { evidenceOf, never, type WhenAbandoned } from "./abandoned-given.ts";
import { newWorld, pausedWorker, START } from "./world.ts";

const gaveUp = new OutcomeUnknownError(new TypeError("fetch failed"));
const unsure = () => Promise.reject(gaveUp);

describe("a handler that throws OutcomeUnknownError", () => {
  it("H42: holds its key immediately, and no call runs", async () => {
    const world = newWorld({ whenAbandoned: "hold" });

    await expect(world.call(unsure)).rejects.toBe(gaveUp);
    await world.clock.advance(600_000);
    await expect(world.call(never)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });

    expect(world.record()).toMatchObject({ state: "held" });
    expect(world.record().expiresAt).toBeUndefined();
    expect(evidenceOf(world)).toEqual({ verdict: "unknown", by: "handler", at: START, attempt: 1 });
    expect(world.decisions()).toEqual(["held", "held"]);
  });

  it("H42: is asked about a minute later, and its effect is not repeated", async () => {
    const attempts: number[] = [];
    const whenAbandoned: WhenAbandoned = ({ attempt }) => {
      attempts.push(attempt);
      return { outcome: "happened", result: "charged" };
    };
    const world = newWorld({ whenAbandoned });

    await expect(world.call(unsure)).rejects.toBe(gaveUp);
    await expect(world.call(never)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await world.clock.advance(60_000);

    expect(await world.call(never)).toBe("charged");
    expect(attempts).toEqual([1]);
  });

  it("releases its key if whenAbandoned is run", async () => {
    const world = newWorld({ whenAbandoned: "run" });

    await expect(world.call(unsure)).rejects.toBe(gaveUp);

    expect(await world.call(never)).toBe("ran");
  });

  it("is abandoned if the store doesn't respond", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    const store = failing(world.memory, "settle", "before");

    await expect(world.call(unsure, { store })).rejects.toBe(gaveUp);

    expect(world.record()).toMatchObject({ state: "in-progress" });
    expect(world.decisions().at(-1)).toBe("outcome-unknown");
  });

  it("fails with a store error that isn't about its own write", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    const bug = new TypeError("unreadable answer");
    const store = failing(world.memory, "settle", "after", { error: () => bug });

    await expect(world.call(unsure, { store })).rejects.toBe(bug);
  });

  it("H1: gets the answer of the call that took its key over", async () => {
    const world = newWorld({ whenAbandoned: () => ({ outcome: "did-not-happen" }) });
    const worker = pausedWorker(world);
    await world.clock.advance(36_000);
    expect(await world.call(never)).toBe("ran");

    worker.fail(gaveUp);

    expect(await worker.outcome).toMatchObject({ replayed: true, result: "ran" });
  });
});
