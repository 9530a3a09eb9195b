import { describe, expect, it } from "vitest";
import { ExecutionInProgressError, PermanentError, StoreUnavailableError } from "../../lib/core/errors.ts";
import { failing, intercepted } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { never } from "./abandoned-given.ts";
import { counting, newWorld, START } from "./world.ts";

const waiting = (options: Parameters<typeof newWorld>[0] = {}) =>
  newWorld({ whenInProgress: { waitSeconds: 20 }, ...options });

describe("whenInProgress: { waitSeconds }", () => {
  it("H48: waits for the winner and answers with its result", async () => {
    const world = waiting();
    let runs = 0;
    const winner = world.start(async () => {
      await world.clock.sleep(4000);
      return ++runs;
    });
    await world.clock.advance(0);

    const duplicate = world.call(async () => ++runs);

    expect(await duplicate).toBe(1);
    expect((await winner).result).toBe(1);
    expect(world.clock.now() - START).toBeGreaterThanOrEqual(4000);
    expect(world.clock.now() - START).toBeLessThan(5500);
    expect(world.decisions()).toEqual(["executed", "replayed"]);
  });

  it("H48: a winner that needs 45 s under a gateway of 29 s: the client gets the first result in the end, of 1 effect", async () => {
    const world = waiting({ whenInProgress: { waitSeconds: 900 }, leaseSeconds: undefined });
    let effects = 0;
    const work = async () => {
      await world.clock.sleep(45_000);
      return ++effects;
    };
    const first = world.start(work, {}, { remainingMs: 60_000 });
    const gatewayMs = 29_000;
    await world.clock.advance(gatewayMs);

    const answers: unknown[] = [];
    while (answers.at(-1) !== 1 && answers.length < 5) {
      const begin = world.clock.now();
      answers.push(
        await world
          .call(work, {}, { remainingMs: 60_000, waitUntil: begin + gatewayMs - 500 })
          .catch((error) => error.code),
      );
      expect(world.clock.now() - begin).toBeLessThan(gatewayMs);
    }

    expect(answers).toEqual([1]);
    expect((await first).result).toBe(1);
    expect(effects).toBe(1);
  });

  it.each([
    ["its own limit", { whenInProgress: { waitSeconds: 3 } }, {}, 3000],
    ["what the caller can wait", {}, { waitUntil: START + 2000 }, 2000],
    ["the invocation, less the time to answer", {}, { remainingMs: 4000 }, 3600],
    ["nothing, with 0 seconds", { whenInProgress: { waitSeconds: 0 } }, {}, 0],
  ] as const)("H48: waits no longer than %s", async (_, options, request, ms) => {
    const world = waiting(options);
    world.start(() => new Promise(() => {}), { leaseSeconds: 60 });
    await world.clock.advance(0);

    await expect(world.call(async () => "never", {}, request)).rejects.toThrow(ExecutionInProgressError);

    expect(world.clock.now() - START).toBe(ms);
  });

  it("takes over when the lease ends while it waits", async () => {
    const world = waiting({ leaseSeconds: 5 });
    world.start(() => new Promise(() => {}), { clockSkewSeconds: 0 });
    await world.clock.advance(0);

    expect(await world.call(async ({ attempt }) => attempt, { leaseSeconds: 30 })).toBe(2);

    expect(world.clock.now()).toBe(START + 5001);
    expect(world.decisions()).toEqual(["taken-over", "executed"]);
  });

  it("does not begin to work when time is up, even if the key is free by then", async () => {
    const world = waiting({ whenInProgress: { waitSeconds: 3 } });
    const { opened, fail } = gate();
    const winner = world.start(() => opened);
    await world.clock.advance(0);
    // The release becomes visible after the last look.
    const store = intercepted(world.memory, async (method, request) => {
      const answer = await request();
      if (method === "find" && world.clock.now() >= START + 3000) {
        fail(new Error("again"));
        await winner.catch(() => {});
      }
      return answer;
    });
    let runs = 0;

    await expect(world.call(async () => ++runs, { store })).rejects.toThrow(ExecutionInProgressError);

    expect(world.record().state).toBe("released");
    expect(runs).toBe(0);
  });

  it("answers with the winner's final error", async () => {
    const world = waiting();
    world.start(async () => {
      await world.clock.sleep(1000);
      throw new PermanentError("sold out");
    });
    await world.clock.advance(0);

    await expect(world.call(async () => "never")).rejects.toThrow("sold out");
  });

  it("refuses when the store fails while it waits", async () => {
    const world = waiting();
    world.start(() => new Promise(() => {}));
    await world.clock.advance(0);

    const call = world.call(async () => "never", { store: failing(world.memory, "find", "before") });

    await expect(call).rejects.toThrow(StoreUnavailableError);
  });

  it("polls with growing, jittered pauses", async () => {
    const world = waiting();
    world.start(() => new Promise(() => {}), { leaseSeconds: 60 });
    await world.clock.advance(0);
    const reads: number[] = [];
    const store = intercepted(world.memory, (method, request) => {
      if (method === "find") reads.push(world.clock.now());
      return request();
    });

    await world.call(async () => "never", { store }).catch(() => {});

    const pauses = reads.map((time, index) => time - (reads[index - 1] ?? START));
    expect(pauses[0]).toBeGreaterThanOrEqual(25);
    expect(pauses[0]).toBeLessThanOrEqual(50);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1000);
    expect(new Set(pauses.slice(6, 16)).size).toBeGreaterThan(5);
    expect(reads.length).toBeGreaterThan(20);
    expect(reads.length).toBeLessThan(50);
  });
});

describe("maxWaiters", () => {
  /** A winner that works for 10 s, and `count` duplicates of it that arrive at once. */
  async function waiters(count: number, whenInProgress: { waitSeconds: number; maxWaiters?: number }) {
    const world = newWorld({ whenInProgress });
    const { requests, store } = counting(world);
    const winner = world.start(async () => {
      await world.clock.sleep(10_000);
      return "won";
    });
    await world.clock.advance(0);
    const duplicates = Array.from({ length: count }, () => world.start(async () => "never", { store }));
    const settled: string[] = [];
    for (const duplicate of duplicates) {
      duplicate.then(
        ({ result }) => settled.push(String(result)),
        (error: { code: string }) => settled.push(error.code),
      );
    }
    return { world, winner, requests, settled };
  }

  it("H57: of 200 duplicates 20 wait, and the others are refused immediately, by one request each", async () => {
    const { world, requests, settled } = await waiters(200, { waitSeconds: 20 });

    await world.clock.advance(0);
    expect(settled).toEqual(Array.from({ length: 180 }, () => "EXECUTION_IN_PROGRESS"));
    expect(requests).toHaveLength(200);

    await world.clock.advance(12_000);
    expect(settled.slice(180)).toEqual(Array.from({ length: 20 }, () => "won"));
  });

  it("H57: holds the callers of 200 duplicates for 400 s at most, together, if the winner never ends", async () => {
    const { world, settled } = await waiters(200, { waitSeconds: 20 });
    let heldMs = 0;

    for (let ms = 0; ms < 22_000; ms += 500) {
      await world.clock.advance(500);
      heldMs += (200 - settled.length) * 500;
    }

    expect(settled).toHaveLength(200);
    expect(heldMs).toBeLessThanOrEqual(400_000);
  });

  it("lets as many wait as the option allows, and the next one once one has its answer", async () => {
    const { world, settled } = await waiters(3, { waitSeconds: 20, maxWaiters: 2 });
    await world.clock.advance(12_000);
    expect(settled).toEqual(["EXECUTION_IN_PROGRESS", "won", "won"]);

    world.start(() => new Promise(() => {}), {}, { key: "another" });
    await world.clock.advance(0);
    const late = [1, 2].map(() => world.start(async () => "never", {}, { key: "another" }));
    let refused = 0;
    for (const call of late) call.catch(() => refused++);
    await world.clock.advance(5000);

    expect(refused).toBe(0);
  });

  it("doesn't count calls that don't have to wait, nor those of another store", async () => {
    const { world, settled } = await waiters(1, { waitSeconds: 20, maxWaiters: 1 });

    expect(await world.call(async () => "new", {}, { key: "new" })).toBe("new");
    expect(await world.call(async () => "never", {}, { key: "new" })).toBe("new");
    const other = await waiters(1, { waitSeconds: 20, maxWaiters: 1 });
    await other.world.clock.advance(1000);

    expect(other.settled).toEqual([]);
    await world.clock.advance(12_000);
    expect(settled).toEqual(["won"]);
  });

  it("is released by a waiter whose store fails", async () => {
    const world = waiting({ whenInProgress: { waitSeconds: 20, maxWaiters: 1 } });
    world.start(() => new Promise(() => {}));
    await world.clock.advance(0);
    const store = failing(world.memory, "find", "before", { times: 1 });

    await expect(world.call(async () => "never", { store })).rejects.toThrow(StoreUnavailableError);
    const second = world.start(async () => "never", { store });
    let isRefused = false;
    second.catch(() => {
      isRefused = true;
    });
    await world.clock.advance(1000);

    expect(isRefused).toBe(false);
  });

  it("H57: duplicates that arrive together ask at different times", async () => {
    const world = waiting({ whenInProgress: { waitSeconds: 20 } });
    const asked: number[] = [];
    const store = intercepted(world.memory, (method, request) => {
      if (method === "find") asked.push(world.clock.now());
      return request();
    });
    world.start(() => new Promise(() => {}));
    await world.clock.advance(0);
    for (let count = 0; count < 10; count++) world.start(async () => "never", { store });

    await world.clock.advance(10_000);

    const late = asked.filter((at) => at > START + 2000);
    const together = late.map((at) => late.filter((other) => other === at).length);
    expect(late.length).toBeGreaterThan(50);
    expect(Math.max(...together)).toBeLessThanOrEqual(3);
  });
});

describe("a store that fails while calls wait", () => {
  /** Two calls that wait for a third one, on a store whose reads fail. */
  async function endsOf(error: () => Error) {
    const world = waiting();
    world.start(() => new Promise(() => {}));
    await world.clock.advance(1000);
    const { requests, store } = counting(world, async (method, request) => {
      if (method === "find") throw error();
      return request();
    });
    const ends = [1, 2].map(() => world.call(never, { store }).catch((failure) => failure));
    return { world, ends: await Promise.all(ends), reads: requests.filter((name) => name === "find").length };
  }

  it("H48: answers that the key is in progress if the read is refused, and reports that once", async () => {
    const { world, ends, reads } = await endsOf(() => new StoreUnavailableError("refused", undefined));

    for (const end of ends) expect(end).toBeInstanceOf(ExecutionInProgressError);
    expect(reads).toBe(2);
    expect(world.decisions()).toEqual(["store-failed", "in-progress", "in-progress"]);
  });

  it("H48: ends with the failure if the store can't be reached", async () => {
    const { world, ends } = await endsOf(() => new StoreUnavailableError("unreachable", undefined));

    for (const end of ends) expect(end).toMatchObject({ code: "STORE_UNAVAILABLE", failure: "unreachable" });
    expect(world.decisions()).toEqual(["store-failed", "store-failed"]);
  });

  it("ends with any other error, and reports no failure of the store", async () => {
    const bug = new TypeError("unreadable answer");
    const { world, ends } = await endsOf(() => bug);

    expect(ends).toEqual([bug, bug]);
    expect(world.decisions()).not.toContain("store-failed");
  });
});
