// The reconciler's run compares the cache with the store: what the store does not confirm is dropped and counted.
import { emfMetrics } from "onceonly";
import { type ReconcilerEvent, reconciler } from "onceonly/reconciler";
import { cached, encrypted, redacted } from "onceonly/stores";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it, vi } from "vitest";
import type { Store } from "../../lib/core/store.ts";
import type { ValkeyClient } from "../../lib/valkey/valkey-client.ts";
import { isOfRecord, throttled } from "../kit/faults/faulty-store.ts";
import { cacheWorld } from "./cache-given.ts";
import { hasServer } from "./given.ts";

type World = Awaited<ReturnType<typeof cacheWorld>>;

/** One run of the reconciler, on the store that the handlers have. */
async function reconcile({ clock }: World, store: Store<never>, remainingMs?: number) {
  const events: ReconcilerEvent[] = [];
  const observe = (event: ReconcilerEvent) => void events.push(event);
  const handler = reconciler({ store, clock, observe, operations: { pay: "hold" } });
  const context = remainingMs === undefined ? undefined : { getRemainingTimeInMillis: () => remainingMs };
  return { report: await handler({}, context), events };
}

const FOUND = { confirmed: 0, dropped: 0, unchecked: 0, failed: false };

describe.skipIf(!hasServer)("a run of the reconciler", () => {
  it("H45: keeps what the store confirms, and drops what was deleted, changed, erased or taken over without the cache", async () => {
    const world = await cacheWorld({ rememberSeconds: 3600 });
    const { durable, recordKeyOf, remember, call, never } = world;
    const large = "x".repeat(5000);
    for (const key of ["kept", "deleted", "changed", "erased", "taken over", "failed"])
      await remember(key, { key });
    for (const key of ["large", "large and gone"]) await remember(large, { key });
    const alter = (key: string, change: object | undefined) => durable.alter(recordKeyOf({ key }), change);
    alter("deleted", undefined);
    alter("changed", { result: { in: "record", text: '{"value":"other"}' } });
    alter("erased", { result: { in: "nowhere", bytes: 0 } });
    alter("taken over", { state: "in-progress", token: "another" });
    alter("failed", { state: "failed" });
    alter("large and gone", { result: { in: "item", address: "gone" } });

    const { report, events } = await reconcile(world, world.store);

    expect(report).toMatchObject({ cache: { ...FOUND, confirmed: 2, dropped: 6 } });
    expect(events[0]).toEqual({ event: "cache-checked", ...FOUND, confirmed: 2, dropped: 6 });
    expect(await call(() => "again", { key: "deleted" })).toBe("again");
    await expect(call(never, { key: "erased" })).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    world.requests.length = 0;
    expect(await call(never, { key: "kept" })).toBe("kept");
    expect(await call(never, { key: "large" })).toBe(large);
    expect(world.requests).toEqual([]);
    expect((await reconcile(world, world.store)).report.cache).toMatchObject({ dropped: 0 });
  });

  it("leaves an entry whose record can't be read from the store, and reports it", async () => {
    const world = await cacheWorld();
    await world.remember();
    const { find } = world.durable;
    vi.spyOn(world.durable, "find").mockImplementation(async (...asked) => {
      if (isOfRecord(asked)) throw throttled();
      return find.apply(world.durable, asked);
    });

    expect((await reconcile(world, world.store)).report.cache).toEqual({ ...FOUND, unchecked: 1 });

    vi.restoreAllMocks();
    expect((await reconcile(world, world.store)).report.cache).toEqual({ ...FOUND, confirmed: 1 });
  });

  it("does not fail if the cache does", async () => {
    const client: ValkeyClient = { send: () => Promise.reject(new Error("away")) };
    const world = await cacheWorld({ client });
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});

    expect((await reconcile(world, world.store)).report).toMatchObject({
      isCut: false,
      cache: { ...FOUND, failed: true },
    });
    await reconciler({ store: world.store, clock: world.clock, operations: { pay: "hold" } })();

    expect(logged.mock.calls.flat()).toEqual([expect.stringContaining("the cache didn't respond")]);
    vi.restoreAllMocks();
  });

  it("settles keys first, and compares nothing once its time is over", async () => {
    const world = await cacheWorld();
    await world.remember();
    world.requests.length = 0;

    expect((await reconcile(world, world.store, 0.01)).report.cache).toEqual({ ...FOUND, confirmed: 1 });
    let remaining = 60_000;
    const events: string[] = [];
    const observe = ({ event }: ReconcilerEvent) => void events.push(event);
    const { clock, store } = world;
    const handler = reconciler({ store, clock, observe, operations: { pay: "hold" } });
    const context = { getRemainingTimeInMillis: () => (remaining -= 40_000) };
    expect((await handler({}, context)).cache).toEqual(FOUND);
    expect(events).toEqual(["cache-checked", "unsettled"]);
  });

  it("reads all pages of a list, entries of one moment too", async () => {
    const world = await cacheWorld();
    const now = Date.now();
    const store = cached(world.behind, {
      in: world.cache,
      clock: { ...world.clock, now: () => now },
    });
    const keys = Array.from({ length: 250 }, (_, index) => `key-${index}`);
    await Promise.all(
      keys.map(async (key) => {
        await world.call(() => "done", { key, store });
        await world.call(world.never, { key, store });
      }),
    );
    // All of them in one list, at one time.
    const lists = await world.admin.keys(`${world.prefix}:*:entries`);
    const [first = "", ...others] = lists.toSorted();
    await world.admin.zunionstore(first, lists.length, ...lists, "WEIGHTS", ...lists.map(() => 0));
    await world.admin.del(...others);

    expect((await reconcile(world, store)).report.cache).toEqual({ ...FOUND, confirmed: 250 });
  });

  it("compares through stores in front of the cache, and has nothing to compare without one", async () => {
    const world = await cacheWorld();
    const keys = {
      generate: async () => ({ plain: new Uint8Array(32).fill(1), encrypted: new Uint8Array(32).fill(2) }),
      decrypt: async () => new Uint8Array(32).fill(1),
    };
    const store = redacted(encrypted(world.store, { keys }), (result) => result);
    await world.call(() => "sealed", { store });
    expect(await world.call(world.never, { store })).toBe("sealed");

    expect((await reconcile(world, store)).report.cache).toEqual({ ...FOUND, confirmed: 1 });
    expect((await reconcile(world, cached(store))).report.cache).toEqual({ ...FOUND, confirmed: 1 });
    for (const without of [cached(new MemoryStore()), new MemoryStore()]) {
      expect((await reconcile(world, without)).report).not.toHaveProperty("cache");
    }
  });

  it("is measured by emfMetrics", async () => {
    const world = await cacheWorld();
    await world.remember();
    const lines: string[] = [];
    const observe = emfMetrics({ write: (line) => lines.push(line) });

    await reconciler({ store: world.store, clock: world.clock, observe, operations: { pay: "hold" } })();

    const [line] = lines.map((each) => JSON.parse(each));
    expect(line).toMatchObject({
      event: "cache-checked",
      CacheConfirmed: 1,
      CacheDropped: 0,
      CacheUnchecked: 0,
    });
  });
});
