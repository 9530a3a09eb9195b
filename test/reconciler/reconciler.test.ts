// What becomes of keys of unknown outcome for which nobody calls again.
import { describe, expect, it } from "vitest";
import { ClaimLostError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { AbandonedRecord, VerifyRecord } from "../../lib/core/verify.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { reconcilerWorld, START } from "./given.ts";

const NOTHING = {
  happened: 0,
  didNotHappen: 0,
  unknown: 0,
  waiting: 0,
  unasked: 0,
  unrecorded: 0,
  isCut: false,
  isSkipped: false,
};

const unknown: VerifyRecord = () => ({ outcome: "unknown" });
const happened: VerifyRecord = () => ({ outcome: "happened", result: { charge: "ch_1" } });
const didNotHappen: VerifyRecord = () => ({ outcome: "did-not-happen" });
const never = () => "ran";

describe("reconciler", () => {
  it("H6: completes an operation that happened, without a call, with the result that every later caller gets", async () => {
    const world = reconcilerWorld();
    const asked: AbandonedRecord[] = [];
    const { worker, resume } = await world.dies("order-1");

    const report = await world.reconcile((previous) => {
      asked.push(previous);
      const evidence = { asked: "GET /charges", answered: "200, 1 charge" };
      return { outcome: "happened", result: { charge: "ch_1" }, evidence };
    });
    resume("late");

    await expect(world.clock.run(worker)).resolves.toEqual({ charge: "ch_1" });
    expect(await world.call("order-1", never)).toEqual({ charge: "ch_1" });
    expect(report).toEqual({ ...NOTHING, happened: 1 });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      operation: "charge",
      scope: "",
      attempt: 1,
      fence: 2,
      startedAt: START,
      leaseEndedAt: START + 35_000,
      askedAt: START + 100_000,
    });
    expect(world.record("order-1")).toMatchObject({
      state: "completed",
      attempt: 2,
      expiresAt: START / 1000 + 100 + 31_622_400,
    });
    expect(world.evidence("order-1")).toEqual({
      verdict: "happened",
      by: "reconciler",
      at: START + 100_000,
      attempt: 1,
      asked: "GET /charges",
      answered: "200, 1 charge",
      since: START + 35_000,
    });
    expect(world.events).toEqual([
      { event: "happened", operation: "charge", keyHash: expect.any(String), unknownMs: 65_000 },
      { event: "unsettled", keys: 0, unasked: 0, oldestMs: 0 },
    ]);
  });

  it("H6: releases an operation that did not happen, and fences the attempt that is alive after all", async () => {
    const world = reconcilerWorld();
    const { worker, resume } = await world.dies("order-1");

    expect(await world.reconcile(didNotHappen)).toEqual({ ...NOTHING, didNotHappen: 1 });
    resume("late");

    await expect(world.clock.run(worker)).rejects.toThrow(ClaimLostError);
    expect(world.record("order-1")).toMatchObject({ state: "released", expiresAt: expect.any(Number) });
    expect(await world.call("order-1", never)).toBe("ran");
  });

  it("asks with the child key that the handler passed on, for an operation and a scope with any signs", async () => {
    const world = reconcilerWorld();
    const keys: string[] = [];
    const names = { operation: "pay#50%", scope: "tenant/ü#1" };
    const options = { ...world.optionsOf(unknown), ...names, leaseSeconds: 30, renewLease: false };
    const { store, clock, leaseSeconds, renewLease } = options;
    const engine = { store, clock, leaseSeconds, renewLease, ...names, whenAbandoned: "hold" } as const;
    const { runOnce } = await import("../../lib/core/run-once.ts");
    void runOnce(engine, "order-1", {}, ({ childKey }) => {
      keys.push(childKey("charge", { maxLength: 32 }));
      return new Promise(() => {});
    });
    let seen: unknown;
    const operations: Record<string, VerifyRecord> = {
      "pay#50%": ({ childKey, operation, scope }) => {
        keys.push(childKey("charge", { maxLength: 32 }));
        seen = { operation, scope };
        return { outcome: "did-not-happen" };
      },
    };

    await world.reconcile(unknown, { operations });

    expect(seen).toEqual(names);
    expect(keys[1]).toBe(keys[0]);
    expect(keys).toHaveLength(2);
  });

  it("H6: holds an unknown outcome, asks again after pauses that double, and reports how long it has been unknown", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.clock.advance(35_000);
    const askedAt: number[] = [];
    const options = world.optionsOf(({ askedAt: at }) => {
      askedAt.push((at - START - 35_000) / 60_000);
      return { outcome: "unknown" };
    });

    for (let minute = 1; minute <= 70; minute++) {
      await world.clock.advance(60_000);
      await world.run(options);
    }

    expect(askedAt).toEqual([2, 4, 8, 16, 31, 46, 61]);
    expect(world.record("order-1")).toMatchObject({ state: "held" });
    expect(world.record("order-1")).not.toHaveProperty("expiresAt");
    expect(world.events.at(-1)).toEqual({
      event: "unsettled",
      keys: 1,
      unasked: 0,
      oldestMs: 70 * 60_000,
    });
  });

  it("H6: settles a key that callers have held, and keeps since when the outcome was unknown", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.clock.advance(36_000);
    await expect(world.call("order-1", never)).rejects.toThrow("unknown");

    expect(await world.reconcile(unknown)).toEqual({ ...NOTHING, unknown: 1 });
    expect(await world.reconcile(happened)).toEqual({ ...NOTHING, happened: 1 });

    expect(world.evidence("order-1")).toMatchObject({ verdict: "happened", since: START + 36_000 });
    expect(await world.call("order-1", never)).toEqual({ charge: "ch_1" });
  });

  it("leaves alone keys that are in progress, have ended, or just run again", async () => {
    const world = reconcilerWorld();
    await world.call("done", never);
    await world.call("failed", () => Promise.reject(new Error("no"))).catch(() => {});
    await world.dies("runs", { whenAbandoned: "run" });
    await world.clock.advance(90_000);
    await world.dies("works");
    const records = JSON.stringify(world.records());

    expect(await world.run(world.optionsOf(didNotHappen))).toEqual(NOTHING);
    expect(JSON.stringify(world.records())).toBe(records);
  });

  it("H6: touches no key of an operation that it does not know, and reports that", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    const records = JSON.stringify(world.records());

    const report = await world.reconcile(unknown, { operations: { refund: happened } });

    expect(report).toEqual({ ...NOTHING, unasked: 1 });
    expect(JSON.stringify(world.records())).toBe(records);
    expect(world.events).toEqual([
      { event: "unasked", operation: "charge", keyHash: expect.any(String), unknownMs: 65_000 },
      { event: "unsettled", keys: 1, unasked: 1, oldestMs: 65_000 },
    ]);
  });

  it.each(["constructor", "__proto__"])(
    "doesn't mistake %s for an operation that it knows",
    async (operation) => {
      const world = reconcilerWorld();
      await world.dies("order-1", { operation });

      expect(await world.reconcile(happened)).toEqual({ ...NOTHING, unasked: 1 });
    },
  );

  it('H6: "hold" leaves keys to an operator, and reports their age', async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.clock.advance(3_600_000);

    expect(await world.reconcile("hold")).toEqual({ ...NOTHING, waiting: 1 });
    expect(world.record("order-1")).toMatchObject({ state: "in-progress", attempt: 1 });
    expect(world.events).toEqual([{ event: "unsettled", keys: 1, unasked: 0, oldestMs: 3_600_000 + 65_000 }]);
  });

  it("H6: leaves a key to a call or an operator if it was abandoned in a step, and reports its age", async () => {
    const world = reconcilerWorld();
    const dies = ({ step }: Execution<MemoryWrite>) =>
      step("charge", () => new Promise(() => {}), { atMostOnce: true });
    void world.call("order-1", dies, { whenAbandoned: "run" });
    await world.clock.advance(0);

    expect(await world.reconcile(didNotHappen)).toEqual({ ...NOTHING, waiting: 1 });
    expect(world.record("order-1")).toMatchObject({ state: "in-progress", attempt: 1 });
    expect(world.events).toEqual([{ event: "unsettled", keys: 1, unasked: 0, oldestMs: 64_999 }]);
  });

  it("drops the finished steps of an operation that happened, and keeps those of one that did not", async () => {
    const world = reconcilerWorld();
    const dies = async ({ step }: Execution<MemoryWrite>) => {
      await step("reserve", () => "stock");
      return new Promise(() => {});
    };
    void world.call("happened", dies);
    void world.call("not", dies);
    await world.clock.advance(0);
    let asked = 0;

    await world.reconcile(() =>
      asked++ === 0 ? { outcome: "happened", result: 1 } : { outcome: "did-not-happen" },
    );

    expect(world.record("happened").steps).toBeUndefined();
    const retry = ({ step }: Execution<MemoryWrite>) => step("reserve", () => "again");
    expect(await world.call<unknown>("not", retry)).toBe("stock");
  });

  it("leaves a damaged record alone, and settles the others", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.dies("order-2");
    world.store.alter(world.keyOf("order-1"), { version: 9 });

    expect(await world.reconcile(happened)).toEqual({ ...NOTHING, happened: 1, unasked: 1 });
  });

  it("names no operation of a key that it cannot read", async () => {
    const world = reconcilerWorld();
    const store = Object.create(world.store, {
      unknownOutcomes: {
        value: async function* () {
          yield { recordKey: "%E0%A4%A#x", state: "unreadable", since: START };
        },
      },
    });

    expect(await world.reconcile(happened, { store })).toEqual({ ...NOTHING, unasked: 1 });
    expect(world.events[0]).toMatchObject({ event: "unasked", operation: "", keyHash: "" });
  });

  it("works for an observer that throws as for one that does not", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    const observe = () => {
      throw new Error("observer");
    };

    expect(await world.reconcile(happened, { observe })).toEqual({ ...NOTHING, happened: 1 });
  });
});
