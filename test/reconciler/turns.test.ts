// Reconcilers of the same operations take turns, by a lease in their store.
import { describe, expect, it } from "vitest";
import { storeLease } from "../../lib/core/store-lease.ts";
import type { VerifyRecord } from "../../lib/core/verify.ts";
import { reconciler } from "../../lib/reconciler/reconciler.ts";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { unmigratedRecords } from "../../lib/stores/unmigrated-records.ts";
import { MemoryStore } from "../../lib/testing/index.ts";
import { answerLost, failing, intercepted, isOfRecord, unreachable } from "../kit/faults/faulty-store.ts";
import { timeless } from "../kit/time/timeless.ts";
import { keyService } from "../stores/privacy-given.ts";
import { reconcilerWorld, START } from "./given.ts";

const happened: VerifyRecord = () => ({ outcome: "happened", result: "charged" });

/** A world with a key whose attempt has died. */
async function abandoned() {
  const world = reconcilerWorld();
  await world.dies("order-1");
  await world.clock.advance(100_000);
  return world;
}

describe("H98: two reconcilers of the same operations", () => {
  it("settle each key once: the second one tries to get the lease, and reports that it did nothing else", async () => {
    const world = await abandoned();
    const requests: string[] = [];
    const store = intercepted(world.store, (method, request) => {
      requests.push(method);
      return request();
    });

    const reports = [{}, { store }].map((more) => reconciler(world.optionsOf(happened, more))());
    const [first, second] = await world.clock.run(Promise.all(reports));

    expect(first).toMatchObject({ happened: 1, isSkipped: false });
    expect(second).toMatchObject({ happened: 0, isSkipped: true });
    // Both have looked before either has claimed.
    expect(requests).toEqual(["find", "claim"]);
    expect(world.events.map(({ event }) => event)).toEqual(["happened", "unsettled"]);
  });

  it("run one after the other, without a pause", async () => {
    const world = await abandoned();

    expect(await world.run(world.optionsOf(happened))).toMatchObject({ happened: 1, isSkipped: false });
    expect(await world.run(world.optionsOf(happened))).toMatchObject({ happened: 0, isSkipped: false });
  });

  it("don't wait for longer than half a minute for one that has died", async () => {
    const world = await abandoned();
    void reconciler(world.optionsOf(() => new Promise(() => {}), { clock: timeless(world.clock) }))();
    await world.clock.advance(0);

    expect(await world.run(world.optionsOf(happened))).toMatchObject({ isSkipped: true });
    await world.clock.advance(30_001);
    expect(await world.run(world.optionsOf(happened))).toMatchObject({ isSkipped: false });
  });

  it("keep their turn for as long as they work", async () => {
    const world = reconcilerWorld();
    for (let index = 0; index < 9; index++) await world.dies(`order-${index}`);
    await world.clock.advance(100_000);
    const skipped: boolean[] = [];
    const slowly: VerifyRecord = async () => {
      await world.clock.sleep(9000);
      const { isSkipped } = await reconciler(world.optionsOf(happened))();
      skipped.push(isSkipped);
      return { outcome: "happened", result: "charged" };
    };

    const report = await world.run(world.optionsOf(slowly, { concurrency: 1 }), 600_000);

    expect(report).toMatchObject({ happened: 9, isCut: false });
    expect(skipped).toEqual(Array(9).fill(true));
  });

  it("stop between two keys if they were frozen until another one took over", async () => {
    const world = reconcilerWorld();
    for (const key of ["order-1", "order-2"]) await world.dies(key);
    await world.clock.advance(100_000);
    const reports: unknown[] = [];
    const frozen: VerifyRecord = async () => {
      await world.clock.advance(60_000);
      reports.push(await reconciler(world.optionsOf(happened))());
      // Now the other one works again, and this one wakes up.
      await storeLeaseOf(world);
      return { outcome: "unknown" };
    };
    const clock = { now: () => world.clock.now(), sleep: () => new Promise<void>(() => {}) };

    const report = await reconciler(world.optionsOf(frozen, { clock, concurrency: 1 }))();

    expect(reports).toMatchObject([{ happened: 1, isSkipped: false }]);
    expect(report).toMatchObject({ isCut: true, isSkipped: false });
  });

  it.each([
    ["find", "before"],
    ["claim", "before"],
    ["claim", "after"],
    ["settle", "before"],
  ] as const)("work although the lease's own %s fails %s it is applied", async (method, when) => {
    const world = await abandoned();
    const store = intercepted(world.store, async (name, request, parameters) => {
      if (name !== method || isOfRecord(parameters)) return request();
      if (when === "after") await request();
      throw unreachable();
    });

    expect(await world.run(world.optionsOf(happened, { store }))).toMatchObject({
      happened: 1,
      isSkipped: false,
    });
  });
});

/** Another process claims the lease. */
async function storeLeaseOf({ store, clock }: Awaited<ReturnType<typeof abandoned>>) {
  const [lease] = [...store.records.keys()].filter((key) => !isOfRecord([key]));
  store.alter(lease!, { token: "another", leaseEndsAt: clock.now() + 30_000, state: "in-progress" });
}

describe("storeLease", () => {
  it("leaves nothing that a move of the store would copy", async () => {
    const world = reconcilerWorld();
    await world.run(world.optionsOf(happened));
    const { records } = world.store;
    const move = { from: world.store, to: new MemoryStore(), recordKeys: records.keys(), clock: world.clock };

    expect(records.size).toBe(1);
    for await (const { recordKey } of unmigratedRecords(move as never)) expect.unreachable(recordKey);
  });

  it("needs no data key in front of an encrypted store", async () => {
    const world = reconcilerWorld();
    const keys = keyService();
    const store = encrypted(world.store, { keys, clock: world.clock });

    expect(await world.run(world.optionsOf(happened, { store }))).toMatchObject({ isSkipped: false });
    expect(keys.asked.generate).toEqual([]);
    expect(world.store.records.size).toBe(1);
  });

  it("H39: writes no unencrypted verdict to a key whose results are encrypted", async () => {
    const world = reconcilerWorld();
    const store = encrypted(world.store, { keys: keyService(), clock: world.clock });
    await world.dies("order-1", { store });
    await world.clock.advance(100_000);

    await world.run(world.optionsOf(happened));

    expect(world.events.map((event) => `${(event as { error?: Error }).error?.message}`).join()).toContain(
      "must be the handler's `encrypted` store",
    );
    expect(world.store.records.get(world.keyOf("order-1"))?.state).toBe("in-progress");
    await world.run(world.optionsOf(happened, { store }));
    expect(world.store.records.get(world.keyOf("order-1"))).toMatchObject({ state: "completed" });
    expect(JSON.stringify(world.store.records.get(world.keyOf("order-1")))).not.toContain("charged");
  });

  const lease = (id: string, now = START, until = now + 30_000) => ({ id, now, until });

  it("is held by one, extended by it, and free once it ends or is released", async () => {
    const store = new MemoryStore();
    const [one, two] = [storeLease(store, "work"), storeLease(store, "work")];

    expect(await one(lease("1"))).toBe(true);
    expect(await two(lease("2", START + 29_000))).toBe(false);
    expect(await one(lease("1", START + 29_000))).toBe(true);
    expect(await two(lease("2", START + 31_000))).toBe(false);
    expect(await two(lease("2", START + 60_000))).toBe(true);
    expect(await one(lease("1", START + 61_000))).toBe(false);
    expect(await two(lease("2", START + 62_000, 0))).toBe(true);
    expect(await storeLease(store, "work")(lease("3", START + 62_000))).toBe(true);
  });

  it("is of its names", async () => {
    const store = new MemoryStore();

    expect(await storeLease(store, "work")(lease("1"))).toBe(true);
    expect(await storeLease(store, "other work")(lease("2"))).toBe(true);
  });

  it("is held by who claimed it, although the answer was lost", async () => {
    const store = answerLost(new MemoryStore(), "claim");

    expect(await storeLease(store, "work")(lease("1"))).toBe(true);
    expect(await storeLease(store, "work")(lease("2"))).toBe(false);
  });

  it("may have ended an hour ago, and its record be gone", async () => {
    const store = new MemoryStore();
    const held = failing(store, "settle", "before");

    expect(await storeLease(held, "work")(lease("1"))).toBe(true);
    expect(await storeLease(held, "work")(lease("2", START + 4_000_000))).toBe(true);
  });
});
