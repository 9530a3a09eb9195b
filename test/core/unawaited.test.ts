// Options' functions that are called synchronously and return a promise, which counts as true whatever it resolves to.
import { describe, expect, it, vi } from "vitest";
import type { Work } from "../../lib/core/attempt.ts";
import { reportDecision } from "../../lib/core/decisions.ts";
import { isUnawaited, quietly } from "../../lib/core/unawaited.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { newWorld, START } from "./world.ts";

const later = (answer: boolean) => (() => Promise.resolve(answer)) as unknown as () => boolean;
const rejects = (() => Promise.reject(new Error("lost"))) as unknown as () => boolean;

describe("a predicate that returns a promise", () => {
  it.each([
    ["false", later(false)],
    ["true", later(true)],
    ["an error", rejects],
  ])(
    "R1: `shouldStore`: the result is kept, and the call is refused: a promise of %s",
    async (_, shouldStore) => {
      const world = newWorld({ shouldStore });
      const work = vi.fn(async () => "paid");

      await expect(world.call(work)).rejects.toMatchObject({
        code: "INVALID_OPTION",
        option: "shouldStore",
        message: "`shouldStore` must return a boolean, not a promise: it isn't awaited",
      });

      expect(world.record().state).toBe("completed");
      expect(await world.call(work, { shouldStore: () => true })).toBe("paid");
      expect(work).toHaveBeenCalledTimes(1);
    },
  );

  it.each([
    ["false", later(false)],
    ["true", later(true)],
    ["an error", rejects],
  ])(
    "R1: `isFinalError`: nothing is released, and the call is refused: a promise of %s",
    async (_, isFinalError) => {
      const world = newWorld({ isFinalError });
      const declined = new Error("declined");
      const work = vi.fn(() => Promise.reject(declined));

      await expect(world.call(work)).rejects.toMatchObject({
        code: "INVALID_OPTION",
        option: "isFinalError",
        cause: declined,
      });

      expect(world.record().state).toBe("in-progress");
      await expect(world.call(work)).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
      expect(work).toHaveBeenCalledTimes(1);
      expect(world.decisions()).toEqual(["outcome-unknown", "in-progress"]);
    },
  );

  it("R1: `isFinalError`: once the lease has ended, `whenAbandoned` decides", async () => {
    const world = newWorld({ isFinalError: later(true), whenAbandoned: "hold" });

    await expect(world.call(() => Promise.reject(new Error("declined")))).rejects.toThrow("`isFinalError`");
    await world.clock.advance(60_000);

    await expect(world.call(async () => "again")).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  it("R1: `didNotHappen`: the step stays one that may have happened, and the call is refused", async () => {
    const world = newWorld();
    const declined = new Error("declined");
    const charge = vi.fn(() => Promise.reject(declined));
    const options = { atMostOnce: true, didNotHappen: later(true) } as const;
    const call = () => world.call(({ step }) => step("charge", charge, options));

    await expect(call()).rejects.toMatchObject({
      code: "INVALID_OPTION",
      option: "didNotHappen",
      cause: declined,
    });

    expect(world.record()).toMatchObject({ state: "held", steps: { charge: { state: "begun" } } });
    await expect(call()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(charge).toHaveBeenCalledTimes(1);
  });

  it("R1: a `traceparent` that returns a promise is left out, and its error doesn't end the process", async () => {
    const world = newWorld({ traceparent: rejects as never });

    expect(await world.call(async ({ traceparent }) => `${traceparent}`)).toBe("undefined");
  });
});

it("R1: a step that the handler doesn't await is warned of once, and an awaited one never", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  // An operation that no other test has: the process remembers its warnings.
  const world = newWorld({ operation: "ship-order" });
  const awaited: Work<MemoryWrite> = ({ step }) => step("reserve", async () => "reserved");
  const leftAlone: Work<MemoryWrite> = ({ step }) => {
    void step("notify", () => world.clock.sleep(1000));
    return "paid";
  };

  await world.call(async () => "no step");
  await world.call(awaited, {}, { key: "key-2" });
  await world.call(leftAlone, {}, { key: "key-3" });
  await world.call(leftAlone, {}, { key: "key-4" });

  expect(warn.mock.calls).toEqual([
    ['onceonly: step "notify" of "ship-order" was still running when the handler returned: await it'],
  ]);
  warn.mockRestore();
});

describe("quietly", () => {
  it("ignores errors of an observer, also those of its promise", () => {
    const thrown = () => {
      throw new Error("lost");
    };

    for (const observe of [thrown, rejects]) {
      expect(() => quietly(observe)).not.toThrow();
      expect(() =>
        reportDecision(observe, { operation: "pay" }, { decision: "executed", durationMs: 0 }),
      ).not.toThrow();
    }
  });
});

describe("isUnawaited", () => {
  it("never starts a query that runs when it's awaited", () => {
    // biome-ignore lint/suspicious/noThenProperty: as query builders have it
    const query = { then: vi.fn() };

    expect(isUnawaited(query)).toBe(true);
    expect(query.then).not.toHaveBeenCalled();
  });

  it.each([undefined, null, false, "then", {}, { at: START }])("is false for %j", (value) => {
    expect(isUnawaited(value)).toBe(false);
  });
});
