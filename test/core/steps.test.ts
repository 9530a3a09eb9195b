// Steps of a handler: what is done is not done again, and what may have been done is not repeated where that was asked for.
import { describe, expect, it, vi } from "vitest";
import { MAX_RETENTION_SECONDS } from "../../lib/contract.ts";
import {
  OutcomeUnknownError,
  PermanentError,
  ResultNotKeptError,
  StoreUnavailableError,
} from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { DEFAULTS } from "../../lib/core/options.ts";
import { resolveOutcome } from "../../lib/core/resolve-outcome.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Step } from "../../lib/core/steps.ts";
import type { StepChange } from "../../lib/core/store.ts";
import { type AbandonedAttempt, decodeEvidence } from "../../lib/core/verify.ts";
import { cached } from "../../lib/stores/cached.ts";
import type { MemoryStore, MemoryStoreOptions, MemoryWrite } from "../../lib/testing/index.ts";
import { failing, intercepted, unreachable } from "../kit/faults/faulty-store.ts";
import { evidenceOf, never } from "./abandoned-given.ts";
import { counting, newWorld, pausedWorker, START, type World } from "./world.ts";

type Run = Execution<MemoryWrite>;

const RETENTION = DEFAULTS.retentionSeconds;

/** Effects outside of the store, in order. */
function effects() {
  const log: string[] = [];
  return { log, of: (name: string) => () => `${name}-${log.push(name)}` };
}

/** For an operation inside of another one. */
const innerOptions = ({ memory, clock }: World) => ({
  operation: "inner",
  store: memory,
  leaseSeconds: 30,
  renewLease: false as const,
  clock,
});

const hang = () => new Promise<never>(() => {});
const failure = new Error("the handler failed");
const fail = () => Promise.reject(failure);

/** A promise, and what resolves it. */
function later() {
  let resolve: (value: string) => void = () => {};
  const promise = new Promise<string>((done) => {
    resolve = done;
  });
  return { promise, resolve: (value: string) => resolve(value) };
}

async function listed({ memory, clock }: World) {
  const outcomes: unknown[] = [];
  for await (const outcome of memory.unknownOutcomes({ before: clock.now() })) outcomes.push(outcome);
  return outcomes;
}

/** The states of steps that are written, in their order. */
function writtenStates(world: World) {
  const states: string[] = [];
  const store = intercepted(world.memory, (method, request, [change]) => {
    const { name, step } = Object(change) as StepChange;
    if (method === "writeStep") states.push(`${name} ${step.state}`);
    return request();
  });
  return { states, store };
}

/** A handler that dies inside a step, and a lease that is over. */
async function diesIn(world: World, name: string, options: object = { atMostOnce: true }) {
  void world.start(({ step }) => step(name, hang, options));
  await world.clock.advance(36_000);
}

describe("a step", () => {
  it("H60: is skipped by the attempt that comes after, which sees the same value", async () => {
    const world = newWorld();
    const { log, of } = effects();
    const handler = async ({ step }: Run) => {
      const charge = await step("charge", of("charge"));
      const mail = await step("mail", log.length < 2 ? fail : of("mail"));
      return [charge, mail];
    };

    await expect(world.call(handler)).rejects.toBe(failure);
    log.push("later");

    expect(await world.call(handler)).toEqual(["charge-1", "mail-3"]);
    expect(log).toEqual(["charge", "later", "mail"]);
  });

  it("H60: is skipped after a crash, under the claim that takes over", async () => {
    const world = newWorld();
    const { log, of } = effects();
    void world.start(async ({ step }) => {
      await step("charge", of("charge"));
      await hang();
    });
    await world.clock.advance(36_000);

    const result = await world.call(async ({ step, attempt }) => [
      await step("charge", of("charge")),
      attempt,
    ]);

    expect(result).toEqual(["charge-1", 2]);
    expect(log).toEqual(["charge"]);
  });

  it("costs one request, and its record is as small as ever once it is completed", async () => {
    const world = newWorld();
    const methods: string[] = [];
    const store = intercepted(world.memory, (method, request) => {
      methods.push(method);
      return request();
    });

    const work = async ({ step }: Run) => [
      await step("a", () => 1),
      typeof (await step("b", () => undefined)),
    ];
    expect(await world.call(work, { store })).toEqual([1, "undefined"]);

    expect(methods).toEqual(["claim", "writeStep", "writeStep", "settle"]);
    expect(world.record()).not.toHaveProperty("steps");
  });

  it("gives its first caller the same as a later one", async () => {
    const world = newWorld();
    const value = { id: 1, gone: undefined };
    const seen: unknown[] = [];
    const handler = async ({ step }: Run) => {
      seen.push(await step("make", () => value));
      if (seen.length < 2) throw failure;
      return "done";
    };
    await expect(world.call(handler)).rejects.toBe(failure);
    await world.call(handler);

    expect(seen).toEqual([{ id: 1 }, { id: 1 }]);
    expect(Object.keys(seen[0] as object)).toEqual(["id"]);
  });

  it("rejects a result that isn't JSON, and records nothing of it", async () => {
    const world = newWorld();

    await expect(world.call(({ step }) => step("make", () => new Date(0)))).rejects.toMatchObject({
      code: "RESPONSE_NOT_STORABLE",
    });
  });

  it("runs next to others, each written once, and one fails", async () => {
    const world = newWorld();
    const { log, of } = effects();
    let isBroken = true;
    const handler = async ({ step }: Run) =>
      Promise.all([
        step("a", of("a")),
        step("b", async () => {
          if (isBroken) throw failure;
          return of("b")();
        }),
        step("c", async () => {
          await world.clock.sleep(1000);
          return of("c")();
        }),
      ]);

    await expect(world.call(handler)).rejects.toBe(failure);
    isBroken = false;

    expect(await world.call(handler)).toEqual(["a-1", "b-3", "c-2"]);
    expect(log).toEqual(["a", "c", "b"]);
  });

  it("may be tried again within its attempt", async () => {
    const world = newWorld();
    let tries = 0;

    const result = await world.call(async ({ step }) => {
      const work = () => (++tries < 3 ? fail() : tries);
      for (;;) {
        const value = await step("flaky", work).catch(() => undefined);
        if (value) return value;
      }
    });

    expect(result).toBe(3);
  });

  it("has its own child key, the same in every attempt, and the signal of its attempt", async () => {
    const world = newWorld();
    const keys: unknown[] = [];
    const handler = async ({ step, childKey, signal }: Run) => {
      await step("charge", (own) => {
        keys.push(own.childKey(), own.childKey({ maxLength: 36 }), own.name, own.attempt);
        expect(own.signal).toBe(signal);
        expect(own.childKey()).toBe(childKey("charge"));
        return fail();
      });
    };
    for (let tries = 0; tries < 2; tries++) await expect(world.call(handler)).rejects.toBe(failure);

    expect(keys.slice(4, 7)).toEqual(keys.slice(0, 3));
    expect([keys[3], keys[7]]).toEqual([1, 2]);
  });

  it("has a child key that fits the limits of a provider, and refuses limits that fit no safe key", async () => {
    const world = newWorld();

    await world.call(async ({ step, childKey }) => {
      const [short, hex, all] = await step("charge", (own) => [
        own.childKey({ maxLength: 22 }),
        own.childKey({ format: "hex", maxLength: 32 }),
        own.childKey(),
      ]);
      expect(short).toMatch(/^[\w-]{22}$/);
      expect(hex).toMatch(/^[0-9a-f]{32}$/);
      expect(all).toMatch(/^[\w-]{43}$/);
      expect(short).toBe(childKey("charge", { maxLength: 22 }));
      await expect(step("mail", (own) => own.childKey({ maxLength: 21 }))).rejects.toMatchObject({
        code: "INVALID_OPTION",
        message: expect.stringContaining("at least 22"),
      });
    });
  });

  it("H1: whose attempt lost its claim is not recorded, and the winner's answer counts", async () => {
    const world = newWorld();
    const late = later();
    const first = world.start(({ step }) => step("charge", () => late.promise));
    await world.clock.advance(36_000);
    await world.call(({ step }) => step("charge", () => "second"));

    late.resolve("first");

    expect(await first).toMatchObject({ replayed: true, result: "second" });
    expect(world.decisions()).toContain("claim-lost");
  });

  it("H1: whose attempt lost its claim to a running one gets an error", async () => {
    const world = newWorld();
    const late = later();
    const first = world.start(({ step }) => step("charge", () => late.promise));
    await world.clock.advance(36_000);
    pausedWorker(world);
    await world.clock.advance(1);

    late.resolve("first");

    await expect(first).rejects.toMatchObject({ code: "CLAIM_LOST" });
  });

  it("is written again while the store fails, and its lost answer counts as written", async () => {
    const world = newWorld();
    const store = failing(world.memory, "writeStep", "after", { times: 2 });
    const { log, of } = effects();

    expect(await world.call(({ step }) => step("charge", of("charge")), { store })).toBe("charge-1");
    expect(log).toEqual(["charge"]);
  });

  it("continues next to a step whose responses were all lost", async () => {
    const world = newWorld();
    const { log, of } = effects();
    let isSilent = true;
    const store = intercepted(world.memory, async (method, request) => {
      const answer = await request();
      if (method === "writeStep" && isSilent) throw unreachable();
      return answer;
    });

    const result = await world.call(
      async ({ step }) => {
        await step("charge", of("charge")).catch(() => {});
        isSilent = false;
        return step("mail", of("mail"));
      },
      { store },
      { remainingMs: 60_000 },
    );

    expect(result).toBe("mail-2");
    expect(log).toEqual(["charge", "mail"]);
  });

  it("is written although the steps before it were lost", async () => {
    const world = newWorld();

    const result = await world.call(async ({ step }) => {
      await step("charge", () => 1);
      world.memory.alter([...world.memory.records.keys()][0] as string, { steps: undefined as never });
      return step("mail", () => "sent");
    });

    expect(result).toBe("sent");
  });

  it("fails if the record changes under each of its writes", async () => {
    const world = newWorld();
    let at = START;
    const store = intercepted(world.memory, async (method, request) => {
      const [recordKey] = [...world.memory.records.keys()];
      if (method === "writeStep") {
        world.memory.alter(recordKey as string, {
          steps: { other: { state: "done", attempt: 1, at: at++ } },
        });
        const { steps } = world.memory.records.get(recordKey as string) ?? {};
        if (at % 2)
          world.memory.alter(recordKey as string, {
            steps: { ...steps, mail: { state: "begun", attempt: 1, at } },
          });
      }
      return request();
    });

    await expect(
      world.call(({ step }) => step("mail", () => 1), { store }, { remainingMs: 60_000 }),
    ).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure: "conflict" });
  });

  it("fails if the store doesn't respond until the deadline, and runs again under the same child key", async () => {
    const world = newWorld();
    const store = failing(world.memory, "writeStep", "before");
    const { log, of } = effects();

    await expect(world.call(({ step }) => step("charge", of("charge")), { store })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    await world.clock.advance(36_000);

    expect(await world.call(({ step }) => step("charge", of("charge")))).toBe("charge-2");
    expect(log).toEqual(["charge", "charge"]);
  });

  it.each([
    ["its result alone as long as the store says", false],
    ["its writes as long as there is time", true],
  ])("waits for the answer to %s", async (_, hasWrites) => {
    const world = newWorld();
    const handler = ({ step }: Run) =>
      step("charge", (own) => (hasWrites ? own.commit(1, { writes: [world.orderWrite()] }) : 1));
    const { requests, store } = counting(world, (method, request) =>
      method === "writeStep" ? hang() : request(),
    );

    const failed = world.call(handler, { store: Object.assign(store, { patienceMs: 1000 }) });

    await expect(failed).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const isRepeated = requests.filter((method) => method === "writeStep").length > 1;
    expect(isRepeated).toBe(!hasWrites);
  });

  it.each<[string, object | undefined, number]>([
    ["for twice its retention", undefined, 2 * RETENTION],
    ["as long as a held key may last", { tracked: true }, MAX_RETENTION_SECONDS],
  ])("keeps its result %s", async (_, options, seconds) => {
    const world = newWorld();
    const expiries: unknown[] = [];
    const store = intercepted(world.memory, (method, request, [change]) => {
      if (method === "writeStep") expiries.push((change as StepChange).resultExpiresAt - START / 1000);
      return request();
    });
    const handler = async ({ step }: Run) => {
      await step("first", () => 1, options);
      // Once a step is tracked, the key may be held.
      return step("second", () => 2);
    };

    expect(await world.call(handler, { store })).toBe(2);
    expect(expiries).toEqual([seconds, seconds]);
  });

  it("keeps a large result, and the next attempt gets it", async () => {
    const world = newWorld();
    const large = "x".repeat(5000);
    let runs = 0;
    const handler = async ({ step }: Run) => {
      const value = await step("load", () => {
        runs++;
        return large;
      });
      if (runs === 1 && world.record().attempt === 1) throw failure;
      return value.length;
    };
    await expect(world.call(handler)).rejects.toBe(failure);

    expect(await world.call(handler)).toBe(5000);
    expect(runs).toBe(1);
  });

  it.each([
    ["returned", (_: Step<MemoryWrite>, value: string) => value],
    ["committed", (own: Step<MemoryWrite>, value: string) => own.commit(value, { writes: [] })],
  ])("whose %s result is not kept reports it in each attempt, and is not run again", async (_, work) => {
    const world = newWorld({}, { maxResultBytes: 2000 });
    let runs = 0;
    const handler = async ({ step }: Run) => {
      await step("load", (own) => {
        runs++;
        return work(own, "x".repeat(5000));
      });
    };
    for (let attempt = 1; attempt <= 3; attempt++)
      await expect(world.call(handler)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT", bytes: 5002 });

    expect(runs).toBe(1);
    expect(world.record()).toMatchObject({ state: "released", steps: { load: { state: "done" } } });
  });

  it("whose result is not kept lets a handler go on that does not need the value", async () => {
    const world = newWorld({}, { maxResultBytes: 2000 });
    const { log, of } = effects();
    const handler = async ({ step }: Run) => {
      const loaded = step("load", () => {
        log.push("load");
        return "x".repeat(5000);
      });
      await expect(loaded).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
      await step("charge", of("charge"));
      if (log.length === 2) {
        log.push("failed");
        throw failure;
      }
      return "done";
    };
    await expect(world.call(handler)).rejects.toBe(failure);

    expect(await world.call(handler)).toBe("done");
    expect(log).toEqual(["load", "charge", "failed"]);
  });

  it("whose result is not kept after `verify` returned it reports that in each attempt", async () => {
    const world = newWorld({}, { maxResultBytes: 2000 });
    const verify = () => ({ outcome: "happened", result: "x".repeat(5000), evidence: {} }) as const;
    await diesIn(world, "load", { atMostOnce: true, verify });
    const handler = ({ step }: Run) => step("load", never, { atMostOnce: true, verify });

    for (let attempt = 1; attempt <= 2; attempt++)
      await expect(world.call(handler)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
  });

  it("runs at most once if it has a `verify`, which gets the step's key without its name", async () => {
    const world = newWorld();
    const keys: string[] = [];
    const verify = ({ childKey }: AbandonedAttempt) => {
      keys.push(childKey());
      return { outcome: "happened", result: "ch_1" } as const;
    };
    const options = { verify, formerly: ["pay"] };
    await diesIn(world, "charge", options);
    const handler = ({ step, childKey }: Run) => {
      keys.push(childKey("pay"));
      return step("charge", never, options);
    };

    expect(await world.call(handler)).toBe("ch_1");
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  it("is found by its previous name within the attempt that has done it", async () => {
    const world = newWorld();
    const handler = async ({ step }: Run) => {
      await step("charge", () => "ch_1");
      return step("charge-card", never, { formerly: ["charge"] });
    };

    expect(await world.call(handler)).toBe("ch_1");
  });

  it("passes on another operation's error unchanged: it says nothing about this one", async () => {
    const world = newWorld();
    let runs = 0;
    const handler = async ({ step }: Run) =>
      step("inner", (): unknown => {
        runs++;
        return runs > 1 ? "done" : runOnce(innerOptions(world), "inner-1", null, () => ({ cents: 10n }));
      });
    await expect(world.call(handler)).rejects.toMatchObject({ code: "RESPONSE_NOT_STORABLE" });

    expect(await world.call(handler)).toBe("done");
  });

  it("keeps another payload away from a key whose first part is done", async () => {
    const world = newWorld();
    const handler = async ({ step }: Run) => {
      await step("charge", () => 1);
      throw failure;
    };
    await expect(world.call(handler)).rejects.toBe(failure);

    await expect(world.call(never, {}, { input: "other" })).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
  });

  it("works through cached as well", async () => {
    const world = newWorld();
    const { log, of } = effects();
    const store = cached(world.memory, { clock: world.clock });
    const handler = async ({ step }: Run) => {
      await step("charge", of("charge"));
      if (log.length < 2) {
        log.push("failed");
        throw failure;
      }
      return "done";
    };
    await expect(world.call(handler, { store })).rejects.toBe(failure);

    expect(await world.call(handler, { store })).toBe("done");
    expect(log).toEqual(["charge", "failed"]);
  });

  it("is not recorded if the store failed and the run has no claim", async () => {
    const world = newWorld({ whenStoreFails: "run" });
    const store = failing(world.memory, "claim", "before");
    const { log, of } = effects();

    expect(await world.call(({ step }) => step("charge", of("charge")), { store })).toBe("charge-1");
    expect(log).toEqual(["charge"]);
    await expect(
      world.call(({ step }) => step("a", () => 1, { atMostOnce: true }), { store }, { key: "key-2" }),
    ).rejects.toMatchObject({ code: "STEP_INVALID" });
    await expect(
      world.call(
        ({ step }) => step("a", (own) => own.commit(1, { writes: [] })),
        { store },
        { key: "key-3" },
      ),
    ).rejects.toThrow("step `a` needs a claim: leave `whenStoreFails` out");
  });
});

describe("the commit of a step", () => {
  it("counts a single function as a list, and a store without functions rejects it", async () => {
    const world = newWorld();

    const refused = world.call(({ step }) =>
      step("a", (own) => own.commit(1, { writes: (() => {}) as never })),
    );

    await expect(refused).rejects.toThrow("writes[0] must have table");
  });
});

describe("an attempt with steps", () => {
  it("waits for an unawaited step before it is completed", async () => {
    const world = newWorld();
    let isDone = false;

    await world.call(async ({ step }) => {
      void step("mail", async () => {
        await world.clock.sleep(2000);
        isDone = true;
      });
      return "returned";
    });

    expect(isDone).toBe(true);
    expect(world.record().state).toBe("completed");
  });

  it("fails if an unawaited step failed", async () => {
    const world = newWorld();

    const call = world.call(async ({ step }) => {
      void step("mail", async () => {
        await world.clock.sleep(2000);
        throw failure;
      });
      return "returned";
    });

    await expect(call).rejects.toBe(failure);
    expect(world.record().state).toBe("released");
  });

  it("gives its key back only when no step runs any more", async () => {
    const world = newWorld();
    const slow = later();
    const first = world.start(({ step }) =>
      Promise.all([step("slow", () => slow.promise), step("bad", fail)]),
    );
    await world.clock.advance(1000);

    await expect(world.call(never)).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
    slow.resolve("slow");

    await expect(first).rejects.toBe(failure);
    expect(world.record()).toMatchObject({ state: "released", steps: { slow: { state: "done" } } });
  });

  it("does not wait for a step beyond its time", async () => {
    const world = newWorld();
    const first = world.start(({ step }) => Promise.all([step("slow", hang), step("bad", fail)]));

    await world.clock.advance(29_900);

    await expect(first).rejects.toBe(failure);
    expect(world.record().state).toBe("in-progress");
    expect(world.decisions()).toEqual(["outcome-unknown"]);
  });

  it("does not wait at all for a step that is running when its time is over", async () => {
    const world = newWorld();
    const first = world.start(async ({ step, signal }) => {
      void step("slow", hang);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw failure;
    });

    await world.clock.advance(29_900);

    await expect(first).rejects.toBe(failure);
  });
});

describe("a step that is asked for wrongly", () => {
  const wrong: readonly (readonly [string, (execution: Run) => unknown, RegExp])[] = [
    ["no name", ({ step }) => step("", () => 1), /name of a step must be a string of 1 to 64/],
    [
      "a name that every object has",
      ({ step }) => step("constructor", () => 1),
      /not the name of a property that every object has/,
    ],
    [
      "the name of a prototype",
      ({ step }) => step("__proto__", () => 1),
      /not the name of a property that every object has/,
    ],
    ["a long name", ({ step }) => step("x".repeat(65), () => 1), /name of a step/],
    ["no work", ({ step }) => step("a", "work" as never), /step `a` must be given a function/],
    [
      "an unknown option",
      ({ step }) => step("a", () => 1, { retries: 1 } as never),
      /`retries` isn't an option/,
    ],
    [
      "verify of a step that may run twice",
      ({ step }) => step("a", () => 1, { atMostOnce: false, verify: () => ({ outcome: "unknown" }) }),
      /step `a` has `verify` without `atMostOnce: true`/,
    ],
    [
      "didNotHappen alone",
      ({ step }) => step("a", () => 1, { didNotHappen: () => true }),
      /step `a` has `didNotHappen` without `atMostOnce/,
    ],
    [
      "former names that are none",
      ({ step }) => step("a", () => 1, { formerly: "b" as never }),
      /`formerly` must be an array/,
    ],
    [
      "its name twice",
      async ({ step }) => {
        await step("a", () => 1);
        await step("a", () => 2);
      },
      /step `a` was used twice in one attempt: give each step its own name/,
    ],
    [
      "too many names",
      async ({ step }) => {
        for (let n = 0; n < 101; n++) await step(`n-${n}`, () => n);
      },
      /at most 100 steps/,
    ],
    [
      "a commit while it runs",
      ({ step, commit }) => {
        void step("a", hang);
        return commit(1);
      },
      /step `a` is still running: await it before the commit/,
    ],
    [
      "a commit before it",
      async ({ step, commit }) => {
        await commit(1);
        await step("a", () => 1);
      },
      /await each step before the handler returns or commits/,
    ],
    [
      "a commit of messages",
      ({ step }) => step("a", (own) => own.commit(1, { writes: [], messages: [] } as never)),
      /\{ writes \}: send messages with the commit of the execution/,
    ],
    [
      "a commit without writes",
      ({ step }) => step("a", (own) => own.commit(1, undefined as never)),
      /expects the result first, then \{ writes \}/,
    ],
    [
      "two commits",
      ({ step }) =>
        step("a", async (own) => {
          await own.commit(1, { writes: [] });
          await own.commit(2, { writes: [] });
        }),
      /a step can commit only once/,
    ],
    [
      "a commit after its failure",
      async ({ step }) => {
        let late: Step<MemoryWrite> | undefined;
        await step("a", (own) => {
          late = own;
          throw failure;
        }).catch(() => {});
        await late?.commit(1, { writes: [] });
      },
      /a step can commit only once, and before it returns/,
    ],
    [
      "a commit after its end",
      async ({ step }) => {
        let late: Step<MemoryWrite> | undefined;
        await step("a", (own) => {
          late = own;
        });
        await late?.commit(1, { writes: [] });
      },
      /a step can commit only once, and before it returns/,
    ],
  ];

  it.each(wrong)("with %s is refused", async (_, work, message) => {
    const world = newWorld();

    await expect(world.call(async (execution) => work(execution))).rejects.toThrow(message);
  });

  it("is refused after the handler has returned", async () => {
    const world = newWorld();
    let late: Run | undefined;
    await world.call(async (execution) => {
      late = execution;
    });

    expect(() => late?.step("a", () => 1)).toThrow("this attempt has ended: await each step");
  });

  it("is refused in the optimistic mode", async () => {
    const world = newWorld({ mode: "optimistic" });

    await expect(world.call(({ step }) => step("a", () => 1))).rejects.toThrow(
      "step `a` needs a claim: leave `mode` out",
    );
  });

  it("is rejected with a store that has no steps, or lists nothing", async () => {
    const world = newWorld();
    const options = { atMostOnce: true };

    await expect(
      world.call(({ step }) => step("a", () => 1), { store: boundTo(world.memory, "writeStep") }),
    ).rejects.toThrow("step `a` needs a store with the method `writeStep`");
    await expect(
      world.call(({ step }) => step("a", () => 1, options), {
        store: boundTo(world.memory, "unknownOutcomes"),
      }),
    ).rejects.toThrow("step `a` needs a store with the method `unknownOutcomes`");
  });
});

/** The same store without one of its methods. */
function boundTo(store: MemoryStore, without: string): MemoryStore {
  return new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target);
      if (name === without) return undefined;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe("a step that commits", () => {
  /** Puts the order, unless `isTaken`. */
  const order = (isTaken = () => false): MemoryWrite => ({
    table: "orders",
    key: "1",
    item: { id: "1" },
    condition: () => !isTaken(),
  });

  it("applies its writes and its result together, once", async () => {
    const world = newWorld();
    let runs = 0;
    const handler = async ({ step }: Run) => {
      const order = await step("order", async (own) => {
        runs++;
        return own.commit({ id: "1" }, { writes: [{ table: "orders", key: "1", item: { runs } }] });
      });
      if (world.record().attempt === 1) throw failure;
      return order;
    };

    await expect(world.call(handler)).rejects.toBe(failure);

    expect(await world.call(handler)).toEqual({ id: "1" });
    expect(world.memory.table("orders").get("1")).toEqual({ runs: 1 });
  });

  it("counts by its commit, whatever its work returns or throws afterwards", async () => {
    const world = newWorld();

    const result = await world.call(({ step }) =>
      step("order", async (own) => {
        void own.commit("committed", { writes: [order()] });
        return "returned";
      }),
    );

    expect(result).toBe("committed");
  });

  it("counts by its commit, although its error would prove that nothing happened", async () => {
    const world = newWorld();
    let runs = 0;
    const handler = ({ step }: Run) =>
      step(
        "order",
        async (own) => {
          runs++;
          await own.commit("committed", { writes: [world.orderWrite()] });
          throw failure;
        },
        { atMostOnce: true, didNotHappen: () => true },
      );

    await expect(world.call(handler)).rejects.toBe(failure);
    expect(world.record()).toMatchObject({ state: "released", steps: { order: { state: "done" } } });

    expect(await world.call(handler)).toBe("committed");
    expect([runs, world.orders()]).toEqual([1, 1]);
  });

  it("releases its key only when an unawaited commit is over", async () => {
    const world = newWorld();
    const { requests, store } = counting(world, async (method, request) => {
      if (method === "writeStep") await world.clock.sleep(1000);
      return request();
    });
    const handler = ({ step }: Run) =>
      step("order", (own) => {
        void own.commit("committed", { writes: [world.orderWrite()] });
        throw failure;
      });

    await expect(world.call(handler, { store })).rejects.toBe(failure);

    expect(requests).toEqual(["claim", "writeStep", "settle"]);
    expect(world.record()).toMatchObject({ state: "released", steps: { order: { state: "done" } } });
    expect(await world.call(handler)).toBe("committed");
    expect(world.orders()).toBe(1);
  });

  it("may commit something else if a condition was not met", async () => {
    const world = newWorld();

    const result = await world.call(({ step }) =>
      step("order", async (own) => {
        try {
          return await own.commit("new", { writes: [order(() => true)] });
        } catch (error) {
          expect(error).toMatchObject({ code: "TRANSACTION_CONDITION", index: 0 });
          return own.commit("there", { writes: [] });
        }
      }),
    );

    expect(result).toBe("there");
    expect(world.memory.table("orders").size).toBe(0);
  });

  it("can't commit something else after another failure, which may have written", async () => {
    const world = newWorld();
    const store = failing(world.memory, "writeStep", "after");

    const call = world.call(
      ({ step }) =>
        step("order", async (own) => {
          await own.commit("first", { writes: [order()] }).catch(() => {});
          return own.commit("second", { writes: [] });
        }),
      { store },
    );

    await expect(call).rejects.toMatchObject({
      code: "STEP_INVALID",
      message: expect.stringContaining("only once"),
    });
  });

  it("has its writes checked by the store before any I/O", async () => {
    const world = newWorld();
    const check = vi.spyOn(world.memory, "checkEffects");

    await world.call(({ step }) => step("order", (own) => own.commit("new", { writes: [order()] })));

    expect(check.mock.calls).toEqual([
      [{ writes: [expect.objectContaining({ table: "orders" })], messages: [] }],
    ]);
  });

  /** The first commit of the step hangs on its way, and a later try is refused by its condition. */
  async function refusedBehindCopy(isCopyApplied: boolean, storeOptions?: MemoryStoreOptions) {
    const world = newWorld({}, storeOptions);
    let isTaken = false;
    let copy: (() => Promise<unknown>) | undefined;
    const store = intercepted(world.memory, async (method, request) => {
      if (method === "writeStep" && !copy) {
        copy = request;
        isTaken = true;
        throw unreachable();
      }
      if (method === "claim" && copy && isCopyApplied) {
        isTaken = false;
        await copy();
      }
      return request();
    });
    const commits: string[] = [];
    const call = world.call(
      ({ step }) =>
        step("order", async (own) => {
          try {
            const id = await own.commit("first", { writes: [order(() => isTaken)] });
            commits.push("first");
            return id;
          } catch (error) {
            if (error instanceof ResultNotKeptError) throw error;
            commits.push("refused");
            return own.commit("second", { writes: [] });
          }
        }),
      { store },
    );
    const result = await call;
    if (!isCopyApplied) isTaken = false;
    await copy?.();
    return { world, result, commits };
  }

  it("counts if a copy of it is applied before the copies are fenced off", async () => {
    const { world, result, commits } = await refusedBehindCopy(true);

    expect([result, commits]).toEqual(["first", ["first"]]);
    expect(world.memory.table("orders").size).toBe(1);
  });

  it("is also done if the store can't keep its result, and fails as in every later attempt", async () => {
    await expect(refusedBehindCopy(true, { maxResultBytes: 3 })).rejects.toThrow(ResultNotKeptError);
  });

  it("is refused only when no late copy of it can be applied any more", async () => {
    const { world, result, commits } = await refusedBehindCopy(false);

    expect([result, commits]).toEqual(["second", ["refused"]]);
    expect(world.memory.table("orders").size).toBe(0);
  });

  it("fails with an error of the store that leaves its outcome open, and its claim stays", async () => {
    const world = newWorld();
    const store = failing(world.memory, "writeStep", "after");

    await expect(
      world.call(({ step }) => step("order", (own) => own.commit(1, { writes: [order()] })), { store }),
    ).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });

    expect(world.memory.table("orders").size).toBe(1);
  });
});

describe("a step at most once", () => {
  const atMostOnce = true;

  it("writes down that it begins, by one more request", async () => {
    const world = newWorld();
    const methods: string[] = [];
    const store = intercepted(world.memory, (method, request) => {
      methods.push(method);
      return request();
    });

    await world.call(
      async ({ step }) =>
        step(
          "charge",
          () => {
            expect(world.record()).toMatchObject({ steps: { charge: { state: "begun" } } });
            expect(world.record().expiresAt).toBeUndefined();
            return 1;
          },
          { atMostOnce },
        ),
      { store },
    );

    expect(methods).toEqual(["claim", "writeStep", "writeStep", "settle"]);
    expect(world.record().expiresAt).toBe(START / 1000 + 86_400);
  });

  it("H54: that was interrupted is never repeated, and holds its key", async () => {
    const world = newWorld();
    await diesIn(world, "charge");

    for (let tries = 0; tries < 3; tries++) {
      await expect(world.call(({ step }) => step("charge", never, { atMostOnce }))).rejects.toMatchObject({
        code: "OUTCOME_UNKNOWN",
      });
      await world.clock.advance(600_000);
    }

    expect(world.record()).toMatchObject({ state: "held", steps: { charge: { state: "begun" } } });
    expect(evidenceOf(world)).toMatchObject({ verdict: "unknown", by: "step", step: "charge", attempt: 1 });
    const outcomes = await listed(world);
    expect(outcomes).toMatchObject([{ state: "held", steps: ["charge"] }]);
  });

  it("H42: that was interrupted is found even if no caller retries", async () => {
    const world = newWorld();
    await diesIn(world, "charge");

    const outcomes = await listed(world);

    expect(outcomes).toMatchObject([{ state: "abandoned", steps: ["charge"] }]);
  });

  it("H42: is asked about by its verify, and goes on with the result that happened", async () => {
    const world = newWorld();
    await diesIn(world, "charge");
    const asked: unknown[] = [];
    const { states, store } = writtenStates(world);

    const work = async ({ step, childKey }: Run) => [
      await step("charge", never, {
        atMostOnce,
        verify: (previous) => {
          const { key, attempt, fence, startedAt, leaseEndedAt, input } = previous as never as Record<
            string,
            unknown
          >;
          asked.push({ key, attempt, fence, startedAt, leaseEndedAt, input });
          expect(previous.childKey()).toBe(childKey("charge"));
          return { outcome: "happened", result: "ch_1", evidence: { asked: "GET /charges" } };
        },
      }),
      await step("mail", () => "sent"),
    ];
    const result = await world.call(work, { store }, { payload: { item: "book" } });

    expect(result).toEqual(["ch_1", "sent"]);
    expect(states).toEqual(["charge done", "mail done"]);
    const input = { item: "book" };
    const leaseEndedAt = START + 35_001;
    expect(asked).toEqual([{ key: "key-1", attempt: 1, fence: 2, startedAt: START, leaseEndedAt, input }]);
    expect(evidenceOf(world)).toMatchObject({ verdict: "happened", by: "verify", asked: "GET /charges" });
    expect(world.decisions()).toContain("verified");
  });

  it("H42: runs once more if verify knows that it did not happen", async () => {
    const world = newWorld();
    await diesIn(world, "charge");
    const { log, of } = effects();
    const { states, store } = writtenStates(world);

    const result = await world.call(
      ({ step }) =>
        step("charge", of("charge"), { atMostOnce, verify: () => ({ outcome: "did-not-happen" }) }),
      { store },
    );

    expect(result).toBe("charge-1");
    expect(log).toEqual(["charge"]);
    expect(states).toEqual(["charge undone", "charge begun", "charge done"]);
    expect(world.decisions()).not.toContain("verified");
    expect(evidenceOf(world)).toMatchObject({ verdict: "did-not-happen", by: "verify" });
  });

  it("H42: whose verify throws, or answers nothing, holds its key with the name of the error", async () => {
    for (const [verify, cause] of [
      [() => Promise.reject(new TypeError("secret")), { name: "TypeError" }],
      [() => ({}) as never, { name: "InvalidOptionError", option: "verify" }],
    ] as const) {
      const world = newWorld();
      await diesIn(world, "charge", { atMostOnce, verify });

      await expect(
        world.call(({ step }) => step("charge", never, { atMostOnce, verify })),
      ).rejects.toMatchObject({
        code: "OUTCOME_UNKNOWN",
        cause,
        message: expect.stringContaining(`(verify threw ${cause.name})`),
      });

      expect(world.record().state).toBe("held");
      const { answered, at, since } = evidenceOf(world);
      expect(answered).toMatch(/^threw \w+$/);
      // From the end of the lease on nobody knew.
      expect(since).toBeLessThan(at);
      expect(world.record().evidence).not.toContain("secret");
    }
  });

  it("H42: whose verify doesn't know holds its key, and its evidence is only for operators", async () => {
    const world = newWorld();
    const verify = () => ({ outcome: "unknown", evidence: { answered: "503" } }) as const;
    await diesIn(world, "charge", { atMostOnce, verify });

    const error = await world
      .call(({ step }) => step("charge", never, { atMostOnce, verify }))
      .catch((error: unknown) => error);

    expect(error).toMatchObject({ code: "OUTCOME_UNKNOWN", message: expect.not.stringContaining("503") });
    expect(evidenceOf(world)).toMatchObject({ answered: "503" });
  });

  it("H42: is asked about again a minute after it was held, and not before", async () => {
    const world = newWorld();
    let verdict: object = { outcome: "unknown" };
    let asked = 0;
    const options = {
      atMostOnce,
      verify: () => {
        asked++;
        return verdict as never;
      },
    };
    await diesIn(world, "charge", options);
    const call = () => world.call(({ step }) => step("charge", never, options));
    await expect(call()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    verdict = { outcome: "happened", result: "ch_1" };

    await expect(call()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(asked).toBe(1);
    await world.clock.advance(60_000);

    expect(await call()).toBe("ch_1");
    expect(asked).toBe(2);
  });

  it("that is done on record is not held for ever if all responses to that write were lost", async () => {
    const world = newWorld();
    let isSilent = false;
    const store = intercepted(world.memory, async (method, request) => {
      const answer = await request();
      if (method === "writeStep" && isSilent) throw unreachable();
      return answer;
    });
    const first = world.call(
      ({ step }) =>
        step(
          "charge",
          () => {
            isSilent = true;
            return "ch_1";
          },
          { atMostOnce },
        ),
      { store },
    );
    await expect(first).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(world.record()).toMatchObject({ state: "held", steps: { charge: { state: "done" } } });
    await world.clock.advance(60_000);

    expect(await world.call(({ step }) => step("charge", never, { atMostOnce }))).toBe("ch_1");
  });

  it("that throws holds its key, and its caller gets the error", async () => {
    const world = newWorld();

    await expect(world.call(({ step }) => step("charge", fail, { atMostOnce }))).rejects.toBe(failure);

    expect(world.record().state).toBe("held");
    expect(evidenceOf(world)).toMatchObject({ verdict: "unknown", by: "step" });
    expect(world.decisions()).toEqual(["held"]);
  });

  it("that throws holds its key although the handler hides the error in an answer that is not stored", async () => {
    const world = newWorld({ shouldStore: () => false });

    const result = await world.call(async ({ step }) => {
      await step("charge", fail, { atMostOnce }).catch(() => {});
      return "sorry";
    });

    expect(result).toBe("sorry");
    expect(world.record().state).toBe("held");
  });

  it("that throws a final error ends its operation", async () => {
    const world = newWorld();
    const refusal = new PermanentError("card refused");

    await expect(
      world.call(({ step }) => step("charge", () => Promise.reject(refusal), { atMostOnce })),
    ).rejects.toBe(refusal);

    expect(world.record()).toMatchObject({ state: "failed" });
    expect(world.record()).not.toHaveProperty("steps");
  });

  it("may run again if its error proves that nothing happened", async () => {
    const world = newWorld();
    const { log, of } = effects();
    const didNotHappen = (error: unknown) => error === failure;
    let isBroken = true;
    const handler = ({ step }: Run) =>
      step("charge", () => (isBroken ? fail() : of("charge")()), { atMostOnce, didNotHappen });

    await expect(world.call(handler)).rejects.toBe(failure);
    expect(world.record()).toMatchObject({ state: "released", steps: { charge: { state: "undone" } } });
    isBroken = false;

    expect(await world.call(handler)).toBe("charge-1");
    expect(log).toEqual(["charge"]);
  });

  it("whose result can't be stored has happened, whatever its error says", async () => {
    const world = newWorld();
    let runs = 0;
    const handler = async ({ step }: Run) => {
      await step("charge", () => ({ cents: BigInt(++runs) }), {
        atMostOnce: true,
        didNotHappen: (error) => (error as Error).name !== "TimeoutError",
      }).catch(() => {});
      throw failure;
    };
    await expect(world.call(handler)).rejects.toBe(failure);

    await expect(world.call(handler)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(runs).toBe(1);
  });

  it("whose end is not recorded has happened, whatever the store's error says", async () => {
    const world = newWorld();
    let runs = 0;
    let writes = 0;
    const refused = new StoreUnavailableError("refused", new Error("no rights"));
    const store = intercepted(world.memory, (method, request) =>
      method === "writeStep" && ++writes === 2 ? Promise.reject(refused) : request(),
    );
    const handler = async ({ step }: Run) => {
      await step("charge", () => void runs++, { atMostOnce: true, didNotHappen: () => true }).catch(() => {});
      throw failure;
    };
    await expect(world.call(handler, { store })).rejects.toBe(failure);

    await expect(world.call(handler, { store })).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(runs).toBe(1);
  });

  it("may be tried again in its attempt if its error proves that nothing happened, at the same millisecond", async () => {
    const world = newWorld();
    let tries = 0;

    const result = await world.call(async ({ step }) => {
      const options = { atMostOnce, didNotHappen: () => true };
      const failing = () => {
        tries++;
        return fail();
      };
      await step("charge", failing, options).catch(() => {});
      return step("charge", () => ++tries, options);
    });

    expect(result).toBe(2);
  });

  it("is abandoned if the store accepts neither its end nor the hold", async () => {
    const world = newWorld();
    const store = failing(failing(world.memory, "settle", "before"), "claim", "before", {
      times: 0,
      error: unreachable,
    });

    await expect(world.call(({ step }) => step("charge", fail, { atMostOnce }), { store })).rejects.toBe(
      failure,
    );

    expect(world.record().state).toBe("in-progress");
    expect(world.decisions().at(-1)).toBe("outcome-unknown");
  });

  it("of a handler that throws OutcomeUnknownError itself holds its key", async () => {
    const world = newWorld();
    const gaveUp = new OutcomeUnknownError(new TypeError("fetch failed"));

    await expect(
      world.call(({ step }) => step("charge", () => Promise.reject(gaveUp), { atMostOnce })),
    ).rejects.toBe(gaveUp);

    expect(world.record().state).toBe("held");
  });

  it("stays in the list under a claim that takes over and dies", async () => {
    const world = newWorld();
    await diesIn(world, "charge");
    pausedWorker(world);
    await world.clock.advance(36_000);

    expect(world.record()).toMatchObject({ state: "in-progress", attempt: 2 });
    expect(world.record().expiresAt).toBeUndefined();
  });

  it("is resolved by a person, who names it", async () => {
    const world = newWorld();
    await diesIn(world, "charge");
    const given = { operation: "create-order", store: world.memory, scope: "tenant-1", clock: world.clock };
    const said = { by: "ana", why: "ch_1 is in the dashboard" };

    await expect(resolveOutcome(given, "key-1", { outcome: "did-not-happen", ...said })).rejects.toThrow(
      "`step` must be one of the steps that have started (charge)",
    );
    await expect(
      resolveOutcome(given, "key-1", { outcome: "did-not-happen", step: "mail", ...said }),
    ).rejects.toThrow("must be one of the steps that have started (charge)");
    const answer = await resolveOutcome(given, "key-1", {
      outcome: "happened",
      result: "ch_1",
      step: "charge",
      ...said,
    });

    expect(answer).toEqual({ resolved: true });
    expect(world.record()).toMatchObject({ state: "released" });
    expect(evidenceOf(world)).toMatchObject({ by: "ana", step: "charge", verdict: "happened" });
    expect(await world.call(({ step }) => step("charge", never, { atMostOnce }))).toBe("ch_1");
  });

  it("runs again after an operator says that it did not happen; a second one stays held", async () => {
    const world = newWorld();
    void world.start(({ step }) =>
      Promise.all([step("a", hang, { atMostOnce }), step("b", hang, { atMostOnce })]),
    );
    await world.clock.advance(36_000);
    const given = { operation: "create-order", store: world.memory, scope: "tenant-1", clock: world.clock };
    const no = { outcome: "did-not-happen", by: "ana", why: "not in the dashboard" } as const;

    expect(await resolveOutcome(given, "key-1", { ...no, step: "a" })).toEqual({ resolved: true });
    expect(world.record()).toMatchObject({ state: "held", steps: { a: { state: "undone" } } });
    expect(await resolveOutcome(given, "key-1", { ...no, step: "b" })).toEqual({ resolved: true });

    expect(world.record().state).toBe("released");
    expect(await world.call(({ step }) => step("a", () => "ran", { atMostOnce }))).toBe("ran");
  });

  it("cannot be resolved in a key without steps", async () => {
    const world = newWorld();
    pausedWorker(world);
    await world.clock.advance(36_000);
    const given = { operation: "create-order", store: world.memory, scope: "tenant-1", clock: world.clock };
    const verdict = { outcome: "did-not-happen", step: "charge", by: "ana", why: "seen" } as const;

    await expect(resolveOutcome(given, "key-1", verdict)).rejects.toThrow(
      "must be one of the steps that have started (there are none)",
    );
  });

  it("leaves a key listed that is to be finished, once it is resolved", async () => {
    const world = newWorld();
    await diesIn(world, "charge", { atMostOnce, tracked: true });
    const given = { operation: "create-order", store: world.memory, scope: "tenant-1", clock: world.clock };
    const verdict = { outcome: "did-not-happen", step: "charge", by: "ana", why: "seen" } as const;
    await resolveOutcome(given, "key-1", verdict);
    await world.clock.advance(1);

    expect(world.record()).toMatchObject({ state: "released" });
    expect(await listed(world)).toMatchObject([{ state: "unfinished" }]);
    expect(await resolveOutcome(given, "key-1", { ...verdict, step: undefined as never })).toEqual({
      resolved: true,
    });
    expect(await listed(world)).toEqual([]);
  });

  it("is part of a key that a person completes as a whole", async () => {
    const world = newWorld();
    await diesIn(world, "charge");
    const given = { operation: "create-order", store: world.memory, scope: "tenant-1", clock: world.clock };

    await resolveOutcome(given, "key-1", { outcome: "happened", result: "all", by: "ana", why: "by hand" });

    expect(world.record()).toMatchObject({ state: "completed" });
    expect(world.record()).not.toHaveProperty("steps");
    expect(await world.call(never)).toBe("all");
  });

  it("is not resolved for an operator who lost a race", async () => {
    const world = newWorld();
    await diesIn(world, "charge");
    const store = intercepted(world.memory, async (method, request) => {
      const [recordKey] = [...world.memory.records.keys()];
      if (method === "writeStep") world.memory.alter(recordKey as string, { token: "another's" });
      return request();
    });
    const given = { operation: "create-order", store, scope: "tenant-1", clock: world.clock };

    expect(
      await resolveOutcome(given, "key-1", {
        outcome: "happened",
        result: 1,
        step: "charge",
        by: "ana",
        why: "seen",
      }),
    ).toEqual({ resolved: false, state: "in-progress" });
  });
});

describe("steps of another deployment", () => {
  it("H46: a step keeps the child key of its first name", async () => {
    const world = newWorld();
    const keys: string[] = [];
    const called =
      (name: string, formerly?: readonly string[]) =>
      ({ step }: Run) =>
        step(name, (own) => Promise.reject(keys.push(own.childKey()) && failure), formerly && { formerly });

    await expect(world.call(called("charge"))).rejects.toBe(failure);
    await expect(world.call(called("bill", ["charge"]))).rejects.toBe(failure);
    await expect(world.call(called("pay", ["charge", "bill"]))).rejects.toBe(failure);

    expect(new Set(keys).size).toBe(1);
  });

  it("H46: a step is found under a previous name", async () => {
    const world = newWorld();
    const before = async ({ step }: Run) => {
      await step("charge", () => "ch_1");
      throw failure;
    };
    await expect(world.call(before)).rejects.toBe(failure);

    expect(await world.call(({ step }) => step("charge-card", never, { formerly: ["charge"] }))).toBe("ch_1");
  });

  it.each([
    ["the one before", ["charge"], ["charge-card"]],
    ["the one after", ["charge-card"], ["charge"]],
  ])(
    "H46: a finished step of %s is refused before the handler runs, and the other deployment goes on",
    async (_, its, ours) => {
      const world = newWorld();
      const [name = ""] = its;
      const handler = async ({ step }: Run) => {
        await step(name, () => "ch_1");
        if (world.record().attempt === 1) throw failure;
        return "done";
      };
      await expect(world.call(handler, { steps: its })).rejects.toBe(failure);

      await expect(world.call(never, { steps: ours })).rejects.toMatchObject({
        code: "RECORD_CORRUPT",
        message: `an earlier attempt wrote the step \`${name}\`, which isn't in \`steps\`: finish the deployment, or add it to \`steps\``,
      });

      expect(world.record().state).toBe("released");
      expect(await world.call(handler, { steps: its })).toBe("done");
    },
  );

  it("H46: an interrupted step of another deployment stays held", async () => {
    const world = newWorld();
    await diesIn(world, "charge");

    await expect(world.call(never, { steps: ["charge-card"] })).rejects.toMatchObject({
      code: "RECORD_CORRUPT",
    });

    expect(world.record().state).toBe("held");
    expect(decodeEvidence(world.record().evidence)).toEqual({
      ...{ verdict: "unknown", by: "step", attempt: 2, at: world.clock.now() },
      since: expect.any(Number),
    });
  });

  it("is rejected although the key can't be released", async () => {
    const world = newWorld();
    const handler = async ({ step }: Run) => {
      await step("charge", () => "ch_1");
      throw failure;
    };
    await expect(world.call(handler)).rejects.toBe(failure);
    const store = failing(world.memory, "settle", "before");

    await expect(world.call(never, { store, steps: [] })).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
  });

  it("a step that is not declared is refused", async () => {
    const world = newWorld({ steps: ["charge"] });

    await expect(world.call(({ step }) => step("mail", () => 1))).rejects.toThrow(
      "step `mail` isn't in the option `steps`",
    );
  });
});
