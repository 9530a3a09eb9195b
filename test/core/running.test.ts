// What adapters and stores get to know about the end of an attempt: whether it is recorded, and whose error it is.
import { describe, expect, it, vi } from "vitest";
import { OutcomeUnknownError, PermanentError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { performOnce, type RunOnceOptions } from "../../lib/core/run-once.ts";
import { Interrupted } from "../../lib/core/running.ts";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { failing } from "../kit/faults/faulty-store.ts";
import { never } from "./abandoned-given.ts";
import { newWorld, START } from "./world.ts";

type Options = Partial<RunOnceOptions<MemoryWrite, "result">>;
type Work = (execution: Execution<MemoryWrite>) => unknown;

function attempt(work: Work, options: Options = {}) {
  const clock = fakeClock(START);
  const call = performOnce(
    { operation: "charge", store: new MemoryStore(), leaseSeconds: 30, renewLease: false, clock, ...options },
    "key",
    {},
    work,
  );
  return clock.run(call);
}

const refused = new PermanentError("sold out");
const refuse = () => Promise.reject(refused);
const noSettlement = () => failing(new MemoryStore(), "settle", "before");
const asyncPredicate = (async () => true) as unknown as () => boolean;

describe("the outcome of an attempt", () => {
  it.each<[string, Work, Options, boolean]>([
    ["a final error", refuse, {}, true],
    ["a final error whose record the store lost", refuse, { store: noSettlement() }, false],
    ["an error after a commit", ({ commit }) => commit("done").then(refuse), {}, true],
    ["interrupted work", () => Promise.reject(new Interrupted(refused)), {}, false],
    ["an error that a retry may repeat", () => Promise.reject(new Error("try again")), {}, false],
    ["a final error after an asynchronous predicate", refuse, { isFinalError: asyncPredicate }, false],
    ["a result after an asynchronous predicate", () => 1, { shouldStore: asyncPredicate }, true],
    [
      "a result after an asynchronous predicate, whose record the store lost",
      () => 1,
      { shouldStore: asyncPredicate, store: noSettlement() },
      false,
    ],
  ])("of %s says whether it is recorded", async (_, work, options, isRecorded) => {
    expect(await attempt(work, options)).toMatchObject({ replayed: false, failure: { isRecorded } });
  });

  it.each<[string, Error, Options, true | undefined]>([
    ["a PermanentError", refused, {}, true],
    ["another error that is final", new Error("closed"), { isFinalError: () => true }, undefined],
  ])(
    "of a replay says that it is recorded, and whether the handler threw %s",
    async (_, error, options, isPermanent) => {
      const store = new MemoryStore();
      const fail = () => Promise.reject(error);

      const outcomes = [
        await attempt(fail, { store, ...options }),
        await attempt(fail, { store, ...options }),
      ];

      expect(outcomes.map(({ replayed }) => replayed)).toEqual([false, true]);
      for (const { failure } of outcomes) expect(failure).toMatchObject({ isRecorded: true, isOurs: false });
      expect(outcomes.map(({ failure }) => failure?.isPermanent || undefined)).toEqual([
        isPermanent,
        isPermanent,
      ]);
    },
  );

  it("is not a replay if the result isn't stored", async () => {
    expect(await attempt(() => 1, { shouldStore: () => false })).toEqual({
      replayed: false,
      result: 1,
      original: 1,
    });
  });
});

describe("a store that has transactions of handlers", () => {
  const withTransactions = () => Object.assign(new MemoryStore(), { handlerFailed: vi.fn() });

  it("gets the error of a handler that threw, with the token of its claim", async () => {
    const store = withTransactions();
    let token = "";
    await attempt(
      () => {
        token = [...store.records.values()][0]!.token;
        return refuse();
      },
      { store },
    );

    expect(store.handlerFailed.mock.calls).toEqual([[refused, token]]);
  });

  it("gets none of interrupted work, which may still be using its transaction", async () => {
    const store = withTransactions();
    await attempt(() => Promise.reject(new Interrupted(refused)), { store });

    expect(store.handlerFailed).not.toHaveBeenCalled();
  });
});

describe("an unknown outcome", () => {
  const gaveUp = new OutcomeUnknownError(new TypeError("fetch failed"));

  it("H42: of an interrupted step is held, though the options count every error as final", async () => {
    const world = newWorld({ whenAbandoned: "run", isFinalError: () => true });
    const charge = (effect: () => unknown) => (execution: Execution<MemoryWrite>) =>
      execution.step("charge", effect, { atMostOnce: true });
    world.start(charge(() => new Promise(() => {})));
    await world.clock.advance(36_000);

    await expect(world.call(charge(never))).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });

    expect(world.record()).toMatchObject({ state: "held" });
  });

  it("is reported with the time since the claim", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    const work = async () => {
      await world.clock.sleep(1500);
      throw gaveUp;
    };

    await expect(world.call(work)).rejects.toBe(gaveUp);

    expect(world.events).toMatchObject([{ decision: "held", durationMs: 1500, ageMs: 1500 }]);
  });

  it("is reported once if the handler was aborted and the store doesn't answer either", async () => {
    const world = newWorld();
    const store = failing(world.memory, "find", "before");
    const late = async ({ signal }: Execution<MemoryWrite>) => {
      await world.clock.sleep(40_000);
      throw signal.reason;
    };

    await expect(world.call(late, { store, leaseSeconds: 10 })).rejects.toThrow();

    expect(world.decisions()).toEqual(["outcome-unknown", "store-failed"]);
  });
});
