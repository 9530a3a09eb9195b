// A short lease that is renewed while the work goes on: where no process can be relied on to die.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ClaimLostError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Renewal } from "../../lib/core/store.ts";
import { fakeRandom, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { failing, intercepted, throttled, unreachable } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { counting, newWorld, pausedWorker, START, type World } from "./world.ts";

type Work = Execution<MemoryWrite>;
const RENEWED = { renewLease: true } as const;
const HOUR = 3_600_000;

/** A call that holds its claim as long as it likes, and records when its signal aborts. */
function worker(world: World, options: Parameters<World["start"]>[1] = {}) {
  const { opened, open, fail } = gate<unknown>();
  let execution: Work | undefined;
  const outcome = world.start((given: Work) => {
    execution = given;
    given.signal.addEventListener("abort", () => {});
    return opened;
  }, options);
  return { outcome, end: open, fail, signal: () => execution!.signal, commit: () => execution!.commit };
}

const leaseEnd = (world: World) => world.record().leaseEndsAt - START;

describe("a lease that is renewed", () => {
  it("H64: 2 hours of work with a lease of 30 s have one effect, and every third of the lease costs a request", async () => {
    const world = newWorld(RENEWED);
    const { requests, store } = counting(world);
    let effects = 0;
    const work = async () => {
      await world.clock.sleep(2 * HOUR);
      return ++effects;
    };
    const first = world.start(work, { store });
    for (let hour = 0; hour < 7; hour++) {
      await world.clock.advance(HOUR / 4);
      await expect(world.start(work)).rejects.toThrow("in progress");
    }

    expect((await world.clock.run(first)).result).toBe(1);
    expect(await world.call(work)).toBe(1);

    expect(requests.filter((each) => each === "renew")).toHaveLength(719);
    expect(requests.filter((each) => each !== "renew")).toEqual(["claim", "settle"]);
    expect(world.clock.sleepers).toBe(0);
  });

  it("H64: a worker that is killed blocks its key for one lease and the clock skew, however long it has worked", async () => {
    for (const killedAt of [0, 9_999, 10_000, HOUR, HOUR + 5_000]) {
      const world = newWorld(RENEWED);
      let isDead = false;
      const store = intercepted(world.memory, (_, request) => (isDead ? new Promise(() => {}) : request()));
      worker(world, { store });
      await world.clock.advance(killedAt);
      isDead = true;
      const lastAsked = killedAt - (killedAt % 10_000);

      await world.clock.advance(lastAsked + 35_000 - killedAt);
      await expect(world.call(async () => "early")).rejects.toThrow("in progress");
      await world.clock.advance(1);

      expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
    }
  });

  it("moves the record's expiry with it, so long work outlives a short retention", async () => {
    const world = newWorld({ ...RENEWED, retentionSeconds: 60 });
    const held = worker(world);

    await world.clock.advance(HOUR);

    expect(world.record().expiresAt).toBe((START + HOUR + 35_000) / 1000 + 60);
    await expect(world.call(async () => "never")).rejects.toThrow("in progress");
    held.end("done");
    await held.outcome;
  });

  it("R11: H64: goes on after a timer that was early, by less than the clock can show", async () => {
    const world = newWorld(RENEWED);
    const { requests, store } = counting(world);
    let isEarly = true;
    const sleepMs = (ms: number) => {
      if (ms !== 1) return ms - 1;
      isEarly = !isEarly;
      return isEarly ? 1 : 0;
    };
    const clock = {
      now: () => world.clock.now(),
      sleep: (ms: number, signal?: AbortSignal) => world.clock.sleep(sleepMs(ms), signal),
    };
    const held = worker(world, { store, clock });

    await world.clock.advance(65_000);

    expect(requests.filter((each) => each === "renew")).toHaveLength(6);
    held.end("done");
    await held.outcome;
  });

  it("asks again after a failure, within a random part of the lease", async () => {
    const world = newWorld(RENEWED);
    const asked: number[] = [];
    const store = intercepted(world.memory, (method, request) => {
      if (method !== "renew") return request();
      asked.push(world.clock.now() - START);
      return Promise.reject(unreachable());
    });
    const random = { ...fakeRandom("renewal"), fraction: () => 0.25 };
    const held = worker(world, { store, random });

    await world.clock.advance(12_000);

    // A thirtieth of 30 s, times 0.75.
    expect(asked).toEqual([10_000, 10_750, 11_500]);
    held.end("done");
    await held.outcome;
  });

  it("is 30 s long unless `leaseSeconds` says otherwise, and at least 5 s", async () => {
    const leases = [];
    for (const leaseSeconds of [undefined, 7, 5]) {
      const world = newWorld({ ...RENEWED, leaseSeconds });
      const held = worker(world);
      await world.clock.advance(0);
      leases.push(leaseEnd(world) - 5000);
      held.end("done");
      await held.outcome;
    }

    expect(leases).toEqual([30_000, 7000, 5000]);
  });

  it("H64: work that blocks the process past its lease before it first waits is aborted, and renews nothing", async () => {
    const world = newWorld(RENEWED);
    const { requests, store } = counting(world);
    let blockedMs = 0;
    const clock = { now: () => world.clock.now() + blockedMs, sleep: world.clock.sleep };
    let signal: AbortSignal | undefined;
    const call = world.start(
      async (execution: Work) => {
        signal = execution.signal;
        blockedMs = HOUR;
      },
      { store, clock },
    );
    await world.clock.run(call.catch(() => {}));

    expect(signal?.reason).toMatchObject({ code: "CLAIM_LOST" });
    expect(requests).not.toContain("renew");
    expect(world.clock.sleepers).toBe(0);
  });

  it("is released immediately when the work fails, and its timers are gone", async () => {
    const world = newWorld(RENEWED);
    const held = worker(world);
    await world.clock.advance(15_000);

    held.fail(new Error("again"));

    await expect(held.outcome).rejects.toThrow("again");
    expect(world.record().state).toBe("released");
    expect(world.clock.sleepers).toBe(0);
  });

  it("is not renewed once a commit is on record, whatever the handler still does", async () => {
    const world = newWorld(RENEWED);
    const { requests, store } = counting(world);
    const held = worker(world, { store });
    await world.clock.advance(5000);
    await held.commit()("committed");

    await world.clock.advance(HOUR);

    expect(requests).toEqual(["claim", "settle"]);
    expect(held.signal().aborted).toBe(false);
    held.end("ignored");
    expect((await held.outcome).result).toBe("committed");
  });

  it("starts no work if the claim lasted longer than the lease, and releases it", async () => {
    const world = newWorld(RENEWED);
    const store = intercepted(world.memory, async (method, request) => {
      const answer = await request();
      if (method === "claim") await world.clock.sleep(30_000);
      return answer;
    });

    await expect(world.call(async () => "never", { store })).rejects.toThrow("unreachable");

    expect(world.record().state).toBe("released");
  });
});

describe("when nothing is renewed", () => {
  it.each([
    ["the process dies with its invocation", { renewLease: undefined, leaseSeconds: undefined }, 900_000],
    ["`renewLease` is false", {}, undefined],
    ["the lease is shorter than 5 s", { renewLease: undefined, leaseSeconds: 4 }, undefined],
    ["the mode is optimistic", { renewLease: undefined, mode: "optimistic" }, undefined],
  ] as const)("there is no timer and no request, since %s", async (_, options, remainingMs) => {
    const world = newWorld();
    const { requests, store } = counting(world);
    const { opened, open } = gate<string>();
    const call = world.start(() => opened, { ...options, store }, remainingMs ? { remainingMs } : {});
    await world.clock.advance(3000);

    expect(world.clock.sleepers).toBe(0);
    open("done");
    await call;

    expect(requests).toHaveLength(2);
    expect(requests).not.toContain("renew");
  });

  it("there is no timer, since the work ends immediately", async () => {
    const world = newWorld(RENEWED);
    let sleepers = -1;
    await world.start(() => {
      sleepers = world.clock.sleepers;
    });

    expect([sleepers, world.clock.sleepers]).toEqual([0, 0]);
  });

  it("a record has the same attributes as with renewal", async () => {
    const [plain, renewed] = [newWorld(), newWorld(RENEWED)];
    const held = [pausedWorker(plain), pausedWorker(renewed)];
    await renewed.clock.advance(25_000);

    expect(Object.keys(renewed.record()).sort()).toEqual(Object.keys(plain.record()).sort());
    for (const { resume } of held) resume("done");
    await Promise.all(held.map(({ outcome }) => outcome));
  });
});

describe("on Lambda Managed Instances", () => {
  beforeEach(() => {
    vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "orders");
    vi.stubEnv("AWS_LAMBDA_INITIALIZATION_TYPE", "lambda-managed-instances");
  });
  afterEach(() => vi.unstubAllEnvs());
  const managed = { renewLease: undefined, leaseSeconds: undefined } as const;

  it("H61: code that runs on past the reported timeout keeps its claim, and a retry adds no effect", async () => {
    const world = newWorld(managed);
    let atWork = 0;
    const effects: number[] = [];
    const work = async () => {
      atWork++;
      await world.clock.sleep(10 * 60_000);
      effects.push(atWork--);
      return effects.length;
    };
    const first = world.start(work, {}, { remainingMs: 60_000 });
    await world.clock.advance(61_000);

    for (let minute = 2; minute < 10; minute++) {
      await expect(world.start(work, {}, { remainingMs: 60_000 })).rejects.toThrow("in progress");
      await world.clock.advance(60_000);
    }
    expect((await world.clock.run(first)).result).toBe(1);

    expect(await world.call(work, {}, { remainingMs: 60_000 })).toBe(1);
    expect(effects).toEqual([1]);
  });

  it("H61: `signal` still aborts before the reported timeout, and the lease is renewed until the work ends", async () => {
    const world = newWorld(managed);
    const { opened, open } = gate<string>();
    let signal: AbortSignal | undefined;
    const call = world.start(
      (execution: Work) => {
        signal = execution.signal;
        return opened;
      },
      {},
      { remainingMs: 60_000 },
    );
    await world.clock.advance(59_499);
    expect(signal?.aborted).toBe(false);
    await world.clock.advance(1);
    expect(signal?.reason).toMatchObject({ message: "the deadline of this attempt is near" });

    await world.clock.advance(60_500);

    expect(leaseEnd(world)).toBe(120_000 + 35_000);
    open("late");
    expect((await call).result).toBe("late");
    expect(world.record().state).toBe("completed");
  });

  it("H61: a completion after the reported timeout is tried for 30 s, since no caller waits for its answer", async () => {
    const world = newWorld(managed);
    const store = failing(world.memory, "settle", "before", { times: 5 });
    const { opened, open } = gate<string>();
    const call = world.start(() => opened, { store }, { remainingMs: 60_000 });
    await world.clock.advance(90_000);

    open("late");

    expect((await world.clock.run(call)).result).toBe("late");
    expect(world.record().state).toBe("completed");
  });

  it("H64: the lease is short whatever time the invocation has left", async () => {
    for (const remainingMs of [3000, 900_000]) {
      const world = newWorld(managed);
      world.start(() => new Promise(() => {}), {}, { remainingMs });
      await world.clock.advance(0);

      expect(leaseEnd(world)).toBe(35_000);
    }
  });

  it("is also determined by the number of concurrent invocations", async () => {
    vi.stubEnv("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand");
    vi.stubEnv("AWS_LAMBDA_MAX_CONCURRENCY", "64");
    const world = newWorld(managed);
    world.start(() => new Promise(() => {}), {}, { remainingMs: 900_000 });
    await world.clock.advance(0);

    expect(leaseEnd(world)).toBe(35_000);
  });

  it("a given lease is at least 5 s, and `renewLease: false` uses the remaining time", async () => {
    const ends = [];
    for (const options of [{ leaseSeconds: 1 }, { leaseSeconds: 60 }, { renewLease: false }]) {
      const world = newWorld({ ...managed, ...options });
      world.start(() => new Promise(() => {}), {}, { remainingMs: 900_000 });
      await world.clock.advance(0);
      ends.push(leaseEnd(world) - 5000);
    }

    expect(ends).toEqual([5000, 60_000, 900_000]);
  });
});

describe("on Lambda of the default kind", () => {
  beforeEach(() => void vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "orders"));
  afterEach(() => vi.unstubAllEnvs());

  it("a call without a context is not renewed: the process freezes with its invocation", async () => {
    const world = newWorld({ renewLease: undefined });
    const { requests, store } = counting(world);
    world.start(() => new Promise(() => {}), { store });

    await world.clock.advance(20_000);

    expect(requests).toEqual(["claim"]);
  });

  it("`renewLease: true` renews work that is far longer than the lease", async () => {
    const world = newWorld({ ...RENEWED, leaseSeconds: undefined });
    world.start(() => new Promise(() => {}), {}, { remainingMs: 900_000 });

    await world.clock.advance(20_000);

    expect(leaseEnd(world)).toBe(20_000 + 35_000);
  });
});

describe("a renewal that fails", () => {
  it("H64: is tried again within the lease, and the work goes on", async () => {
    const world = newWorld(RENEWED);
    const store = failing(world.memory, "renew", "before", { times: 15, error: throttled });
    const held = worker(world, { store });

    await world.clock.advance(HOUR);

    expect(held.signal().aborted).toBe(false);
    expect(world.decisions().filter((each) => each === "store-failed")).toHaveLength(15);
    held.end("done");
    expect((await held.outcome).result).toBe("done");
  });

  it("H64: aborts `signal` by a ClaimLostError when the lease ends unrenewed, and its completion still counts", async () => {
    const world = newWorld(RENEWED);
    const store = failing(world.memory, "renew", "before");
    const held = worker(world, { store });

    await world.clock.advance(29_999);
    expect(held.signal().aborted).toBe(false);
    await world.clock.advance(1);

    expect(held.signal().reason).toBeInstanceOf(ClaimLostError);
    expect(held.signal().reason.message).toMatch(/the lease ended before it could be renewed/);
    expect(world.clock.sleepers).toBe(0);
    held.end("done");
    expect((await held.outcome).result).toBe("done");
  });

  it("H64: an error after that releases nothing: the work may go on", async () => {
    const world = newWorld(RENEWED);
    const held = worker(world, { store: failing(world.memory, "renew", "before") });
    await world.clock.advance(30_000);

    held.fail(held.signal().reason);

    await expect(held.outcome).rejects.toThrow("the lease ended");
    expect(world.record().state).toBe("in-progress");
    expect(world.decisions()).toContain("outcome-unknown");
  });

  it("H64: a request that hangs does not hide the end of the lease", async () => {
    const world = newWorld(RENEWED);
    const store = intercepted(world.memory, (method, request) =>
      method === "renew" ? new Promise(() => {}) : request(),
    );
    const held = worker(world, { store });

    await world.clock.advance(30_000);

    expect(held.signal().reason).toBeInstanceOf(ClaimLostError);
    held.end("done");
    expect((await held.outcome).result).toBe("done");
  });

  it("H8: counts as made if it was applied and only its response was lost", async () => {
    const world = newWorld(RENEWED);
    const held = worker(world, { store: failing(world.memory, "renew", "after", { times: 1 }) });

    await world.clock.advance(29_000);

    expect(held.signal().aborted).toBe(false);
    expect(leaseEnd(world)).toBeGreaterThan(45_000);
    held.end("done");
    expect((await held.outcome).result).toBe("done");
  });

  it("in a store that cannot answer aborts at the end of the lease", async () => {
    const world = newWorld(RENEWED);
    const store = intercepted(world.memory, async (method, request) => {
      if (method === "renew") throw new TypeError("broken");
      return request();
    });
    const held = worker(world, { store });

    await world.clock.advance(30_000);

    expect(held.signal().aborted).toBe(true);
    held.end("done");
    await held.outcome;
  });
});

describe("a claim that is lost", () => {
  const takenOver = (world: World) =>
    world.memory.alter(world.record().token && keyOf(world), { token: "other" });
  const keyOf = (world: World) => [...world.memory.records.keys()][0] as string;

  it("H61: aborts `signal` at the next renewal, and nothing of the attempt is recorded", async () => {
    const world = newWorld(RENEWED);
    const held = worker(world);
    await world.clock.advance(12_000);
    takenOver(world);

    await world.clock.advance(7_999);
    expect(held.signal().aborted).toBe(false);
    await world.clock.advance(1);

    expect(held.signal().reason).toMatchObject({ name: "ClaimLostError", code: "CLAIM_LOST" });
    expect(world.clock.sleepers).toBe(0);
    held.end("late");
    await expect(held.outcome).rejects.toThrow(ClaimLostError);
    expect(world.record()).toMatchObject({ state: "in-progress", token: "other" });
  });

  it("aborts `signal` too if its record is gone", async () => {
    const world = newWorld(RENEWED);
    const held = worker(world);
    await world.clock.advance(12_000);
    world.memory.alter(keyOf(world), undefined);

    await world.clock.advance(8_000);

    expect(held.signal().reason).toBeInstanceOf(ClaimLostError);
    held.fail(new Error("stopped"));
    await expect(held.outcome).rejects.toThrow("stopped");
  });

  it("aborts a signal that is first asked for afterwards", async () => {
    const world = newWorld(RENEWED);
    const { opened, open } = gate();
    const call = world.start(async (execution: Work) => {
      await opened;
      return execution.signal.reason.code;
    });
    await world.clock.advance(12_000);
    takenOver(world);
    await world.clock.advance(8_000);

    open();

    await expect(call).rejects.toThrow(ClaimLostError);
    expect(world.clock.sleepers).toBe(0);
  });

  it("H43: a process that stood still renews nothing, learns on waking that it lost, and its commit is fenced", async () => {
    const world = newWorld(RENEWED);
    let leapt = 0;
    const clock = { now: () => world.clock.now() + leapt, sleep: world.clock.sleep };
    const { requests, store } = counting(world);
    const frozen = worker(world, { clock, store });
    await world.clock.advance(12_000);
    leapt = HOUR;
    const later = { clock: world.clock.skewed(HOUR) };
    const winner = ({ commit }: Work) => commit("winner", { writes: [world.orderWrite()] });
    await world.clock.run(world.start(winner, later));
    requests.length = 0;

    await world.clock.advance(8_000);

    expect(frozen.signal().reason).toBeInstanceOf(ClaimLostError);
    expect(requests).toEqual([]);
    const late = frozen.commit()("frozen", { writes: [world.orderWrite()] });
    expect(await late).toBe("winner");
    frozen.end("frozen");
    expect((await frozen.outcome).result).toBe("winner");
    expect(world.orders()).toBe(1);
  });

  it.each([28_000, HOUR])(
    "H43: after a freeze of %i ms, the clock knows first: a signal that is asked for before any timer has fired is aborted",
    async (ms) => {
      const world = newWorld(RENEWED);
      let leapt = 0;
      const clock = { now: () => world.clock.now() + leapt, sleep: world.clock.sleep };
      const { opened, open } = gate();
      let isAborted: boolean | undefined;
      const call = world.start(
        async (execution: Work) => {
          await opened;
          isAborted = execution.signal.aborted;
          throw execution.signal.reason;
        },
        { clock },
      );
      // Renewed after 10 s, so the lease ends after 40 s.
      await world.clock.advance(12_000);
      leapt = ms;

      open();

      await expect(world.clock.run(call)).rejects.toThrow("the lease ended");
      expect(isAborted).toBe(true);
      expect(world.record().state).toBe("in-progress");
    },
  );

  it("H64: a step moves the end of the lease, and with it the time at which `signal` aborts", async () => {
    const world = newWorld(RENEWED);
    let signal: AbortSignal | undefined;
    world.start(
      async (execution: Work) => {
        signal = execution.signal;
        await execution.step("charge", () => "charged");
        await new Promise(() => {});
      },
      { store: failing(world.memory, "renew", "before") },
    );

    await world.clock.advance(30_000);
    expect(signal?.aborted).toBe(false);
    await world.clock.advance(1);

    expect(signal?.aborted).toBe(true);
  });

  it("H64: a renewal that finds a later end on the attempt's own claim counts on that end", async () => {
    const world = newWorld(RENEWED);
    let renewals = 0;
    const store = intercepted(world.memory, async (method, request, [renewal]) => {
      if (method !== "renew") return request();
      if (renewals++ > 0) throw unreachable();
      const { leaseEndsAt, ...others } = renewal as Renewal;
      await world.memory.renew({ ...others, leaseEndsAt: leaseEndsAt + 60_000 });
      return request();
    });
    const held = worker(world, { store });

    // The renewal after 10 s asked for an end after 45 s, 5 of them for the clocks.
    await world.clock.advance(99_999);
    expect(held.signal().aborted).toBe(false);
    await world.clock.advance(1);

    expect(held.signal().aborted).toBe(true);
  });

  it("H38: a clock that was set back doesn't hide the end of the lease: `signal` aborts when the next renewal was due", async () => {
    const world = newWorld(RENEWED);
    let backMs = 0;
    const clock = { ...world.clock, now: () => world.clock.now() - backMs };
    const held = worker(world, { clock });
    await world.clock.advance(11_000);

    backMs = HOUR;
    await world.clock.advance(10_000);

    expect(held.signal().aborted).toBe(true);
    expect(held.signal().reason).toBeInstanceOf(ClaimLostError);
    held.fail(new Error("aborted"));
    await held.outcome.catch(() => {});
    expect(world.clock.sleepers).toBe(0);
  });

  it("H38: a host whose clock is ahead by the allowed skew takes over after the signal has aborted, not before", async () => {
    const world = newWorld({ ...RENEWED, observe: () => {} });
    const held = worker(world, { store: failing(world.memory, "renew", "before") });
    const ahead = { clock: world.clock.skewed(5000) };
    await world.clock.advance(29_999);

    await expect(world.start(async () => "early", ahead)).rejects.toThrow("in progress");
    expect(held.signal().aborted).toBe(false);
    await world.clock.advance(2);

    expect(held.signal().aborted).toBe(true);
    expect((await world.start(async () => "winner", ahead)).result).toBe("winner");
    held.end("late");
    expect((await held.outcome).result).toBe("winner");
  });
});

describe("a copy of a renewal that arrives late", () => {
  const heldUp = (world: World) => {
    const copies: (() => Promise<unknown>)[] = [];
    const store = intercepted(world.memory, (method, request) => {
      if (method === "renew") copies.push(request);
      return request();
    });
    return { copies, store };
  };

  it.each(["completed", "released", "taken over"])(
    "H8: changes nothing of a record that is %s",
    async (end) => {
      const world = newWorld(RENEWED);
      const { copies, store } = heldUp(world);
      const held = worker(world, { store });
      await world.clock.advance(10_000);
      if (end === "completed") held.end("done");
      else held.fail(new Error("again"));
      await held.outcome.catch(() => {});
      const next = end === "taken over" ? worker(world) : undefined;
      await world.clock.advance(0);
      const before = structuredClone(world.record());

      expect(copies).toHaveLength(1);
      expect(await copies[0]?.()).toMatchObject({ renewed: false });

      expect(world.record()).toEqual(before);
      next?.end("next");
      await next?.outcome;
    },
  );

  it("H8: does not shorten the lease that a later renewal set", async () => {
    const world = newWorld(RENEWED);
    const { copies, store } = heldUp(world);
    const held = worker(world, { store });
    await world.clock.advance(20_000);

    expect(await copies[0]?.()).toMatchObject({ renewed: false });

    expect(leaseEnd(world)).toBe(55_000);
    held.end("done");
    await held.outcome;
  });

  it("H8: from a later renewal is recognized: the claim is still held", async () => {
    const world = newWorld(RENEWED);
    let isFirst = true;
    const store = intercepted(world.memory, async (method, request, [renewal]) => {
      if (method !== "renew" || !isFirst) return request();
      isFirst = false;
      const later = renewal as Parameters<typeof world.memory.renew>[0];
      await world.memory.renew({ ...later, leaseEndsAt: later.leaseEndsAt + 1 });
      return request();
    });
    const held = worker(world, { store });

    await world.clock.advance(15_000);

    expect(held.signal().aborted).toBe(false);
    expect(leaseEnd(world)).toBe(45_001);
    held.end("done");
    await held.outcome;
  });
});

describe("a renewal that is under way", () => {
  it.each([
    ["completion", "applied before", "done"],
    ["completion", "applied after", "done"],
    ["completion", "never answered", "done"],
    ["release", "applied before", new Error("again")],
    ["release", "applied after", new Error("again")],
    ["release", "fails", new Error("again")],
  ] as const)("does not keep a %s waiting, and is %s it", async (_, when, end) => {
    const world = newWorld(RENEWED);
    const { opened, open } = gate();
    const store = intercepted(world.memory, async (method, request) => {
      if (method !== "renew") return request();
      const answer = when === "applied before" ? await request() : undefined;
      await opened;
      if (when === "fails") throw unreachable();
      return answer ?? request();
    });
    const held = worker(world, { store });
    await world.clock.advance(10_000);

    if (typeof end === "string") held.end(end);
    else held.fail(end);

    const outcome = await held.outcome.catch((error: unknown) => error);
    expect(outcome).toEqual(typeof end === "string" ? expect.objectContaining({ result: end }) : end);
    const record = structuredClone(world.record());
    expect(world.clock.sleepers).toBe(0);
    if (when !== "never answered") open();
    await world.clock.advance(HOUR);
    expect(held.signal().aborted).toBe(false);
    expect(world.record()).toEqual(record);
    expect(world.clock.sleepers).toBe(0);
  });

  it("H54: restores no expiry to a record from which an at-most-once step has removed it", async () => {
    for (const when of ["applied late", "answered late"]) {
      const world = newWorld(RENEWED);
      const { opened, open } = gate();
      const renewals: unknown[] = [];
      const store = intercepted(world.memory, async (method, request, [renewal]) => {
        if (method !== "renew") return request();
        renewals.push((renewal as Renewal).expiresAt);
        const answer = when === "answered late" ? await request() : undefined;
        if (renewals.length === 1) await opened;
        return answer ?? request();
      });
      const work = async ({ step }: Work) => {
        await world.clock.sleep(10_001);
        await step("charge", () => world.clock.sleep(HOUR), { atMostOnce: true });
        throw new Error("again");
      };
      const ended = expect(world.start(work, { store })).rejects.toThrow("again");
      await world.clock.advance(10_002);
      open();
      await world.clock.advance(1);

      expect(world.record().expiresAt).toBeUndefined();
      await world.clock.advance(10_000);
      expect(world.record().leaseEndsAt).toBeGreaterThan(START + 50_000);
      await world.clock.advance(HOUR - 11_000);
      expect(renewals.length).toBeGreaterThan(300);
      expect(new Set(renewals.slice(1))).toEqual(new Set([undefined]));
      expect(world.record()).not.toHaveProperty("expiresAt");
      await world.clock.advance(12_000);
      await ended;
    }
  });

  it("H8: a fence around a refused commit finds the record renewed, and the handler goes on under its fresh token", async () => {
    const world = newWorld(RENEWED);
    let isTaken = true;
    let settles = 0;
    const store = intercepted(world.memory, async (method, request) => {
      if (method !== "settle" || ++settles > 1) return request();
      await world.clock.sleep(15_000);
      throw unreachable();
    });
    // Renewals are applied, and their answers are lost, until the fence is made.
    let isLossy = true;
    const lossy = intercepted(store, async (method, request) => {
      if (method === "claim") isLossy = world.clock.now() === START;
      const answer = await request();
      if (method === "renew" && isLossy) throw unreachable();
      return answer;
    });
    const held = worker(world, { store: lossy });
    await world.clock.advance(9_000);
    const row = world.orderWrite(() => !isTaken);
    const refused = held.commit()("first", { writes: [row] });
    refused.catch(() => {});
    await world.clock.advance(15_100);

    await expect(refused).rejects.toThrow("the condition of writes[0]");
    isTaken = false;
    await world.clock.advance(HOUR);
    expect(held.signal().aborted).toBe(false);
    expect(await held.commit()("second", { writes: [row] })).toBe("second");
    held.end("ignored");
    expect((await held.outcome).result).toBe("second");
  });

  it("H8: overtaken by a fence is not mistaken for a lost claim", async () => {
    const world = newWorld(RENEWED);
    const { opened, open } = gate();
    let settles = 0;
    let renewals = 0;
    const store = intercepted(world.memory, async (method, request) => {
      if (method === "renew" && ++renewals === 1) await opened;
      if (method === "settle" && ++settles === 1) throw unreachable();
      return request();
    });
    const held = worker(world, { store });
    await world.clock.advance(10_000);
    const refused = held.commit()("first", { writes: [world.orderWrite(() => false)] });
    refused.catch(() => {});
    await world.clock.advance(100);
    await expect(refused).rejects.toThrow("the condition of writes[0]");

    open();
    await world.clock.advance(HOUR);

    expect(renewals).toBeGreaterThan(300);
    expect(held.signal().aborted).toBe(false);
    held.end("done");
    expect((await held.outcome).result).toBe("done");
  });
});

describe("a duplicate that waits", () => {
  it("H64: does not take over a lease that was renewed since it looked", async () => {
    const world = newWorld(RENEWED);
    const held = worker(world);
    await world.clock.advance(1000);
    const seen = structuredClone(world.record());
    // A read that is older than the renewal, at a time when the lease that it found is over.
    const stale = intercepted(world.memory, (method, request) =>
      method === "find" ? Promise.resolve(seen) : request(),
    );
    const waiting = world.start(async () => "never", {
      store: stale,
      whenInProgress: { waitSeconds: 50 },
    });

    await world.clock.advance(50_000);

    await expect(waiting).rejects.toThrow("in progress");
    expect(world.record().attempt).toBe(1);
    held.end("done");
    await held.outcome;
  });

  it("gets the result of work that is longer than a lease", async () => {
    const world = newWorld(RENEWED);
    const held = worker(world);
    const waiting = world.start(async () => "never", { whenInProgress: { waitSeconds: 300 } });
    await world.clock.advance(200_000);

    held.end("done");

    expect((await world.clock.run(waiting)).result).toBe("done");
  });
});

describe("with `whenAbandoned`", () => {
  it("a `verify` call uses half of the lease at most, and the handler is renewed from then on", async () => {
    const world = newWorld(RENEWED);
    await expire(world);
    let askedFor = 0;
    const verify = async ({ signal }: { signal: AbortSignal }) => {
      const since = world.clock.now();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      askedFor = world.clock.now() - since;
      return { outcome: "unknown" } as const;
    };

    await expect(world.call(async () => "never", { whenAbandoned: verify })).rejects.toMatchObject({
      code: "OUTCOME_UNKNOWN",
    });

    expect(askedFor).toBe(15_000);
    expect(world.record().state).toBe("held");
  });

  it("a record that may be held has no expiry, even after it was renewed", async () => {
    const world = newWorld({ ...RENEWED, whenAbandoned: "hold" });
    const held = worker(world);

    await world.clock.advance(25_000);

    expect([leaseEnd(world), world.record().expiresAt]).toEqual([55_000, undefined]);
    held.end("done");
    await held.outcome;
  });

  /** Leaves a claim whose worker has died. */
  async function expire(world: World): Promise<void> {
    const store = intercepted(world.memory, (method, request) =>
      method === "claim" ? request() : new Promise(() => {}),
    );
    worker(world, { store, whenAbandoned: "hold" });
    await world.clock.advance(36_000);
  }
});

describe("options of a renewal", () => {
  it("ends if a clock's sleeps pass immediately, instead of asking for ever", async () => {
    const clock = { now: () => 0, sleep: async () => {} };
    const work = () => new Promise((resolve) => setImmediate(resolve, "done"));

    const options = {
      operation: "wait",
      store: new MemoryStore(),
      leaseSeconds: 30,
      renewLease: true,
      clock,
    };
    expect(await runOnce(options, "k1", {}, work)).toBe("done");
  });

  it.each([
    [{ renewLease: true, leaseSeconds: 4.9 }, "`leaseSeconds` must be at least 5 if `renewLease` is true"],
    [
      { renewLease: true, mode: "optimistic" },
      "`renewLease` isn't supported in optimistic mode, in which there is no lease to renew: leave it out",
    ],
    [{ renewLease: "yes" }, "`renewLease` must be true or false"],
  ])("%j are refused", (options, message) => {
    expect(() => newWorld().start(() => 1, options as object)).toThrow(message);
  });
});
