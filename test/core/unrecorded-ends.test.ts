// Attempts that record nothing: where another attempt has an answer, their own does not count.
import { describe, expect, it } from "vitest";
import { ClaimLostError, FingerprintMismatchError, StoreUnavailableError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { EngineOptions } from "../../lib/core/options.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { failing, intercepted, unreachable } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { counting, newWorld, type World } from "./world.ts";

type Work = Execution<MemoryWrite>;

/** Creates an account once; where it is there already, says so and does not want that to be recorded. */
const createAccount =
  (world: World) =>
  async ({ commit }: Work) => {
    if (world.orders() > 0) return "409 account exists";
    return commit("201 created", { writes: [world.orderWrite((former) => former === undefined)] });
  };

const shouldStore = (result: unknown) => result !== "409 account exists";
const optimistic = (options: Partial<EngineOptions<MemoryWrite>> = {}) =>
  newWorld({ mode: "optimistic", shouldStore, ...options });

describe("answers 1: perform, optimistic, when an attempt records nothing", () => {
  it("answers the retry of a call that succeeded with its answer, not with a conflict", async () => {
    const world = optimistic({ lookFirst: false });
    const { requests, store } = counting(world);

    expect(await world.call(createAccount(world), { store })).toBe("201 created");
    expect(requests).toEqual(["insert"]);
    expect(await world.call(createAccount(world), { store })).toBe("201 created");

    // One read more, of this run only.
    expect(requests).toEqual(["insert", "find"]);
    expect(world.decisions()).toEqual(["executed", "replayed"]);
  });

  it("also answers so if the look before was stale", async () => {
    const world = optimistic();
    await world.call(createAccount(world));
    const stale = intercepted(world.memory, async (method, request, [, read]) => {
      const { consistent } = { consistent: true, ...(read as object) } as { consistent: boolean };
      return method === "find" && !consistent ? undefined : request();
    });

    expect(await world.call(createAccount(world), { store: stale })).toBe("201 created");
  });

  it("answers two simultaneous calls alike", async () => {
    const world = optimistic();
    const { opened, open } = gate();
    const late = world.start(async (execution) => {
      await opened;
      return createAccount(world)(execution);
    });
    const early = await world.call(createAccount(world));
    open();

    expect([early, (await late).result]).toEqual(["201 created", "201 created"]);
  });

  it("answers the retry of work that throws after its commit with the committed result", async () => {
    for (const lookFirst of [true, false]) {
      const world = optimistic({ lookFirst });
      const work = async ({ commit }: Work) => {
        await commit("charged", { writes: [world.orderWrite()] });
        throw new Error("after the commit");
      };

      await expect(world.call(work)).rejects.toThrow("after the commit");
      expect(await world.call(work)).toBe("charged");
      expect(await world.call(work)).toBe("charged");
      expect(world.orders()).toBe(1);
    }
  });

  it("answers a thrown error with another attempt's answer, and with the mismatch of another payload", async () => {
    const world = optimistic({ lookFirst: false });
    await world.call(createAccount(world));
    const fails = () => Promise.reject(new Error("the account is there"));

    expect(await world.call(fails)).toBe("201 created");
    await expect(world.call(fails, {}, { input: "another" })).rejects.toThrow(FingerprintMismatchError);
  });

  it("answers for itself if no attempt has finished, and reports that a retry may run", async () => {
    const world = optimistic({ lookFirst: false });

    await expect(world.call(() => Promise.reject(new Error("again")))).rejects.toThrow("again");
    expect(await world.call(async () => "409 account exists")).toBe("409 account exists");

    expect(world.decisions()).toEqual(["released", "released"]);
    expect(world.memory.records.size).toBe(0);
  });

  it("fails if the store can't answer, unless it may fail open", async () => {
    const world = optimistic({ lookFirst: false });
    const store = failing(world.memory, "find", "before");
    const work = async () => "409 account exists";

    await expect(world.call(work, { store })).rejects.toThrow(StoreUnavailableError);
    expect(world.decisions().at(-1)).toBe("outcome-unknown");
    expect(await world.call(work, { store, whenStoreFails: "run" })).toBe("409 account exists");
  });

  it.each(["reject", "run"] as const)(
    "never answers for itself if another attempt's answer exists and can't be loaded (%s)",
    async (whenStoreFails) => {
      const world = optimistic({ lookFirst: false, whenStoreFails });
      await world.call(async () => "large".repeat(2000));
      const store = failing(world.memory, "loadResult", "before");

      for (const work of [async () => "409 account exists", () => Promise.reject(new Error("again"))]) {
        await expect(world.call(work, { store })).rejects.toThrow(StoreUnavailableError);
      }
      expect(world.decisions()).toEqual(["executed", "store-failed", "store-failed"]);
    },
  );

  it("releases its own claim after all its responses were lost", async () => {
    const world = newWorld({ whenStoreFails: "run" });
    const store = failing(world.memory, "claim", "after");

    await expect(world.call(() => Promise.reject(new Error("again")), { store })).rejects.toThrow("again");

    expect(world.record()).toMatchObject({ state: "released", attempt: 1 });
    expect(await world.call(async () => "retry")).toBe("retry");
  });
});

describe("answers 5: perform, claimed, when a late attempt records nothing", () => {
  const lateAndWinner = async (end: (value: "fail" | "return") => unknown, how: "fail" | "return") => {
    const world = newWorld({ shouldStore });
    const { opened, open } = gate();
    const late = world.start(
      async () => {
        await opened;
        return end(how);
      },
      {},
      // Without an abort before the lease is over.
      { remainingMs: 600_000 },
    );
    await world.clock.advance(0);
    const [recordKey] = world.memory.records.keys();
    world.memory.alter(String(recordKey), { leaseEndsAt: 0 });
    return { world, late, open };
  };
  const end = (how: "fail" | "return") => {
    if (how === "fail") throw new Error("late");
    return "409 account exists";
  };

  it.each(["fail", "return"] as const)("answers with the winner's result (%s)", async (how) => {
    const { world, late, open } = await lateAndWinner(end, how);
    await world.call(async () => "winner");

    open();

    expect((await late).result).toBe("winner");
    expect(world.decisions()).toEqual(["taken-over", "executed", "claim-lost", "replayed"]);
  });

  it("doesn't pass a value for the answer while the winner is running, and keeps its own error", async () => {
    for (const how of ["fail", "return"] as const) {
      const { world, late, open } = await lateAndWinner(end, how);
      world.start(() => new Promise(() => {}));
      await world.clock.advance(0);

      open();

      if (how === "return") await expect(late).rejects.toThrow(ClaimLostError);
      else await expect(late).rejects.toThrow("late");
      expect(world.decisions()).toEqual(["taken-over", "claim-lost"]);
    }
  });

  it.each(["fail", "return"] as const)("fails if the winner's result can't be loaded (%s)", async (how) => {
    const { world, late, open } = await lateAndWinner(end, how);
    await world.call(async () => "large".repeat(2000));
    world.memory.loadResult = async () => {
      throw new StoreUnavailableError("unreachable", undefined);
    };

    open();

    await expect(late).rejects.toThrow(StoreUnavailableError);
  });

  it.each(["fail", "return"] as const)(
    "asks the store after an abort, and answers with the winner's result (%s)",
    async (how) => {
      const world = newWorld({ shouldStore });
      const { opened, open } = gate();
      const late = world.start(async () => {
        await opened;
        return end(how);
      });
      await world.clock.advance(35_001);
      await world.call(async () => "winner");

      open();

      expect((await late).result).toBe("winner");
      expect(world.decisions()).toContain("outcome-unknown");
    },
  );

  it("asks the store also when its deadline is over, as after a freeze, and waits a second for it", async () => {
    for (const request of [{}, { remainingMs: 30_000 }]) {
      const world = newWorld({ shouldStore });
      const slow = intercepted(world.memory, async (method, request) => {
        if (method === "find") await world.clock.sleep(900);
        return request();
      });
      const { opened, open } = gate();
      const late = world.start(
        async () => {
          await opened;
          return "409 account exists";
        },
        { store: slow },
        request,
      );
      await world.clock.advance(60_000);
      await world.call(async () => "winner");

      open();

      expect((await world.clock.run(late)).result).toBe("winner");
    }
  });

  it("after an abort, answers for itself if the claim is still its own, if the store fails, and if it is silent", async () => {
    for (const fault of ["none", "fails", "silent"] as const) {
      const world = newWorld({ shouldStore });
      const store = intercepted(world.memory, (method, request) => {
        if (method !== "find" || fault === "none") return request();
        const broken = new StoreUnavailableError("unreachable", undefined);
        return fault === "fails" ? Promise.reject(broken) : new Promise(() => {});
      });
      const work = async ({ signal }: Work) => {
        await world.clock.sleep(300_000, signal);
        return "409 account exists";
      };

      expect(await world.call(work, { store })).toBe("409 account exists");
      expect(world.record()).toMatchObject({ state: "in-progress" });
      expect(world.decisions().includes("store-failed")).toBe(fault !== "none");
    }
  });

  it("answers for itself when the release fails: under its live claim no other attempt has run", async () => {
    const world = newWorld({ shouldStore });
    const store = failing(world.memory, "settle", "before");

    expect(await world.call(async () => "409 account exists", { store })).toBe("409 account exists");
  });

  it.each(["fail", "return"] as const)(
    "H43: does not answer for itself once its lease is over and the store can't answer (%s)",
    async (how) => {
      const world = newWorld({ shouldStore });
      const { opened, open } = gate();
      const store = failing(world.memory, "find", "before");
      const late = world.start(
        async () => {
          await opened;
          return end(how);
        },
        { store },
      );
      await world.clock.advance(35_001);
      await world.call(async () => "winner");

      open();

      await expect(late).rejects.toThrow(StoreUnavailableError);
      expect(world.decisions().slice(-2).sort()).toEqual(["outcome-unknown", "store-failed"]);
    },
  );

  it.each(["fail", "return"] as const)(
    "H43: asks the store after a freeze, also before the timer has aborted the work (%s)",
    async (how) => {
      const world = newWorld({ shouldStore });
      const { opened, open } = gate();
      const clock = { now: () => world.clock.now(), sleep: () => new Promise<void>(() => {}) };
      const late = world.start(
        async ({ signal }: Work) => {
          await opened;
          expect(signal.aborted).toBe(false);
          return end(how);
        },
        { clock },
      );
      await world.clock.advance(35_001);
      await world.call(async () => "winner");

      open();

      expect((await late).result).toBe("winner");
    },
  );
});

describe("answers 13: attempt", () => {
  it("H13: is absent in a run without a claim, also after others had one", async () => {
    const world = newWorld({ whenStoreFails: "run" });
    const fails = () => Promise.reject(new Error("again"));
    for (let n = 0; n < 3; n++) await world.call(fails).catch(() => {});
    const store = failing(world.memory, "claim", "before");

    expect(await world.call(async ({ attempt }) => ({ attempt }), { store })).toEqual({});
    expect(world.record()).toMatchObject({ state: "completed", attempt: 4 });
  });
});

describe("answers 14: a call without a known deadline, optimistic", () => {
  it("is never aborted, and tries to record its result for 30 seconds from its end on", async () => {
    const world = newWorld({ mode: "optimistic", leaseSeconds: undefined });
    const store = failing(world.memory, "insert", "before");
    let aborted: boolean | undefined;
    let endedAt = 0;
    const work = async ({ signal, commit }: Work) => {
      await world.clock.sleep(3_600_000);
      aborted = signal.aborted;
      endedAt = world.clock.now();
      return commit("late");
    };

    await expect(world.call(work, { store })).rejects.toThrow(StoreUnavailableError);

    expect(aborted).toBe(false);
    expect(world.clock.now() - endedAt).toBeGreaterThan(25_000);
    expect(world.clock.now() - endedAt).toBeLessThanOrEqual(30_000);
  });
});

it.each([
  [30_000, "no stock"],
  [30_001, "unreachable"],
])(
  "an attempt that fails after %i ms of its lease of 30 s, with a store that doesn't answer: %s",
  async (ms, message) => {
    const world = newWorld();
    const store = intercepted(world.memory, (method, request) => {
      if (method === "claim") return request();
      throw unreachable();
    });
    const call = world.call(
      async () => {
        await world.clock.sleep(ms);
        throw new Error("no stock");
      },
      { store },
    );

    await expect(call).rejects.toThrow(message);
  },
);
