import { storeContract } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { InvalidOptionError, PermanentError } from "../../lib/core/errors.ts";
import { cached } from "../../lib/stores/cached.ts";
import { type StoreMethod, unreachable } from "../kit/faults/faulty-store.ts";
import { memorySubject } from "../kit/memory-subject.ts";
import { gate } from "../kit/time/gate.ts";
import { counting, newWorld } from "./world.ts";

describe("cached(MemoryStore) keeps the contract", () => {
  for (const { name, run } of storeContract(() => {
    const subject = memorySubject();
    return { ...subject, store: cached(subject.store) };
  })) {
    it(name, run);
  }
});

/** A world whose calls go through one cached store, and the requests that reach the store behind it. */
function cachedWorld(options: Parameters<typeof cached>[1] = {}, intercept?: Parameters<typeof counting>[1]) {
  const world = newWorld();
  const { requests, store } = counting(world, intercept);
  const given = { store: cached(store, { clock: world.clock, ...options }) };
  const call = (key = "key-1", work: () => unknown = async () => "never", request: object = {}) =>
    world.call(work, given, { key, ...request });
  const start = (work: () => unknown, request: object = {}) => world.start(work, given, request);
  /** Runs, and learns of its record from a first replay. */
  const remember = async (key = "key-1", result: unknown = "done") => {
    await call(key, async () => result);
    expect(await call(key)).toEqual(result);
    requests.length = 0;
  };
  return { world, requests, call, start, remember };
}

describe("cached, simultaneous duplicates", () => {
  it("H57: of 64 simultaneous calls one asks the store, and the others learn that it runs", async () => {
    const { world, requests, start } = cachedWorld();
    const { opened, open } = gate<string>();

    const all = Array.from({ length: 64 }, () => start(() => opened));
    const settled = Promise.allSettled(all);
    await world.clock.advance(0);
    expect(requests).toEqual(["claim"]);
    open("done");

    const [first, ...others] = await world.clock.run(settled);
    expect(first).toMatchObject({ value: { result: "done", replayed: false } });
    for (const other of others) expect(other).toMatchObject({ reason: { code: "EXECUTION_IN_PROGRESS" } });
    expect(world.clock.sleepers).toBe(0);
  });

  it("H57: of simultaneous replays one asks the store, and each gets its own answer", async () => {
    const { world, requests, call, start } = cachedWorld({ rememberSeconds: 0 });
    await call("key-1", async () => ({ lines: [1] }));
    requests.length = 0;

    const answers = await world.clock.run(Promise.all([1, 2, 3].map(() => start(async () => "never"))));

    expect(requests).toEqual(["claim"]);
    expect(answers.map(({ result }) => result)).toEqual(Array(3).fill({ lines: [1] }));
    expect(new Set(answers.map(({ result }) => result)).size).toBe(3);
  });

  it("another key, scope, operation or payload asks for itself", async () => {
    const { world, requests, start } = cachedWorld();
    const work = async () => "done";

    const all = [{}, { key: "key-2" }, { scope: "tenant-2" }, { input: "another" }].map((r) =>
      start(work, r),
    );
    await world.clock.run(Promise.allSettled(all));

    expect(requests.filter((method) => method === "claim")).toHaveLength(4);
    await expect(all[3]).rejects.toMatchObject({ code: "FINGERPRINT_MISMATCH" });
  });

  it("when the one fails, each of the others asks the store itself", async () => {
    let claims = 0;
    const { world, requests, start } = cachedWorld({}, async (method, request) => {
      if (method === "claim" && ++claims === 1) throw unreachable();
      return request();
    });

    const all = [1, 2, 3].map(() => start(async () => "done"));
    const [first, ...others] = await world.clock.run(Promise.allSettled(all));

    expect(first).toMatchObject({ reason: { code: "STORE_UNAVAILABLE" } });
    expect(others.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(requests.filter((method) => method === "claim")).toHaveLength(3);
  });

  it("when the one hangs, the others ask the store themselves after a second: they may have less time", async () => {
    const hung = new Set<StoreMethod>();
    const { world, start } = cachedWorld({}, async (method, request) => {
      if (hung.size === 0) {
        hung.add(method);
        return new Promise(() => {});
      }
      return request();
    });
    void start(async () => "never");
    const follower = start(async () => "done", { remainingMs: 3000 });

    await world.clock.advance(1000);

    expect(await follower).toMatchObject({ result: "done" });
  });
});

describe("cached, a moment later", () => {
  it("a replay asks for nothing, until ten seconds after the table was asked", async () => {
    const { world, requests, call, remember } = cachedWorld();
    await remember();

    await world.clock.advance(9999);
    expect(await call()).toBe("done");
    expect(requests).toEqual([]);
    await world.clock.advance(1);
    expect(await call()).toBe("done");

    expect(requests).toEqual(["claim"]);
    expect(world.decisions().filter((decision) => decision === "replayed")).toHaveLength(3);
  });

  it("H45: a record that is deleted by hand is answered from for so long, and no longer", async () => {
    const { world, call, remember } = cachedWorld();
    await remember();
    world.memory.alter(world.memory.records.keys().next().value ?? "", undefined);

    expect(await call("key-1", async () => "again")).toBe("done");
    await world.clock.advance(10_000);

    expect(await call("key-1", async () => "again")).toBe("again");
  });

  it("H45: one tenant's answer never goes to another tenant, nor to another payload", async () => {
    const { call, remember } = cachedWorld();
    await remember();

    expect(await call("key-1", async () => "theirs", { scope: "tenant-2" })).toBe("theirs");
    await expect(call("key-1", async () => "never", { input: "another" })).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
  });

  it("H43: a process that was frozen while it asked, or whose clock is set back, remembers nothing of before", async () => {
    let now = 50_000;
    const clock = { now: () => now, sleep: async () => {} };
    const { requests, call } = cachedWorld({ clock }, async (method, request) => {
      const answer = await request();
      if (method === "claim" && requests.length > 2) now += 10_000;
      return answer;
    });
    await call("key-1", async () => "done");
    await call();
    requests.length = 0;
    await call();
    expect(requests).toEqual(["claim"]);

    now -= 20_000;
    requests.length = 0;
    await call();
    expect(requests).toEqual(["claim"]);
  });

  it("remembers nothing that is released or has failed", async () => {
    for (const isFinal of [false, true]) {
      const { world, requests, start } = cachedWorld();
      const error = isFinal ? new PermanentError("for good") : new Error("for now");
      const call = async () => {
        requests.length = 0;
        await world.clock.run(Promise.allSettled([start(() => Promise.reject(error))]));
      };
      await call();
      await call();

      await call();

      expect(requests[0]).toBe("claim");
      expect(world.record().state).toBe(isFinal ? "failed" : "released");
    }
  });

  it("a record whose retention is over counts no longer, whatever is remembered", async () => {
    const { world, call, remember } = cachedWorld({ rememberSeconds: 60 });
    const [recordKey] = await remember().then(() => [...world.memory.records.keys()]);
    world.memory.alter(recordKey ?? "", { expiresAt: Math.floor(world.clock.now() / 1000) + 15 });
    await world.clock.advance(60_000);
    expect(await call("key-1", async () => "again")).toBe("again");
    expect(await call("key-1", async () => "never")).toBe("again");
  });

  it("also keeps results stored in a separate item, up to its limit", async () => {
    const large = "x".repeat(5000);
    const { requests, call, remember } = cachedWorld({ maxRecords: 2 });
    await remember("key-1", large);
    expect(await call("key-1")).toBe(large);
    expect(requests).toEqual([]);

    await call("key-2", async () => "other");
    await call("key-2");
    requests.length = 0;
    expect(await call("key-1")).toBe(large);

    expect(requests).toEqual(["claim", "loadResult"]);
  });

  it("keeps nothing larger than the whole cache, and never more than that in total", async () => {
    const { requests, call, remember } = cachedWorld({ maxBytes: 2500 });
    await remember("key-1", "x".repeat(900));
    expect(await call("key-1")).toHaveLength(900);
    expect(requests).toEqual(["claim"]);

    await remember("key-2");
    await remember("key-3");
    await remember("key-4");
    for (const key of ["key-4", "key-3", "key-2"]) await call(key);
    expect(requests).toEqual(["claim"]);
  });

  it("the look of the optimistic mode is answered from memory, a consistent read is not", async () => {
    const world = newWorld();
    const { requests, store } = counting(world);
    const both = cached(store, { clock: world.clock });
    const optimistic = { store: both, mode: "optimistic" } as const;
    await world.call(async () => "done", optimistic);
    const answers = [await world.call(async () => "never", optimistic)];
    requests.length = 0;

    answers.push(await world.call(async () => "never", optimistic));
    expect(requests).toEqual([]);
    const [recordKey = ""] = world.memory.records.keys();
    const found = await both.find(recordKey, { consistent: true });

    expect(answers).toEqual(["done", "done"]);
    expect(found).toMatchObject({ state: "completed" });
    expect(requests).toEqual(["find"]);
  });

  it("a caller that changes its record affects no other caller", async () => {
    const world = newWorld();
    const store = cached(world.memory, { clock: world.clock });
    await world.call(async () => "done");
    const [recordKey = ""] = world.memory.records.keys();

    for (let caller = 0; caller < 3; caller++) {
      const record = await store.find(recordKey, { consistent: false });
      expect(record).toMatchObject({ state: "completed" });
      Object.assign(record ?? {}, { state: "released", fingerprint: "forged" });
    }
  });
});

describe("cached", () => {
  it.each([
    [{ rememberSeconds: 61 }, "rememberSeconds"],
    [{ rememberSeconds: -1 }, "rememberSeconds"],
    [{ rememberSeconds: 10_000 }, "rememberSeconds"],
    [{ maxRecords: 0 }, "maxRecords"],
    [{ maxRecords: 1.5 }, "maxRecords"],
    [{ maxBytes: Number.POSITIVE_INFINITY }, "maxBytes"],
    [{ clock: Date }, "clock"],
    [{ seconds: 5 }, "seconds"],
  ])("refuses %o", (options, name) => {
    expect(() => cached(newWorld().memory, options as never)).toThrow(InvalidOptionError);
    expect(() => cached(newWorld().memory, options as never)).toThrow(name);
  });

  it("rejects anything but a store, and accepts undefined options", () => {
    expect(() => cached({} as never)).toThrow(InvalidOptionError);
    expect(() => cached(newWorld().memory, { rememberSeconds: undefined })).not.toThrow();
  });
});
