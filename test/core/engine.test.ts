// What a call does by itself and against others, claim by claim.
import { describe, expect, it } from "vitest";
import {
  ClaimLostError,
  ExecutionInProgressError,
  FingerprintMismatchError,
  OutcomeUnknownError,
  PermanentError,
  RecordCorruptError,
  ResultNotKeptError,
  StoreUnavailableError,
} from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { answerLost, failing, gate, intercepted, newWorld, START, throttled, type World } from "./world.ts";

/** A worker that stops in the middle of its work, until its gate opens. */
function pausedWorker(world: World, options: Parameters<World["start"]>[1] = {}) {
  const { opened, open, fail } = gate<unknown>();
  const outcome = world.start(() => opened, options);
  return { outcome, resume: open, fail };
}

describe("perform, claimed", () => {
  it("runs once and answers every call with the first result", async () => {
    const world = newWorld();
    let runs = 0;
    const work = async ({ attempt }: Execution) => ({ run: ++runs, attempt });

    const answers = [await world.call(work), await world.call(work), await world.call(work)];

    expect(answers).toEqual(Array(3).fill({ run: 1, attempt: 1 }));
    expect(world.decisions()).toEqual(["executed", "replayed", "replayed"]);
    expect(world.record()).toMatchObject({ state: "completed", attempt: 1, completedAt: START });
  });

  it("tells what is replayed, and what the work itself returned", async () => {
    const world = newWorld();
    const value = { a: 1, b: undefined };

    const first = await world.start(async () => value);
    const replay = await world.start(async () => "never");

    expect(first).toStrictEqual({ replayed: false, result: { a: 1 }, original: value });
    expect(first.original).toBe(value);
    expect(replay).toStrictEqual({ replayed: true, result: { a: 1 } });
  });

  it("refuses another payload under the same key, before it tells anything about progress", async () => {
    const world = newWorld();
    const worker = pausedWorker(world);
    await world.clock.advance(0);

    await expect(world.call(async () => "other", {}, { input: "other" })).rejects.toThrow(
      FingerprintMismatchError,
    );
    worker.resume("done");
    await worker.outcome;
    await expect(world.call(async () => "other", {}, { input: "other" })).rejects.toThrow(
      FingerprintMismatchError,
    );

    expect(world.decisions()).toEqual(["mismatch", "executed", "mismatch"]);
  });

  it("refuses a second caller while the lease is live, and says when it ends", async () => {
    const world = newWorld();
    pausedWorker(world);
    await world.clock.advance(30_000 + 5000);

    const second = world.call(async () => "second");

    await expect(second).rejects.toThrow(ExecutionInProgressError);
    await expect(second).rejects.toMatchObject({ leaseExpiresAt: START + 35_000 });
    expect(world.decisions()).toEqual(["in-progress"]);
  });

  it("takes over when the lease has ended, with the next attempt number", async () => {
    const world = newWorld();
    pausedWorker(world);
    await world.clock.advance(35_001);

    expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
    expect(world.decisions()).toEqual(["taken-over", "executed"]);
  });

  it("H1: a worker that comes back after its lease cannot overwrite the winner's result, and gets it", async () => {
    const world = newWorld();
    const zombie = pausedWorker(world);
    await world.clock.advance(35_001);
    await world.call(async () => "winner");

    zombie.resume("zombie");

    expect((await zombie.outcome).result).toBe("winner");
    expect(await world.call(async () => "never")).toBe("winner");
    expect(world.decisions()).toEqual(["taken-over", "executed", "claim-lost", "replayed", "replayed"]);
  });

  it("H1: a worker that comes back while the winner works learns that its claim is lost", async () => {
    const world = newWorld();
    const zombie = pausedWorker(world);
    await world.clock.advance(35_001);
    const winner = pausedWorker(world);
    await world.clock.advance(0);

    zombie.resume("zombie");
    await expect(zombie.outcome).rejects.toThrow(ClaimLostError);
    winner.resume("winner");

    expect((await winner.outcome).result).toBe("winner");
  });

  it("H1: a worker whose claim is lost gets the winner's final error", async () => {
    const world = newWorld();
    const zombie = pausedWorker(world);
    await world.clock.advance(35_001);
    const winner = world.call(() => Promise.reject(new PermanentError("sold out")));
    await expect(winner).rejects.toThrow("sold out");

    zombie.resume("zombie");

    await expect(zombie.outcome).rejects.toThrow("sold out");
  });

  it("H1: a worker whose claim is lost does not answer with its own result when the winner's cannot be loaded", async () => {
    const world = newWorld();
    const zombie = pausedWorker(world, { store: failing(world.memory, "loadResult", "before") });
    await world.clock.advance(35_001);
    await world.call(async () => "w".repeat(2000));

    zombie.resume("zombie");

    await expect(zombie.outcome).rejects.toThrow(ClaimLostError);
  });

  it("H2: a worker that fails late does not touch the winner's record", async () => {
    const world = newWorld();
    const zombie = pausedWorker(world);
    await world.clock.advance(35_001);
    await world.call(async () => "winner");

    zombie.fail(new Error("late"));

    await expect(zombie.outcome).rejects.toThrow("late");
    expect(await world.call(async () => "never")).toBe("winner");
  });

  it("H2: a worker that fails just after its claim was lost releases nothing", async () => {
    const world = newWorld();
    // Long enough that the abort of the work does not decide first.
    const { opened, fail } = gate<unknown>();
    const zombie = world.start(() => opened, {}, { remainingMs: 60_000 });
    await world.clock.advance(0);
    const [recordKey] = world.memory.records.keys();
    world.memory.alter(recordKey!, { token: "somebody-else", attempt: 2 });

    fail(new Error("early"));

    await expect(zombie).rejects.toThrow("early");
    expect(world.record()).toMatchObject({ state: "in-progress", token: "somebody-else" });
    expect(world.decisions()).toEqual(["claim-lost"]);
  });

  it("H7: a completion that can never be written costs one effect, and the caller gets the result", async () => {
    const world = newWorld();
    let effects = 0;
    const store = failing(world.memory, "settle", "before", { error: throttled });

    const answer = await world.call(async () => ++effects, { store });

    expect(answer).toBe(1);
    expect(effects).toBe(1);
    expect(world.decisions().at(-1)).toBe("completion-lost");
    expect(world.decisions().filter((decision) => decision === "store-failed").length).toBeGreaterThan(10);
    expect(world.events.at(-1)?.error).toBeInstanceOf(StoreUnavailableError);
    expect(world.clock.now()).toBeLessThan(START + 30_000);
    expect(world.clock.now()).toBeGreaterThan(START + 25_000);
    expect(world.record().state).toBe("in-progress");
  });

  it("H7: a completion is written once the store is back", async () => {
    const world = newWorld();
    const store = failing(world.memory, "settle", "before", { times: 4 });

    await world.call(async () => "done", { store });

    expect(world.decisions()).toEqual([...Array(4).fill("store-failed"), "executed"]);
    expect(await world.call(async () => "never")).toBe("done");
  });

  it("H7: a final error that cannot be recorded is thrown all the same", async () => {
    const world = newWorld();
    const store = failing(world.memory, "settle", "before", {
      error: () => new StoreUnavailableError("refused", new Error("denied")),
    });

    await expect(world.call(() => Promise.reject(new PermanentError("sold out")), { store })).rejects.toThrow(
      "sold out",
    );
    expect(world.decisions()).toEqual(["store-failed", "completion-lost"]);
    expect(world.clock.now()).toBe(START);
  });

  it("H8: wins its own claim when the answer was lost", async () => {
    const world = newWorld();
    let runs = 0;

    const answer = await world.call(async ({ attempt }) => [++runs, attempt], {
      store: answerLost(world.memory, "claim"),
    });

    expect(answer).toEqual([1, 1]);
    expect(world.decisions()).toEqual(["executed"]);
  });

  it("H8: counts its own completion, final error and release as done when the answer was lost", async () => {
    for (const [work, state] of [
      [async () => "done", "completed"],
      [() => Promise.reject(new PermanentError("no")), "failed"],
      [() => Promise.reject(new Error("again")), "released"],
    ] as const) {
      const world = newWorld();

      await world.call(work, { store: answerLost(world.memory, "settle") }).catch(() => {});

      expect(world.record().state).toBe(state);
      expect(world.decisions()).toEqual([state === "released" ? "released" : "executed"]);
    }
  });

  it("H8: wins its own replacement of an expired record when the answer was lost", async () => {
    const world = newWorld({ retentionSeconds: 60 });
    await world.call(async () => "old");
    await world.clock.advance(60_000);

    expect(
      await world.call(async ({ attempt }) => attempt, { store: answerLost(world.memory, "claim") }),
    ).toBe(2);
  });

  it("H13: a throttled claim refuses by default, and runs nothing", async () => {
    const world = newWorld({ store: undefined });
    let runs = 0;
    const store = failing(world.memory, "claim", "before", { error: throttled });

    await expect(world.call(async () => ++runs, { store })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      failure: "throttled",
    });

    expect(runs).toBe(0);
    expect(world.decisions()).toEqual(["store-failed"]);
  });

  it("H13: a throttled claim runs once and tells it, if the options say so, and the result is still recorded", async () => {
    const world = newWorld({ whenStoreFails: "run" });
    let runs = 0;
    const store = failing(world.memory, "claim", "before", { error: throttled });

    expect(await world.call(async () => ++runs, { store })).toBe(1);

    expect(world.decisions()).toEqual(["store-failed", "ran-unprotected", "executed"]);
    expect(await world.call(async () => ++runs)).toBe(1);
  });

  it("H13: a claim that was made although its answer was lost does not stand in the way of the unprotected run", async () => {
    const world = newWorld({ whenStoreFails: "run" });
    const store = failing(world.memory, "claim", "after");

    expect(await world.call(async () => "done", { store })).toBe("done");
    expect(await world.call(async () => "never")).toBe("done");
  });

  it.each([
    ["its result cannot be loaded", "loadResult", {}],
    ["waiting for its winner fails", "find", { whenInProgress: { waitSeconds: 10 } }],
  ] as const)("H13: a record that was seen is never run over, although %s", async (_, method, options) => {
    const world = newWorld({ whenStoreFails: "run", ...options });
    if (method === "loadResult") await world.call(async () => "r".repeat(2000));
    else pausedWorker(world);
    await world.clock.advance(0);
    let runs = 0;

    const call = world.call(async () => ++runs, { store: failing(world.memory, method, "before") });

    await expect(call).rejects.toThrow(StoreUnavailableError);
    expect(runs).toBe(0);
    expect(world.decisions()).not.toContain("ran-unprotected");
  });

  it("gives up when the record changes under every claim", async () => {
    const world = newWorld();
    const store = intercepted(world.memory, async (method, request) =>
      method === "claim" ? { won: false, record: undefined } : request(),
    );

    await expect(world.call(async () => "never", { store })).rejects.toMatchObject({ failure: "conflict" });
  });

  it("claims again when the refusal shows a record that can be claimed by now", async () => {
    const world = newWorld();
    await world.call(() => Promise.reject(new Error("released"))).catch(() => {});
    let refusals = 0;
    const store = intercepted(world.memory, async (method, request) =>
      method === "claim" && refusals++ === 0 ? { won: false, record: world.record() } : request(),
    );

    expect(await world.call(async ({ attempt }) => attempt, { store })).toBe(2);
  });

  it("a held record answers that the outcome is unknown", async () => {
    const world = newWorld();
    pausedWorker(world);
    await world.clock.advance(0);
    world.memory.alter([...world.memory.records.keys()][0]!, { state: "held" });

    await expect(world.call(async () => "never")).rejects.toThrow(OutcomeUnknownError);
  });

  it("replays a final error with its name, message, code and status", async () => {
    const world = newWorld();
    const final = Object.assign(new PermanentError("sold out"), { name: "SoldOut", statusCode: 410 });
    const work = () => Promise.reject(final);

    await expect(world.call(work)).rejects.toBe(final);
    await expect(world.call(async () => "never")).rejects.toMatchObject({
      name: "SoldOut",
      message: "sold out",
      statusCode: 410,
      code: "PERMANENT",
    });
    expect(world.decisions()).toEqual(["executed", "replayed"]);
  });

  it("replays what isFinalError calls final, also from work that throws at once", async () => {
    const world = newWorld({ isFinalError: (error) => error instanceof TypeError });

    const work = () => {
      throw new TypeError("bad order");
    };
    await expect(world.call(work)).rejects.toThrow(TypeError);

    await expect(world.call(async () => "never")).rejects.toMatchObject({ name: "TypeError" });
  });

  it("H15: an operation whose result was too large to keep does not run again, and says so", async () => {
    const world = newWorld({}, { maxResultBytes: 5000 });
    let runs = 0;
    const work = async () => "x".repeat(++runs * 10_000);

    expect(await world.call(work)).toHaveLength(10_000);
    await expect(world.call(work)).rejects.toThrow(ResultNotKeptError);
    await expect(world.call(work)).rejects.toMatchObject({ bytes: 10_002, code: "RESULT_NOT_KEPT" });

    expect(runs).toBe(1);
  });

  it("H15: a result of 1 MB is kept and replayed where the store has room", async () => {
    const world = newWorld();
    const work = async () => "x".repeat(2 ** 20);

    expect(await world.call(work)).toBe(await world.call(work));
    expect(world.decisions()).toEqual(["executed", "replayed"]);
  });

  it("fails closed when the item that holds a result is gone", async () => {
    const world = newWorld();
    let runs = 0;
    await world.call(async () => "x".repeat(++runs * 2000));
    world.memory.alter([...world.memory.records.keys()][0]!, { result: { in: "item", address: "gone" } });

    await expect(world.call(async () => ++runs)).rejects.toThrow(RecordCorruptError);
    expect(runs).toBe(1);
  });

  it("H16: a result that cannot be stored is refused for every caller, and never made again", async () => {
    const world = newWorld();
    let runs = 0;
    const work = async () => ({ run: ++runs, at: new Date(0) });

    await expect(world.call(work)).rejects.toMatchObject({ name: "ResponseNotStorableError" });
    await expect(world.call(work)).rejects.toMatchObject({ name: "ResponseNotStorableError" });

    expect(runs).toBe(1);
  });

  it("H16: an error of the face that encodes the result does not make the work run again", async () => {
    const world = newWorld();
    const toStored = () => {
      throw new TypeError("no status");
    };
    let runs = 0;

    await expect(world.call(async () => ++runs, {}, { toStored })).rejects.toThrow("no status");
    await expect(world.call(async () => ++runs, {}, { toStored })).rejects.toThrow("no status");

    expect(runs).toBe(1);
  });

  it("stores and answers what the face makes of the value", async () => {
    const world = newWorld();
    const toStored = (value: unknown) => ({ body: value });

    expect(await world.call(async () => 1, {}, { toStored })).toEqual({ body: 1 });
    expect(await world.call(async () => 2, {}, { toStored })).toEqual({ body: 1 });
  });

  it("H23: a key that the caller did not send is told as unprotected", async () => {
    const world = newWorld();

    await world.call(async () => 1, {}, { keyIsFresh: true });

    expect(world.decisions()).toEqual(["ran-unprotected", "executed"]);
  });

  it("needs a lease where the remaining time is not known", async () => {
    const world = newWorld({ leaseSeconds: undefined });

    await expect(world.call(async () => 1)).rejects.toThrow("option `leaseSeconds` must be given");
    expect(await world.call(async () => 1, {}, { remainingMs: 1000 })).toBe(1);
  });

  it.each([
    [undefined, 10_000, 15_000],
    [5, 10_000, 15_000],
    [60, 10_000, 65_000],
  ])(
    "with leaseSeconds %s and %i ms left the lease ends after %i ms",
    async (leaseSeconds, remainingMs, ms) => {
      const world = newWorld({ leaseSeconds });

      world.start(() => new Promise(() => {}), {}, { remainingMs });
      await world.clock.advance(0);

      expect(world.record().leaseEndsAt).toBe(START + ms);
    },
  );

  it("an observer that throws or rejects changes nothing", async () => {
    for (const observe of [
      () => {
        throw new Error("broken");
      },
      async () => {
        throw new Error("broken");
      },
    ]) {
      expect(await newWorld({ observe }).call(async () => "done")).toBe("done");
    }
  });

  it("tells operation, key hash, attempt and duration, and never the key", async () => {
    const world = newWorld();

    await world.call(() => world.clock.sleep(250), {}, { key: "secret" });

    expect(world.events).toEqual([
      {
        decision: "executed",
        operation: "create-order",
        keyHash: expect.stringMatching(/^[\w-]{43}$/),
        attempt: 1,
        durationMs: 250,
        error: undefined,
      },
    ]);
    expect(JSON.stringify(world.events)).not.toContain("secret");
  });
});
