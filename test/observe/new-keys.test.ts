// A caller that makes a new key for each try is noticed by its payload.
import { type DecisionEvent, emfMetrics, runOnce, watchNewKeys } from "onceonly";
import { cached } from "onceonly/stores";
import { fakeClock, MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";

function given(options: Partial<Parameters<typeof watchNewKeys>[1]> = {}) {
  const clock = fakeClock();
  const events: DecisionEvent[] = [];
  const observe = (event: DecisionEvent) => void events.push(event);
  const store = watchNewKeys(new MemoryStore(), { observe, clock, ...options });
  const engine = { operation: "pay", scope: "acme", store, clock, leaseSeconds: 30, observe };
  const pay = (key: string, payload: object = { cents: 100 }, change: object = {}) =>
    runOnce({ ...engine, ...change }, key, payload, () => "paid");
  const reported = () => events.filter(({ decision }) => decision === "new-keys");
  return { clock, pay, reported, store };
}

describe("watchNewKeys", () => {
  it.each(["claimed", "optimistic"])(
    "H59: reports one payload under a third new key, and under each further one: %s",
    async (mode) => {
      const { pay, reported } = given();
      const counts: number[] = [];
      for (const key of ["a", "b", "c", "d", "e"]) {
        await pay(key, {}, { mode });
        counts.push(reported().length);
      }

      expect(counts).toEqual([0, 0, 1, 2, 3]);
      expect(reported()[0]).toEqual({
        decision: "new-keys",
        operation: "pay",
        scope: "acme",
        keyHash: expect.stringMatching(/^[\w-]{43}$/),
        durationMs: 0,
      });
    },
  );

  it("H59: reports nothing for repetitions under one key, or for other payloads, owners and operations", async () => {
    const { pay, reported } = given({ keys: 2 });
    for (const _ of "123") await pay("a");
    await pay("b", { cents: 200 });
    await pay("c", { cents: 100 }, { scope: "globex" });
    await pay("d", { cents: 100 }, { operation: "refund" });

    expect(reported()).toEqual([]);
    await pay("e");
    expect(reported()).toHaveLength(1);
  });

  it("starts counting again after a while, and counts a key that was released only once", async () => {
    const { pay, reported, clock } = given({ keys: 2, withinSeconds: 60 });
    await pay("a");
    await clock.advance(60_000);
    await pay("b");
    expect(reported()).toEqual([]);

    const failing = { ...{ shouldStore: () => false } };
    await pay("c", { cents: 1 }, failing);
    await pay("c", { cents: 1 }, failing);
    expect(reported()).toEqual([]);
  });

  it("remembers the last thousand payloads", async () => {
    const { pay, reported } = given({ keys: 2 });
    for (let cents = 0; cents <= 1000; cents++) await pay(`a${cents}`, { cents });
    await pay("b", { cents: 0 });
    await pay("c", { cents: 1000 });

    expect(reported()).toHaveLength(1);
  });

  it("changes no outcome, whatever the observer does, also with a cache", async () => {
    const observe = () => {
      throw new Error("no");
    };
    const { pay, store } = given({ keys: 2, observe });
    const front = { store: cached(store) };

    expect(await pay("a", {}, front)).toBe("paid");
    expect(await pay("b", {}, front)).toBe("paid");
    expect(await pay("a", {}, front)).toBe("paid");
  });

  it("is a metric of emfMetrics", async () => {
    const lines: string[] = [];
    const { pay } = given({ keys: 2, observe: emfMetrics({ write: (line) => lines.push(line) }) });
    await pay("a");
    await pay("b");

    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ decision: "new-keys", NewKeys: 1 }]);
  });

  it.each([
    [{ observe: undefined }, "observe"],
    [{ keys: 1 }, "keys"],
    [{ keys: 101 }, "keys"],
    [{ withinSeconds: 90_000 }, "withinSeconds"],
    [{ within: 1 }, "within"],
  ])("rejects %j immediately", (change, name) => {
    expect(() => watchNewKeys(new MemoryStore(), { observe: () => {}, ...change } as never)).toThrow(name);
    expect(() => watchNewKeys({} as never, { observe: () => {} })).toThrow("store");
  });
});
