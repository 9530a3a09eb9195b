import { describe, expect, it } from "vitest";
import { ClaimLostError, OutcomeUnknownError, StoreUnavailableError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { identify } from "../../lib/core/identity.ts";
import {
  type Resolution,
  type ResolveOptions,
  resolveOutcome,
  resolveRecord,
} from "../../lib/core/resolve-outcome.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { answerLost, failing, intercepted, watched } from "../kit/faults/faulty-store.ts";
import { abandoned, evidenceOf, never } from "./abandoned-given.ts";
import { newWorld, START, type World } from "./world.ts";

const HAPPENED: Resolution = { outcome: "happened", result: "charged", by: "ana", why: "ch_1 is there" };
const DID_NOT_HAPPEN: Resolution = { outcome: "did-not-happen", by: "ana", why: "no charge for it" };

const resolve = (
  { memory, clock }: Pick<World, "memory" | "clock">,
  resolution: Resolution = HAPPENED,
  more: Partial<ResolveOptions<MemoryWrite>> = {},
) =>
  resolveOutcome(
    { operation: "create-order", store: memory, scope: "tenant-1", clock, ...more },
    "key-1",
    resolution,
  );

async function held() {
  const world = await abandoned("hold");
  await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
  return world;
}

describe("resolveOutcome", () => {
  it("H58: completes a held key with a result that every caller gets, and records who decided and why", async () => {
    const world = await held();

    expect(await resolve(world)).toEqual({ resolved: true });

    expect(await world.call(never)).toBe("charged");
    expect(world.record()).toMatchObject({ state: "completed", attempt: 3 });
    expect(world.record().expiresAt).toBe(START / 1000 + 36 + 31_622_400);
    expect(evidenceOf(world)).toEqual({
      verdict: "happened",
      by: "ana",
      at: START + 36_000,
      attempt: 2,
      answered: "ch_1 is there",
    });
  });

  it("H15: completes a key with a result that is too large: it is not kept, and nothing runs again", async () => {
    const store = new MemoryStore({ maxResultBytes: 100 });
    const options = { operation: "pay", store, leaseSeconds: 30, whenAbandoned: "hold" } as const;
    const unknown = () => Promise.reject(new OutcomeUnknownError());
    await expect(runOnce(options, "key-1", {}, unknown)).rejects.toThrow(OutcomeUnknownError);

    const large = { ...HAPPENED, result: "x".repeat(200) } as const;
    expect(await resolveOutcome({ operation: "pay", store }, "key-1", large)).toEqual({ resolved: true });

    await expect(runOnce(options, "key-1", {}, never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
  });

  it("H58: releases a held key, so a retry runs", async () => {
    const world = await held();

    expect(await resolve(world, DID_NOT_HAPPEN)).toEqual({ resolved: true });

    expect(world.record()).toMatchObject({ state: "released", expiresAt: expect.any(Number) });
    expect(await world.call(async ({ attempt }) => attempt)).toBe(4);
    expect(evidenceOf(world)).toMatchObject({ verdict: "did-not-happen", by: "ana" });
  });

  it("H58: fences an abandoned attempt that is alive after all", async () => {
    const world = await abandoned("hold");

    expect(await resolve(world, DID_NOT_HAPPEN)).toEqual({ resolved: true });
    world.worker.resume("late");

    await expect(world.worker.outcome).rejects.toThrow(ClaimLostError);
    expect(world.record()).toMatchObject({ state: "released", attempt: 2 });
  });

  it("H58: leaves a key unchanged whose attempt holds a live lease", async () => {
    const world = newWorld();
    world.start(() => new Promise(() => {}));
    await world.clock.advance(0);

    expect(await resolve(world, DID_NOT_HAPPEN)).toEqual({ resolved: false, state: "in-progress" });
  });

  it.each([
    ["absent", async () => {}],
    ["completed", (world: World) => world.call(never)],
    ["released", (world: World) => world.call(() => Promise.reject(new Error("again"))).catch(() => {})],
  ] as const)("leaves a key unchanged that is %s", async (state, before) => {
    const world = newWorld();
    await before(world);
    const records = JSON.stringify([...world.memory.records]);

    expect(await resolve(world)).toEqual({ resolved: false, state });
    expect(JSON.stringify([...world.memory.records])).toBe(records);
  });

  it("leaves an expired claim unchanged: the next call runs", async () => {
    const world = await abandoned("run", { retentionSeconds: 1 });
    await world.clock.advance(60_000);

    expect(await resolve(world)).toEqual({ resolved: false, state: "in-progress" });
  });

  it("of two simultaneous calls one decides, and the other one is informed", async () => {
    const world = await held();

    const answers = await Promise.all([resolve(world), resolve(world, DID_NOT_HAPPEN)]);

    expect(answers).toEqual([{ resolved: true }, { resolved: false, state: "in-progress" }]);
    expect(await world.call(never)).toBe("charged");
  });

  it("reports that another call took over between its two writes", async () => {
    const world = await held();
    const store = intercepted(world.memory, (method, request) => {
      const recordKey = [...world.memory.records.keys()][0] as string;
      if (method === "settle") world.memory.alter(recordKey, { token: "other", state: "completed" });
      return request();
    });

    expect(await resolve(world, HAPPENED, { store })).toEqual({ resolved: false, state: "completed" });
  });

  it.each(["claim", "settle"] as const)(
    "an answer to its %s that was lost changes nothing",
    async (method) => {
      const world = await held();

      expect(await resolve(world, HAPPENED, { store: answerLost(world.memory, method) })).toEqual({
        resolved: true,
      });
    },
  );

  it("a store that fails in between leaves a claim that is held again", async () => {
    const world = await held();
    const store = failing(world.memory, "settle", "before");

    await expect(world.clock.run(resolve(world, HAPPENED, { store }))).rejects.toThrow(StoreUnavailableError);
    expect(world.record()).toMatchObject({ state: "in-progress" });
    expect(world.record()).not.toHaveProperty("expiresAt");
    await world.clock.advance(36_000);

    expect(await resolve(world)).toEqual({ resolved: true });
  });

  it.each(["find", "claim", "settle"] as const)(
    "H6: repeats a %s that fails for a moment",
    async (method) => {
      for (const when of ["before", "after"] as const) {
        const world = await held();
        const store = failing(world.memory, method, when, { times: 3 });

        expect(await world.clock.run(resolve(world, HAPPENED, { store }))).toEqual({ resolved: true });
      }
    },
  );

  it("H6: repeats the write of a step that fails for a moment, and leaves the key if another call is first", async () => {
    const unclear = async () => {
      const world = newWorld();
      const work: Parameters<World["call"]>[0] = ({ step }) =>
        step("charge", () => Promise.reject(new Error("no answer")), { atMostOnce: true });
      await expect(world.call(work)).rejects.toThrow("no answer");
      return world;
    };
    const [world, lost] = [await unclear(), await unclear()];
    const step = "charge";

    const store = failing(world.memory, "writeStep", "after", { times: 3 });
    const first = await world.clock.run(resolve(world, { ...HAPPENED, step }, { store }));
    const settled: string[] = [];
    const losing = intercepted(lost.memory, async (method, request) => {
      if (method === "writeStep") return { settled: false, record: lost.record() };
      if (method === "settle") settled.push(method);
      return request();
    });
    const second = await lost.clock.run(resolve(lost, { ...HAPPENED, step }, { store: losing }));

    expect(first).toEqual({ resolved: true });
    expect(world.record().steps).toMatchObject({ charge: { state: "done" } });
    expect([second.resolved, settled]).toEqual([false, []]);
  });

  it("gives up after two seconds, with pauses that grow, and throws the last failure", async () => {
    const world = await held();
    const tries: number[] = [];
    const store = intercepted(world.memory, async (method, request) => {
      if (method !== "settle") return request();
      tries.push(world.clock.now());
      throw new StoreUnavailableError("throttled", new Error(`try ${tries.length}`));
    });

    const failure = await world.clock.run(resolve(world, HAPPENED, { store })).catch((error: Error) => error);

    expect(failure).toMatchObject({ cause: { message: `try ${tries.length}` } });
    const pauses = tries.slice(1).map((at, index) => at - (tries[index] as number));
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(25 * 2 ** index);
      expect(pause).toBeLessThanOrEqual(50 * 2 ** index);
    }
    expect(tries).toHaveLength(6);
  });

  it("does not repeat what the store refuses", async () => {
    const world = await held();
    const error = () => new StoreUnavailableError("refused", new Error("no rights"));
    const store = failing(world.memory, "settle", "before", { times: 1, error });

    await expect(resolve(world, HAPPENED, { store })).rejects.toThrow("refused");
  });

  it.each([
    [{ outcome: "happened?" }, '`outcome` must be "happened" or "did-not-happen"'],
    [{ outcome: "unhappened" }, '`outcome` must be "happened" or "did-not-happen"'],
    [{ outcome: "unknown" }, '`outcome` must be "happened" or "did-not-happen"'],
    [{ by: "" }, "`by` must be"],
    [{ why: undefined }, "`why` must be"],
    [{ result: Number.NaN }, "can't store the result"],
    [{ reason: "x" }, "`reason` isn't an option"],
  ])("refuses %j before any request", async (change, text) => {
    const world = await held();
    const resolution = { ...HAPPENED, ...change } as Resolution;

    await expect(resolve(world, resolution)).rejects.toThrow(text);
    expect(world.record().state).toBe("held");
  });

  it("accepts any JSON as the result of a step, also of an HTTP operation", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    const unsure = () => Promise.reject(new OutcomeUnknownError());
    const work = ({ step }: Execution<MemoryWrite>) => step("charge", unsure, { atMostOnce: true });
    await expect(world.call(work, {}, { isHttp: true })).rejects.toThrow(OutcomeUnknownError);

    const answer = await resolve(world, { ...HAPPENED, step: "charge", result: { charge: "ch_1" } });

    expect(answer).toEqual({ resolved: true });
  });

  it.each([
    [{ operation: undefined }, HAPPENED, "`operation` must be"],
    [{ store: undefined }, HAPPENED, "`store` must be"],
    [{}, { ...HAPPENED, step: "charge", evenThoughAnswered: true }, "`step` can't be combined with"],
  ])("refuses %j before any request", async (options, resolution, message) => {
    const world = await held();

    await expect(resolve(world, resolution, options as object)).rejects.toThrow(message);
    await expect(resolveRecord({} as never, "create-order##key", HAPPENED)).rejects.toThrow(
      "`store` must be",
    );
  });

  describe("a correction", () => {
    it("H90: is one write that keeps the key for the retention", async () => {
      const world = await held();
      await resolve(world);
      const { store, requests } = watched(world.memory);
      await world.clock.advance(1500);

      await resolve(
        world,
        { ...HAPPENED, result: "other", evenThoughAnswered: true },
        { store, retentionSeconds: 60 },
      );

      const now = world.clock.now();
      const [insertion, ...others] = requests.filter(([method]) => method !== "find");
      expect(others).toEqual([]);
      expect(insertion).toMatchObject([
        "insert",
        {
          ...{ state: "completed", keepsSteps: false, now, expiresAt: Math.ceil(now / 1000) + 60 },
          ...{ writes: [], messages: [], result: '"other"' },
        },
        {},
      ]);
    });

    it("H8: is tried again after a failure", async () => {
      const world = await held();
      await resolve(world);
      const store = failing(world.memory, "insert", "before", { times: 1 });
      const corrected = resolve(world, { ...HAPPENED, result: "other", evenThoughAnswered: true }, { store });

      expect(await world.clock.run(corrected)).toEqual({ resolved: true });
      expect(await world.call(never)).toBe("other");
    });
  });

  it("reads the system's clock and randomness by default, and the empty scope", async () => {
    const { memory } = newWorld();
    const claim = {
      token: "t",
      fingerprint: "f",
      attempt: 1,
      createdAt: 1,
      keepsSteps: false,
      leaseEndsAt: 1,
    };
    const { recordKey } = identify("pay", "", "key-1");
    await memory.claim({ ...claim, recordKey });

    expect(await resolveOutcome({ operation: "pay", store: memory }, "key-1", HAPPENED)).toEqual({
      resolved: true,
    });
  });
});
