// Stores that never answer, and stores that refuse a result: each call ends with a code, and no effect is repeated.
import { afterEach, describe, expect, it, vi } from "vitest";
import { StoreUnavailableError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { EngineOptions } from "../../lib/core/options.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import type { MemoryWrite } from "../../lib/testing/memory-tables.ts";
import { failing, intercepted, type StoreMethod } from "../kit/faults/faulty-store.ts";

type Work = (execution: Execution<MemoryWrite>) => unknown;

function given(silent: readonly StoreMethod[], patienceMs: number | undefined = 30_000) {
  const clock = fakeClock();
  const memory = Object.assign(new MemoryStore(), { patienceMs });
  const store = intercepted(memory, (method, request) =>
    silent.includes(method) ? new Promise(() => {}) : request(),
  );
  const call = (work: Work, options: Partial<EngineOptions<MemoryWrite>> & { context?: never } = {}) =>
    clock.run(runOnce({ operation: "order", store, clock, ...options }, "key", {}, work));
  return { clock, store, call, start: clock.now() };
}

afterEach(() => void vi.useRealTimers());

const within = (ms: number) => ({ context: { getRemainingTimeInMillis: () => ms } as never });

describe("a store that never answers", () => {
  it.each([
    ["its deadline", within(6000), 5750],
    ["its patience", { leaseSeconds: 30 }, 30_000],
    ["its patience, before a later deadline", within(600_000), 30_000],
  ] as const)("H80: R2: a claim ends with %s", async (_, options, ms) => {
    const { call, clock, start } = given(["claim"]);

    await expect(call(() => "never", options)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      failure: "unreachable",
      retryable: true,
      message: expect.stringContaining(`no answer in ${ms} ms`),
    });
    expect(clock.now() - start).toBe(ms);
  });

  it("H80: R2: a claim ends with its patience by the system's clock, too", async () => {
    vi.useFakeTimers();
    const { store } = given(["claim"]);
    const call = runOnce({ operation: "order", store, leaseSeconds: 60 }, "key", {}, () => "never");
    const ended = expect(call).rejects.toThrow("no answer in 30000 ms");
    await vi.advanceTimersByTimeAsync(30_000);
    await ended;
  });

  it("H80: R2: a completion ends, and the caller gets the handler's own answer", async () => {
    const { call } = given(["settle"]);
    expect(await call(() => "done", within(6000))).toBe("done");
  });

  it("H80: R2: a completion after the deadline has the store's patience", async () => {
    const { call, clock, start } = given(["settle"]);
    const late = async () => {
      await clock.sleep(40_000);
      return "done";
    };

    expect(await call(late, { leaseSeconds: 30, renewLease: false })).toBe("done");
    expect(clock.now() - start).toBe(70_000);
  });

  it("H80: R2: a completion at the last moment of a call has the store's patience", async () => {
    const { call, clock, start } = given(["settle"]);

    expect(await call(() => clock.sleep(5750).then(() => "done"), within(6000))).toBe("done");
    expect(clock.now() - start).toBe(5750 + 30_000);
  });

  it("H80: R2: a release has the store's patience", async () => {
    const { call, clock, start } = given(["settle"]);
    const fail = () => Promise.reject(new TypeError("no connection"));

    await expect(call(fail, { leaseSeconds: 30 })).rejects.toThrow(TypeError);
    expect(clock.now() - start).toBe(30_000);
  });

  it("H80: R2: a request is given up after half of its time too, because timers may be early", async () => {
    const { clock, store } = given(["claim"]);
    const early = { now: clock.now, sleep: (ms: number) => clock.advance(ms / 2) };
    const options = { operation: "order", store, clock: early, leaseSeconds: 30 };

    await expect(runOnce(options, "key", {}, () => "never")).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
  });

  it("H80: R2: a commit with writes may last longer, and ends too", async () => {
    const { call, clock, start } = given(["settle"]);
    const write: MemoryWrite = { table: "orders", key: "a", item: { id: "a" } };
    const commit: Work = (execution) => execution.commit("done", { writes: [write] });

    await expect(call(commit, { leaseSeconds: 30 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(clock.now() - start).toBeGreaterThanOrEqual(900_000);
  });

  it("H80: R2: waiting for the winner ends", async () => {
    const { clock, call } = given(["find"]);
    const other = call(() => clock.sleep(3_600_000), { leaseSeconds: 30 });
    const waits = { leaseSeconds: 30, whenInProgress: { waitSeconds: 600 } };

    await expect(call(() => "never", waits)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await other;
  });

  it("is not given up on a clock whose sleeps pass immediately, nor without a time limit", async () => {
    const memory = Object.assign(new MemoryStore(), { patienceMs: 30_000 });
    const slow = intercepted(memory, async (_, request) => {
      await new Promise((resolve) => setImmediate(resolve));
      return request();
    });
    const clock = { now: Date.now, sleep: async () => {} };
    const options = { operation: "order", leaseSeconds: 30 };

    expect(await runOnce({ ...options, store: slow, clock }, "a", {}, () => "done")).toBe("done");
    expect(await runOnce({ ...options, store: new MemoryStore() }, "a", {}, () => "done")).toBe("done");
  });
});

describe("a completion that the store fails to take", () => {
  it.each([
    ["until shortly before the end of the invocation", 0, 3000, 5500],
    ["for 30 seconds if the time for an answer is over", 5500, 30_000, 36_000],
  ])("is tried %s", async (_, worksMs, atLeast, atMost) => {
    const { clock, store, call, start } = given([]);
    const options = { ...within(6000), store: failing(store, "settle", "before"), renewLease: true };

    expect(await call(() => clock.sleep(worksMs).then(() => "done"), options)).toBe("done");
    expect(clock.now() - start).toBeGreaterThanOrEqual(atLeast);
    expect(clock.now() - start).toBeLessThanOrEqual(atMost);
  });
});

describe("work within a transaction", () => {
  const lostTransaction = () =>
    Object.assign(new StoreUnavailableError("unreachable", undefined, "gone"), { isRolledBack: true });

  function transactional(patienceMs?: number) {
    const clock = fakeClock();
    let lose = (_: Error) => {};
    const lost = new Promise<Error>((resolve) => {
      lose = resolve;
    });
    const memory = Object.assign(new MemoryStore(), { patienceMs, handlerLost: () => lost });
    const call = (work: Work) =>
      runOnce({ operation: "order", store: memory, clock, leaseSeconds: 30 }, "key", {}, work);
    return { clock, call, lose };
  }

  it.each([
    [30_000, 30_000],
    [undefined, 0],
  ])(
    "H80: ends a handler that doesn't notice its loss, after %s ms to stop on its own",
    async (patienceMs, ms) => {
      const { clock, call, lose } = transactional(patienceMs);
      let signal: AbortSignal | undefined;
      const ended = call(async (execution) => {
        signal = execution.signal;
        await new Promise(() => {});
      }).catch((error: unknown) => error);
      const start = clock.now();
      const loss = lostTransaction();
      await clock.advance(0);

      lose(loss);
      await clock.advance(0);

      expect(signal).toMatchObject({ aborted: true, reason: loss });
      expect(await clock.run(ended)).toBe(loss);
      expect(clock.now() - start).toBe(ms);
      expect(clock.sleepers).toBe(0);
    },
  );

  it("H80: ends a handler that never looks at its signal with the loss", async () => {
    const { clock, call, lose } = transactional();
    const ended = call(() => new Promise(() => {})).catch((error: unknown) => error);
    const loss = lostTransaction();
    await clock.advance(0);

    lose(loss);

    expect(await clock.run(ended)).toBe(loss);
  });

  it("H80: that stops by itself ends with its own error, and leaves no timer", async () => {
    const { clock, call, lose } = transactional(30_000);
    const ended = call(async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new Error("stopped");
    });
    ended.catch(() => {});
    await clock.advance(0);

    lose(lostTransaction());

    await expect(clock.run(ended)).rejects.toThrow("stopped");
    expect(clock.sleepers).toBe(0);
    expect(await clock.run(transactional().call(() => "done"))).toBe("done");
  });
});

describe("a store that refuses a result for its content", () => {
  const refusal = () =>
    Object.assign(new StoreUnavailableError("refused", undefined, "54000"), { refusesContent: true });

  const refusing = (method: StoreMethod) => {
    const store = intercepted(new MemoryStore(), async (name, request, [change]) => {
      if (name === method && (change as { result?: string }).result?.includes("odd")) throw refusal();
      return request();
    });
    let runs = 0;
    const call = (work: Work, options: Partial<EngineOptions<MemoryWrite>> = {}) =>
      runOnce({ operation: "order", store, leaseSeconds: 30, ...options }, "key", {}, (execution) => {
        runs++;
        return work(execution);
      });
    return { call, runs: () => runs };
  };

  it.each([
    ["claimed", "settle"],
    ["optimistic", "insert"],
  ] as const)(
    "H84: A4: an operation whose result the store refuses counts as done, %s",
    async (mode, method) => {
      const { call, runs } = refusing(method);

      expect(await call(() => "odd", { mode })).toBe("odd");
      await expect(call(() => "odd", { mode })).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
      expect(runs()).toBe(1);
    },
  );

  it("H84: A4: also of a commit, and of a final error", async () => {
    const committed = refusing("settle");
    expect(await committed.call(({ commit }) => commit("odd"))).toBe("odd");
    await expect(committed.call(() => "odd")).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });

    const failed = refusing("settle");
    const fail = () => failed.call(() => Promise.reject(new Error("odd")), { isFinalError: () => true });
    await expect(fail()).rejects.toThrow("odd");
    await expect(fail()).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect([committed.runs(), failed.runs()]).toEqual([1, 1]);
  });

  it("H84: A4: also when the try before failed in a way that may pass", async () => {
    let tries = 0;
    const store = intercepted(new MemoryStore(), async (name, request, [change]) => {
      const isOdd = name === "settle" && (change as { result?: string }).result?.includes("odd");
      if (isOdd) throw tries++ === 0 ? new StoreUnavailableError("unreachable", undefined) : refusal();
      return request();
    });
    const clock = fakeClock();
    const call = (work: Work) =>
      clock.run(runOnce({ operation: "order", store, clock, leaseSeconds: 30 }, "key", {}, work));

    expect(await call(() => "odd")).toBe("odd");
    await expect(call(() => "odd")).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
  });

  it("H84: A4: a step whose result the store refuses counts as done, in this attempt and each later one", async () => {
    const { call } = refusing("writeStep");
    let charges = 0;
    const work: Work = async ({ step }) => {
      await step("charge", () => {
        charges++;
        return "odd";
      });
    };

    await expect(call(work)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    await expect(call(work)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(charges).toBe(1);
  });
});
