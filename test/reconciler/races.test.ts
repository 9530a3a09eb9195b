// Reconcilers beside each other, beside callers, beside TTL, and with clocks that are wrong.
import { describe, expect, it } from "vitest";
import type { VerifyRecord } from "../../lib/core/verify.ts";
import { reconciler } from "../../lib/reconciler/reconciler.ts";
import { fakeClock } from "../../lib/testing/index.ts";
import { failing, intercepted, isOfRecord, unreachable } from "../kit/faults/faulty-store.ts";
import { reconcilerWorld, START } from "./given.ts";

function counted(outcome: "did-not-happen" | "unknown" = "unknown") {
  const asked: number[] = [];
  const verify: VerifyRecord = ({ fence }) => {
    asked.push(fence);
    return { outcome };
  };
  return { asked, verify };
}

/** Another reconciler that asks about the same keys. It also knows another operation, so the two don't take turns. */
const other = (options: ReturnType<ReturnType<typeof reconcilerWorld>["optionsOf"]>) =>
  reconciler({ ...options, operations: { ...options.operations, refund: "hold" } });

describe("concurrent reconcilers", () => {
  it("H6: of two one asks about a key", async () => {
    const world = reconcilerWorld();
    for (let index = 0; index < 9; index++) await world.dies(`order-${index}`);
    await world.clock.advance(100_000);
    const { asked, verify } = counted();
    const options = world.optionsOf(async (previous) => {
      await world.clock.sleep(1000);
      return verify(previous);
    });

    const reports = await world.clock.run(Promise.all([reconciler(options)(), other(options)()]));

    expect(asked).toHaveLength(9);
    expect(reports.map(({ unknown }) => unknown).reduce((sum, count) => sum + count)).toBe(9);
  });

  it("H6: a reconciler that saw a key before another one asked leaves it alone", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.clock.advance(100_000);
    const { asked, verify } = counted();
    const store = intercepted(world.store, async (method, request, parameters) => {
      const isBefore = method === "find" && isOfRecord(parameters) && asked.length === 0;
      if (isBefore) await other(world.optionsOf(verify))();
      return request();
    });

    await world.run(world.optionsOf(verify, { store }));

    expect(asked).toEqual([2]);
  });
});

describe("a reconciler next to", () => {
  it.each(["find", "claim"] as const)(
    "H6: a caller that takes over the key at the moment of its %s: the caller's run counts",
    async (moment) => {
      const world = reconcilerWorld();
      await world.dies("order-1");
      await world.clock.advance(100_000);
      const { asked, verify } = counted("did-not-happen");
      let isTaken = false;
      const store = intercepted(world.store, async (method, request, parameters) => {
        if (method === moment && isOfRecord(parameters) && !isTaken) {
          isTaken = true;
          await world.call("order-1", () => "caller", { whenAbandoned: "run" });
        }
        return request();
      });

      const report = await world.run(world.optionsOf(verify, { store }));

      expect(asked).toEqual([]);
      expect(report).toMatchObject({ happened: 0, didNotHappen: 0, unknown: 0 });
      expect(world.record("order-1")).toMatchObject({ state: "completed", attempt: 2 });
    },
  );

  it("H6: a caller that comes while it asks: the caller waits, and gets the outcome", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.clock.advance(100_000);
    const calls: unknown[] = [];
    const verify: VerifyRecord = async () => {
      calls.push(await world.call("order-1", () => "caller").catch(({ code }) => code));
      return { outcome: "happened", result: "charged" };
    };

    await world.run(world.optionsOf(verify));

    expect(calls).toEqual(["EXECUTION_IN_PROGRESS"]);
    expect(await world.call("order-1", () => "caller")).toBe("charged");
  });

  it("H6: a caller that took the key over while it asked: its finding is not recorded", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.clock.advance(100_000);
    const verify: VerifyRecord = async () => {
      await world.clock.advance(60_000);
      await world.call("order-1", () => "caller", { whenAbandoned: "run" });
      return { outcome: "did-not-happen" };
    };
    // It was frozen for longer than its lease, and no timer of its own went off.
    const clock = { now: () => world.clock.now(), sleep: () => new Promise<void>(() => {}) };

    const report = await reconciler(world.optionsOf(verify, { clock }))();

    expect(report).toMatchObject({ didNotHappen: 0, unknown: 0 });
    expect(await world.call("order-1", () => "again")).toBe("caller");
  });

  it.each(["find", "claim"] as const)(
    "H6: TTL, which deletes the record at the moment of its %s: nothing is asked, nothing is created",
    async (moment) => {
      const world = reconcilerWorld();
      await world.dies("order-1");
      await world.clock.advance(100_000);
      const { asked, verify } = counted();
      const store = intercepted(world.store, async (method, request, parameters) => {
        if (method === moment && isOfRecord(parameters)) world.store.alter(world.keyOf("order-1"), undefined);
        return request();
      });

      expect(await world.run(world.optionsOf(verify, { store }))).toMatchObject({
        unknown: 0,
        unrecorded: 0,
      });
      expect(asked).toEqual([]);
      expect(world.records()).toEqual([]);
    },
  );
});

describe("a reconciler, by its clock", () => {
  it("H6: that is behind asks later, and settles nothing early", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.clock.advance(100_000);
    const { asked, verify } = counted();
    const behind = fakeClock(world.clock.now() - 600_000);
    const options = world.optionsOf(verify, { clock: behind });

    await behind.run(reconciler(options)());
    expect(asked).toEqual([]);
    await behind.advance(600_000);
    await behind.run(reconciler(options)());

    expect(asked).toEqual([2]);
  });

  it("that is ahead by less than the least age takes no live claim over", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    const { asked, verify } = counted();
    const ahead = fakeClock(START + 35_000 + 59_000);

    await ahead.run(reconciler(world.optionsOf(verify, { clock: ahead }))());

    expect(asked).toEqual([]);
  });
});

describe("a reconciler, by its time", () => {
  it("H6: does what its invocation has time for, and the next ones continue until no key is left", async () => {
    const world = reconcilerWorld();
    for (let index = 0; index < 20; index++) await world.dies(`order-${index}`);
    await world.clock.advance(100_000);
    const asked = new Map<string, number>();
    const options = world.optionsOf(
      async ({ childKey }) => {
        asked.set(childKey("charge"), (asked.get(childKey("charge")) ?? 0) + 1);
        await world.clock.sleep(2000);
        return { outcome: "happened", result: 1 };
      },
      { concurrency: 2 },
    );

    const reports = [];
    for (let runs = 0; runs < 6; runs++) reports.push(await world.run(options, 10_000));

    expect(reports.map(({ happened }) => happened)).toEqual([4, 4, 4, 4, 4, 0]);
    expect(reports.map(({ isCut }) => isCut)).toEqual([true, true, true, true, true, false]);
    expect([...asked.values()]).toEqual(Array(20).fill(1));
  });

  it("begins in a short invocation too, and without a context", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.dies("order-2");
    await world.clock.advance(100_000);
    const { verify } = counted("did-not-happen");

    expect(await world.run(world.optionsOf(verify, { concurrency: 1 }), 1000)).toMatchObject({
      didNotHappen: 2,
    });
    expect(await reconciler(world.optionsOf(verify))()).toMatchObject({ didNotHappen: 0, isCut: false });
  });
});

describe("a reconciler whose store fails", () => {
  it.each(["find", "claim", "settle"] as const)(
    "H6: at %s reports the key, and a later run settles it",
    async (method) => {
      const world = reconcilerWorld();
      await world.dies("order-1");
      await world.clock.advance(100_000);
      const { verify } = counted("did-not-happen");

      const store = failing(world.store, method, "before");
      const report = await world.run(world.optionsOf(verify, { store }));

      expect(report).toMatchObject({ unrecorded: 1, didNotHappen: 0 });
      expect(world.events).toMatchObject([
        { event: "unrecorded", operation: "charge", error: { code: "STORE_UNAVAILABLE" } },
        { event: "unsettled", keys: 1 },
      ]);
      expect(world.events.at(-1)).toHaveProperty(
        "oldestMs",
        expect.toSatisfy((ms) => ms >= 65_000),
      );
      await world.clock.advance(100_000);
      expect(await world.run(world.optionsOf(verify))).toMatchObject({ didNotHappen: 1 });
    },
  );

  it.each([
    ["find", "before"],
    ["claim", "before"],
    ["claim", "after"],
    ["settle", "before"],
    ["settle", "after"],
  ] as const)(
    "H6: at %s for a moment, %s it is applied, settles the key in the same run",
    async (method, when) => {
      const world = reconcilerWorld();
      await world.dies("order-1");
      await world.clock.advance(100_000);
      const { verify, asked } = counted("did-not-happen");

      const report = await world.run(
        world.optionsOf(verify, { store: failing(world.store, method, when, { times: 3 }) }),
      );

      expect(report).toMatchObject({ didNotHappen: 1, unrecorded: 0 });
      expect(asked).toHaveLength(1);
    },
  );

  it("H6: after its outcome was applied, reports it even if a caller has claimed the key since", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.clock.advance(100_000);
    const { verify } = counted("did-not-happen");
    let losses = 0;
    const store = intercepted(world.store, async (method, request) => {
      const answer = await request();
      if (method !== "settle" || losses++ > 0) return answer;
      await new Promise<void>((begun) => {
        const works = () => {
          begun();
          return new Promise<void>(() => {});
        };
        void world.call("order-1", works);
      });
      throw unreachable();
    });

    const report = await world.run(world.optionsOf(verify, { store }));

    expect(world.record("order-1")).toMatchObject({ state: "in-progress", attempt: 3 });
    expect(report).toMatchObject({ didNotHappen: 1, unrecorded: 0 });
  });

  it("H6: in the middle of its list begins the list again, and handles each key once", async () => {
    const world = reconcilerWorld();
    for (const key of ["order-1", "order-2", "order-3"]) await world.dies(key);
    await world.clock.advance(100_000);
    const { verify, asked } = counted("unknown");
    let lists = 0;
    const unknownOutcomes = async function* (query: { before: number }) {
      lists++;
      let reported = 0;
      for await (const outcome of world.store.unknownOutcomes(query)) {
        if (lists < 3 && ++reported === 2) throw unreachable();
        yield outcome;
      }
    };
    const passing = intercepted(world.store, (_, request) => request());
    const store = Object.assign(Object.create(passing), { unknownOutcomes });

    const report = await world.run(world.optionsOf(verify, { store }));

    expect([lists, asked.length]).toEqual([3, 3]);
    expect(report).toMatchObject({ unknown: 3, waiting: 0, isCut: false });
  });

  it("throws the error that keeps it from listing, and reports no age", async () => {
    const world = reconcilerWorld();
    const unknownOutcomes = () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("no index")) }),
    });
    const store = Object.assign(Object.create(world.store), { unknownOutcomes });

    await expect(world.reconcile("hold", { store })).rejects.toThrow("no index");
    expect(world.events).toEqual([]);
  });

  it("reports a record that became unreadable as one that can't be verified", async () => {
    const world = reconcilerWorld();
    await world.dies("order-1");
    await world.clock.advance(100_000);
    const { verify } = counted();
    const store = intercepted(world.store, async (method, request, parameters) => {
      if (method === "find" && isOfRecord(parameters))
        world.store.alter(world.keyOf("order-1"), { version: 9 });
      return request();
    });

    expect(await world.run(world.optionsOf(verify, { store }))).toMatchObject({ unasked: 1 });
  });
});
