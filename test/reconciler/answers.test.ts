// A `verify` that is slow, throws, answers wrongly, or lies once.
import { afterEach, describe, expect, it, vi } from "vitest";
import type { VerifyRecord } from "../../lib/core/verify.ts";
import { reconcilerWorld, START } from "./given.ts";

afterEach(() => vi.restoreAllMocks());

describe("a reconciler, by what verify answers", () => {
  it.each<[string, VerifyRecord, string]>([
    ["throws", () => Promise.reject(new TypeError("card canary-5f2e")), "TypeError"],
    ["throws no error", () => Promise.reject("card canary-5f2e"), "something else"],
    ["never answers", () => new Promise(() => {}), "TimeoutError"],
    ["answers yes", (() => "happened") as unknown as VerifyRecord, "InvalidOptionError"],
    [
      "forgets the result",
      (() => ({ outcome: "happened" })) as unknown as VerifyRecord,
      "InvalidOptionError",
    ],
    ["gives what is no JSON", () => ({ outcome: "happened", result: 1n }), "ResponseNotStorableError"],
  ])(
    "H6: holds the key if verify %s, and keeps the error's name and time, not its text",
    async (_, verify, name) => {
      const world = reconcilerWorld();
      await world.dies("order-1");

      expect(await world.reconcile(verify)).toMatchObject({ unknown: 1 });

      const { lastError, answered, verdict } = world.evidence("order-1");
      expect({ lastError: lastError?.name, answered, verdict }).toEqual({
        lastError: name,
        answered: `threw ${name}`,
        verdict: "unknown",
      });
      expect(world.events[0]).toMatchObject({ event: "unknown", error: expect.anything() });
      expect(JSON.stringify([...world.store.records])).not.toContain("canary");
    },
  );

  it("names the option whose function answers wrongly", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");

    await world.reconcile((() => true) as unknown as VerifyRecord);

    expect(world.events[0]).toMatchObject({
      error: { message: expect.stringContaining("`operations.charge` must return { outcome:") },
    });
  });

  it("H6: a release keeps the name and the time of the last error", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.reconcile(() => Promise.reject(new RangeError("card canary-5f2e")));

    expect(await world.reconcile(() => ({ outcome: "did-not-happen" }))).toMatchObject({ didNotHappen: 1 });

    expect(world.record("order-1").state).toBe("released");
    expect(world.evidence("order-1")).toEqual({
      verdict: "did-not-happen",
      by: "reconciler",
      at: START + 200_000,
      attempt: 2,
      since: START + 35_000,
      lastError: { name: "RangeError", at: START + 100_000 },
    });
  });

  it("aborts a question that takes too long, asks about the others meanwhile, and records nothing later", async () => {
    const world = reconcilerWorld();
    for (const key of ["slow", "quick"]) await world.dies(key);
    const aborted: unknown[] = [];
    let asked = 0;
    const verify: VerifyRecord = ({ signal }) => {
      if (asked++ > 0) return { outcome: "happened", result: "quick" };
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          aborted.push((signal.reason as Error).name);
          resolve({ outcome: "happened", result: "late" });
        }),
      );
    };

    const report = await world.reconcile(verify, { concurrency: 1, verifyTimeoutSeconds: 5 });

    expect(report).toMatchObject({ unknown: 1, happened: 1 });
    expect(aborted).toEqual(["TimeoutError"]);
    expect(world.record("slow").state).toBe("held");
    expect(world.clock.now()).toBe(START + 105_000);
  });

  it("F4: may be waited for as long as half of the longest invocation", async () => {
    const world = reconcilerWorld();
    const verify: VerifyRecord = () => ({ outcome: "happened", result: "charged" });
    await world.dies("order-1");

    expect(await world.reconcile(verify, { verifyTimeoutSeconds: 2700 })).toMatchObject({ happened: 1 });
    await expect(async () => world.reconcile(verify, { verifyTimeoutSeconds: 2701 })).rejects.toThrow(
      "verifyTimeoutSeconds",
    );
  });

  it("H6: if verify lies once, the evidence says who was asked and what was answered, and one effect counts", async () => {
    const world = reconcilerWorld();
    const { worker, resume } = await world.dies("order-1");
    let asked = 0;
    const liar: VerifyRecord = () => {
      const evidence = { asked: "GET /charges", answered: "200, 1 charge" };
      if (asked++ === 0) return { outcome: "happened", result: "a lie", evidence };
      return { outcome: "did-not-happen", evidence: { asked: "GET /charges", answered: "200, none" } };
    };

    await world.reconcile(liar);
    await world.reconcile(liar);
    resume("the truth");

    expect(asked).toBe(1);
    expect(await world.clock.run(worker)).toBe("a lie");
    expect(await world.call("order-1", () => "again")).toBe("a lie");
    expect(world.evidence("order-1")).toMatchObject({ by: "reconciler", answered: "200, 1 charge" });
  });

  it("logs each key that it couldn't settle if there is no observer, without the message of an error", async () => {
    const world = reconcilerWorld();
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    await world.dies("order-1");
    await world.dies("order-2", { operation: "refund" });
    const observe = undefined as never;

    await world.reconcile(() => Promise.reject(new TypeError("card canary-5f2e")), { observe });
    await world.reconcile(() => ({ outcome: "unknown" }), { observe });
    await world.reconcile(() => ({ outcome: "happened", result: 1 }), { observe });

    const hash = expect.stringMatching(/^the outcome of (charge|refund) \S{43} is (unknown|unasked):$/);
    const unasked = [hash, "add its operation to `operations` of the reconciler"];
    expect(print.mock.calls).toEqual([
      unasked,
      [hash, "TypeError"],
      unasked,
      [hash, "verify returned unknown"],
      unasked,
    ]);
  });

  it("prints a key without an operation as a key", async () => {
    const world = reconcilerWorld();
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    const unknownOutcomes = async function* () {
      yield { recordKey: "%", state: "unreadable" as const, since: START };
    };
    const store = Object.assign(Object.create(world.store), { unknownOutcomes });

    await world.reconcile("hold", { store, observe: undefined as never });

    expect(print.mock.calls[0]?.[1]).toContain("the record is damaged");
    expect(print.mock.calls[0]?.[0]).toBe("the outcome of a key  is unasked:");
  });
});
