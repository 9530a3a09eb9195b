// Sagas: all steps, or none that is not undone.
import { describe, expect, it } from "vitest";
import { ResultNotKeptError, SagaCompensatedError } from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { resolveOutcome } from "../../lib/core/resolve-outcome.ts";
import type { Verification } from "../../lib/core/verify.ts";
import type { CompensationContext, SagaStep } from "../../lib/saga/definition.ts";
import { saga } from "../../lib/saga/saga.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { never } from "../core/abandoned-given.ts";
import { newWorld, type World } from "../core/world.ts";
import { intercepted, throttled, unreachable } from "../kit/faults/faulty-store.ts";

type Input = { readonly id: string };
type Steps = readonly SagaStep<Input, MemoryWrite>[];
type Run = Execution<MemoryWrite>;

const input: Input = { id: "order-1" };
const failure = new TypeError("refused: card canary-5f2e");

/** Steps that write down what is done; `broken` names those that fail. */
function shop(broken: Set<string> = new Set()) {
  const log: string[] = [];
  const act = (name: string) => {
    if (broken.has(name)) throw failure;
    log.push(name);
  };
  const step = (name: string, more: Partial<SagaStep<Input, MemoryWrite>> = {}) => ({
    name,
    run: () => {
      act(name);
      return `${name}-result`;
    },
    compensate: ({ result }: { result: unknown }) => act(`undo ${name} ${result}`),
    ...more,
  });
  const { compensate: _, ...mail } = step("mail");
  return { log, broken, step, steps: [step("order"), step("stock"), step("charge"), mail] as Steps };
}

/** A call of a handler that is nothing but the saga. */
const callOf = (world: World, steps: Steps, options = {}) =>
  world.call((execution) => saga("place", steps).run(execution as Run, input), options);

async function listed({ memory, clock }: World) {
  const outcomes: unknown[] = [];
  for await (const outcome of memory.unknownOutcomes({ before: clock.now() })) outcomes.push(outcome);
  return outcomes;
}

describe("a saga", () => {
  it("does its steps in order, each by one request, and gives their results by name", async () => {
    const world = newWorld();
    const { log, steps } = shop();
    const methods: string[] = [];
    const store = intercepted(world.memory, (method, request) => {
      methods.push(method);
      return request();
    });

    expect(await callOf(world, steps, { store })).toEqual({
      order: "order-result",
      stock: "stock-result",
      charge: "charge-result",
      mail: "mail-result",
    });

    expect(log).toEqual(["order", "stock", "charge", "mail"]);
    expect(methods).toEqual(["claim", "writeStep", "writeStep", "writeStep", "writeStep", "settle"]);
    expect(world.record()).toMatchObject({ state: "completed" });
  });

  it("gives each step the input, the results before it, and a separate child key", async () => {
    const world = newWorld();
    const seen: unknown[] = [];
    const step = (name: string): SagaStep<Input, MemoryWrite> => ({
      name,
      run: ({ input: given, results, attempt, signal, childKey }) => {
        seen.push([given.id, Object.keys(results), attempt, signal.aborted, childKey().length]);
        return null;
      },
    });

    await callOf(world, [step("a"), step("b")]);

    expect(seen).toEqual([
      ["order-1", [], 1, false, 43],
      ["order-1", ["a"], 1, false, 43],
    ]);
  });

  it("H53: undoes its steps, the last first, including the failed one, and reports it to every caller", async () => {
    const world = newWorld();
    const { log, steps } = shop(new Set(["charge"]));

    const first = await callOf(world, steps).catch((error: unknown) => error);

    expect(first).toBeInstanceOf(SagaCompensatedError);
    expect(first).toMatchObject({ step: "charge", statusCode: 409, cause: failure });
    expect((first as Error).message).toBe(
      "place failed at step charge; the steps before it have been compensated",
    );
    expect(log).toEqual([
      "order",
      "stock",
      "undo charge undefined",
      "undo stock stock-result",
      "undo order order-result",
    ]);
    expect(world.record()).toMatchObject({ state: "failed" });
    expect(JSON.stringify(world.record())).not.toContain("canary");
    await expect(callOf(world, steps)).rejects.toMatchObject({
      name: "SagaCompensatedError",
      code: "PERMANENT",
      statusCode: 409,
    });
    expect(log).toHaveLength(5);
  });

  it("undoes no step whose effect is ruled out", async () => {
    for (const more of [
      { didNotHappen: () => true, atMostOnce: true },
      {
        run: ({ commit }: { commit: Run["commit"] }) =>
          commit(1, { writes: [{ table: "t", key: "k", item: {}, condition: () => false }] }),
      },
    ]) {
      const world = newWorld();
      const { log, step, steps } = shop(new Set(["charge"]));

      const call = callOf(world, [...steps.slice(0, 2), step("charge", more as never)]);

      await expect(call).rejects.toMatchObject({ name: "SagaCompensatedError", step: "charge" });
      expect(log).toEqual(["order", "stock", "undo stock stock-result", "undo order order-result"]);
    }
  });

  it("gives a compensation the child key that its step has passed on, and a separate one", async () => {
    const world = newWorld();
    const keys: string[] = [];
    const { step } = shop();
    const steps: Steps = [
      step("charge", {
        run: ({ childKey }) => void keys.push(childKey()),
        compensate: ({ stepKey, childKey, results, input: { id } }) =>
          void keys.push(stepKey(), childKey(), `${id} ${Object.keys(results)}`),
      }),
      step("mail", { run: () => Promise.reject(failure) }),
    ];

    await expect(callOf(world, steps)).rejects.toMatchObject({ step: "mail" });

    const [passed, again, own, rest] = keys;
    expect(again).toBe(passed);
    expect(own).not.toBe(passed);
    expect(rest).toBe("order-1 charge,mail");
  });

  it("H53: goes on after a failed compensation from there, a minute later, and is listed until then", async () => {
    const world = newWorld();
    const { log, broken, steps } = shop(new Set(["charge", "undo stock stock-result"]));

    await expect(callOf(world, steps)).rejects.toMatchObject({
      code: "SAGA_PENDING",
      pending: ["stock/compensate", "order/compensate"],
      message: "place stopped at stock/compensate; still to do: stock/compensate, order/compensate",
      cause: failure,
    });
    expect(world.record().state).toBe("held");
    await expect(callOf(world, steps)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await world.clock.advance(1);
    expect(await listed(world)).toMatchObject([{ state: "held", steps: ["place/stock/compensate"] }]);

    broken.clear();
    await world.clock.advance(60_000);
    await expect(callOf(world, steps)).rejects.toMatchObject({
      name: "SagaCompensatedError",
      step: "charge",
    });

    expect(log).toEqual([
      "order",
      "stock",
      "undo charge undefined",
      "undo stock stock-result",
      "undo order order-result",
    ]);
    expect(await listed(world)).toEqual([]);
  });

  it("only goes forward after the pivot: it stops, and continues a minute later", async () => {
    const world = newWorld();
    const { log, broken, step, steps } = shop(new Set(["mail"]));
    const withPivot = [...steps.slice(0, 2), step("charge", { pivot: true }), steps[3]] as Steps;

    await expect(callOf(world, withPivot)).rejects.toMatchObject({ code: "SAGA_PENDING", pending: ["mail"] });
    await world.clock.advance(60_000);
    await expect(callOf(world, withPivot)).rejects.toMatchObject({ code: "SAGA_PENDING", pending: ["mail"] });
    broken.clear();
    await world.clock.advance(60_000);

    expect(await callOf(world, withPivot)).toMatchObject({ mail: "mail-result" });
    expect(log).toEqual(["order", "stock", "charge", "mail"]);
  });

  it("turns back if the pivot itself fails", async () => {
    const world = newWorld();
    const { log, step } = shop(new Set(["charge"]));

    await expect(callOf(world, [step("order"), step("charge", { pivot: true })])).rejects.toMatchObject({
      step: "charge",
    });

    expect(log).toEqual(["order", "undo charge undefined", "undo order order-result"]);
  });

  it("stays at its step after an error that asks for a retry, and is listed as unfinished", async () => {
    const world = newWorld();
    const { log, broken, step } = shop(new Set(["stock"]));
    const steps = [step("order"), step("stock", { retryLater: () => true })];

    await expect(callOf(world, steps)).rejects.toBe(failure);
    await world.clock.advance(600_000);
    expect(world.record()).toMatchObject({ state: "released" });
    const { name } = failure;
    expect(await listed(world)).toMatchObject([
      { state: "unfinished", attempt: 1, evidence: { by: "handler", attempt: 1, lastError: { name } } },
    ]);
    expect(world.record().evidence).not.toContain(failure.message);
    broken.clear();

    expect(await callOf(world, steps)).toEqual({ order: "order-result", stock: "stock-result" });
    expect(log).toEqual(["order", "stock"]);
    expect(await listed(world)).toEqual([]);
  });

  it("H42: undoes an interrupted step at most once if it's unknown whether the step happened", async () => {
    const world = newWorld();
    const { log, step } = shop();
    const hangs = { atMostOnce: true, run: () => new Promise(() => {}) };
    void world.start((execution) =>
      saga("place", [step("order"), step("charge", hangs)]).run(execution as Run, input),
    );
    await world.clock.advance(36_000);

    const call = callOf(world, [step("order"), step("charge", { atMostOnce: true, run: never })]);

    await expect(call).rejects.toMatchObject({ name: "SagaCompensatedError", step: "charge" });
    expect(log).toEqual(["order", "undo charge undefined", "undo order order-result"]);
  });

  it("H81: R3: turns back by itself after the store is throttled right after the turn", async () => {
    const world = newWorld();
    const { log, step } = shop(new Set(["charge"]));
    const steps = [step("order"), step("charge", { atMostOnce: true })];
    let hasTurned = false;
    const store = intercepted(world.memory, (method, request, [change]) => {
      const { name } = change as { name?: string };
      if (hasTurned && method === "writeStep") return Promise.reject(throttled());
      hasTurned ||= name === "place//turned-back";
      return request();
    });
    await expect(callOf(world, steps, { store })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(world.record().state).toBe("held");
    await world.clock.advance(61_000);

    await expect(callOf(world, steps)).rejects.toMatchObject({ name: "SagaCompensatedError" });
    expect(log).toEqual(["order", "undo charge undefined", "undo order order-result"]);
    expect(await listed(world)).toEqual([]);
  });

  it("H81: R3: turns back by itself after one retry that reached an older deployment", async () => {
    for (const names of [undefined, ["place/order", "place//turned-back"]]) {
      const world = newWorld();
      const { log, step } = shop();
      const hangs = { atMostOnce: true, run: () => new Promise(() => {}) };
      const place = [step("order"), step("charge", hangs)];
      void world.start((execution) => saga("place", place).run(execution as Run, input));
      await world.clock.advance(36_000);
      const old = callOf(world, [step("order")], names && { steps: names });
      await expect(old).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
      const { evidence } = world.record();
      expect(JSON.parse(`${evidence}`)).toMatchObject({ verdict: "unknown", by: "step" });
      await world.clock.advance(61_000);

      await expect(callOf(world, place)).rejects.toMatchObject({ step: "charge" });
      expect(log).toEqual(["order", "undo charge undefined", "undo order order-result"]);
    }
  });

  it("H81: R3: stays at a step whose `verify` doesn't know yet while `retryLater` asks to wait, and continues from its answer", async () => {
    const world = newWorld();
    const { log, step } = shop();
    let verdict: Verification = { outcome: "unknown" };
    const charge = (run: () => unknown) =>
      step("charge", {
        atMostOnce: true,
        retryLater: () => true,
        verify: () => verdict,
        run: run as () => string,
      });
    const hangs = [step("order"), charge(() => new Promise(() => {}))];
    void world.start((execution) => saga("place", hangs).run(execution as Run, input));
    await world.clock.advance(36_000);
    const steps = [step("order"), charge(() => log.push("charge"))];
    await expect(callOf(world, steps)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await world.clock.advance(61_000);
    verdict = { outcome: "did-not-happen" };

    await callOf(world, steps);

    expect(log).toEqual(["order", "charge"]);
  });

  it("H81: R3: turns back by itself after an error that asked for a retry of a step at most once", async () => {
    const world = newWorld();
    const { log, step } = shop(new Set(["charge"]));
    const charge = step("charge", { atMostOnce: true, retryLater: () => true });
    const steps = [step("order"), charge];
    await expect(callOf(world, steps)).rejects.toBe(failure);
    await expect(callOf(world, steps)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await world.clock.advance(61_000);

    await expect(callOf(world, steps)).rejects.toMatchObject({ name: "SagaCompensatedError" });
    expect(log).toEqual(["order", "undo charge undefined", "undo order order-result"]);
  });

  it("H42: is held if such a step can't be undone", async () => {
    const world = newWorld();
    const { step } = shop();
    const { compensate: _, ...charge } = step("charge", {
      atMostOnce: true,
      run: () => new Promise(() => {}),
    });
    void world.start((execution) => saga("place", [charge]).run(execution as Run, input));
    await world.clock.advance(36_000);

    await expect(callOf(world, [charge])).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });

    expect(world.record().state).toBe("held");
  });

  it("H42: continues with the result that its verify found", async () => {
    const world = newWorld();
    const { log, step } = shop();
    const verify = (): Verification => ({ outcome: "happened", result: "ch_1" });
    const hangs = { atMostOnce: true, verify, run: () => new Promise(() => {}) };
    const steps = [step("order"), step("charge", hangs), step("mail")];
    void world.start((execution) => saga("place", steps).run(execution as Run, input));
    await world.clock.advance(36_000);

    expect(await callOf(world, steps)).toMatchObject({ charge: "ch_1", mail: "mail-result" });
    expect(log).toEqual(["order", "mail"]);
  });

  it("keeps the result that its verify found on record, if a later step fails", async () => {
    const world = newWorld();
    const { step } = shop(new Set(["mail"]));
    const verify = (): Verification => ({ outcome: "happened", result: "ch_1" });
    const hangs = { atMostOnce: true, verify, run: () => new Promise(() => {}) };
    const steps = [step("charge", hangs), step("mail", { retryLater: () => true })];
    void world.start((execution) => saga("place", steps).run(execution as Run, input));
    await world.clock.advance(36_000);

    await expect(callOf(world, steps)).rejects.toBe(failure);

    expect(world.record()).toMatchObject({ state: "released" });
    expect(world.record().evidence).toContain('"verdict":"happened","by":"verify"');
  });

  describe("with a result that is not kept", () => {
    const notKept = { code: "RESULT_NOT_KEPT" };
    const large = "x".repeat(5000);
    const small = { maxResultBytes: 2000 };
    /** Reads the result that is not kept. */
    const reads = ({ results }: { results: Readonly<Record<string, unknown>> }) => results.load;

    /** A step whose result is too large, and others; `more` changes its compensation. */
    function loading(more: Partial<SagaStep<Input, MemoryWrite>> = {}) {
      const { log, step, broken } = shop();
      const load = step("load", {
        run: () => {
          log.push("load");
          return large;
        },
        compensate: () => log.push("undo load"),
        ...more,
      });
      return { log, step, broken, load };
    }
    const sagaOf =
      (steps: Steps, after = (results: Readonly<Record<string, unknown>>): unknown => Object.keys(results)) =>
      async (execution: unknown) =>
        after(await saga("place", steps).run(execution as Run, input));

    it("continues if no step needs it, in the first attempt and in the next", async () => {
      const world = newWorld({}, small);
      const { log, step, broken, load } = loading();
      broken.add("charge");
      const work = sagaOf([step("order"), load, step("charge", { retryLater: () => true })]);
      await expect(world.call(work)).rejects.toBe(failure);
      broken.clear();

      expect(await world.call(work)).toEqual(["order", "load", "charge"]);
      expect(log).toEqual(["order", "load", "charge"]);
    });

    it("turns back if a step reads it", async () => {
      const world = newWorld({}, small);
      const { log, step, load } = loading();
      const steps = [step("order"), load, step("charge", { run: reads })];

      await expect(world.call(sagaOf(steps))).rejects.toMatchObject({
        name: "SagaCompensatedError",
        step: "charge",
        cause: notKept,
      });
      expect(log).toEqual(["order", "load", "undo charge undefined", "undo load", "undo order order-result"]);
    });

    it("stops if a step after the pivot reads it, and continues with one that does not", async () => {
      const world = newWorld({}, small);
      const { log, step, load } = loading({ pivot: true });
      const { compensate: _, ...mail } = step("mail");

      await expect(world.call(sagaOf([load, { ...mail, run: reads }]))).rejects.toMatchObject({
        code: "SAGA_PENDING",
        pending: ["mail"],
        cause: notKept,
      });
      await world.clock.advance(60_000);

      expect(await world.call(sagaOf([load, mail]))).toEqual(["load", "mail"]);
      expect(log).toEqual(["load", "mail"]);
    });

    it("stops if a compensation reads it, and is undone by one that uses the child key", async () => {
      const world = newWorld({}, small);
      const { log, step, load } = loading({
        compensate: ({ result }) => log.push(`undo ${result}`),
      });
      const charge = step("charge", { run: () => Promise.reject(failure) });

      await expect(world.call(sagaOf([load, charge]))).rejects.toMatchObject({
        code: "SAGA_PENDING",
        pending: ["load/compensate"],
        cause: notKept,
      });
      await world.clock.advance(60_000);
      const byKey: typeof load = {
        ...load,
        compensate: ({ stepKey }: CompensationContext<Input, MemoryWrite>) =>
          log.push(`undo ${stepKey().length}`),
      };
      await expect(world.call(sagaOf([byKey, charge]))).rejects.toMatchObject({ step: "charge" });

      expect(log).toEqual(["load", "undo charge undefined", "undo 43"]);
    });

    it("by itself reports to each caller that it is done, and that its results can't be kept", async () => {
      const world = newWorld({}, small);
      const { log, step, load } = loading();
      const options = { store: world.memory, leaseSeconds: 30, renewLease: false, clock: world.clock };
      const place = saga("place", [load, step("mail")]);

      for (const _ of [1, 2])
        await expect(place.start(options, "order-1", input)).rejects.toMatchObject({
          code: "RESPONSE_NOT_STORABLE",
        });

      expect(log).toEqual(["load", "mail"]);
      expect(world.record()).toMatchObject({ state: "failed" });
    });

    it("turns back if a step reads it after its own commit, which is undone", async () => {
      const world = newWorld({}, small);
      const { log, step, load } = loading();
      const run: typeof load.run = async ({ commit, results }) => {
        await commit("ch_1", { writes: [] });
        return results.load;
      };

      await expect(world.call(sagaOf([load, step("charge", { run })]))).rejects.toMatchObject({
        step: "charge",
        cause: notKept,
      });
      expect(log).toEqual(["load", "undo charge ch_1", "undo load"]);
    });

    it("continues if one of the step's commits has it", async () => {
      const world = newWorld({}, small);
      const { log, step, load } = loading({ run: ({ commit }) => commit(large, { writes: [] }) });

      expect(await world.call(sagaOf([load, step("charge")]))).toEqual(["load", "charge"]);
      expect(log).toEqual(["charge"]);
    });

    it("of another operation within a step fails that step", async () => {
      const world = newWorld();
      const { log, step } = shop();
      const run = () => Promise.reject(new ResultNotKeptError(5000));

      await expect(world.call(sagaOf([step("order"), step("inner", { run })]))).rejects.toMatchObject({
        name: "SagaCompensatedError",
        step: "inner",
      });
      expect(log).toEqual(["order", "undo inner undefined", "undo order order-result"]);
    });
  });

  it("undoes a step whose result can't be stored, whatever its error says", async () => {
    const world = newWorld();
    const { log, step } = shop();
    const charge = step("charge", {
      run: () => ({ cents: 10n }),
      didNotHappen: (error) => (error as Error).name !== "TimeoutError",
    });

    await expect(callOf(world, [charge])).rejects.toMatchObject({ step: "charge" });

    expect(log).toEqual(["undo charge undefined"]);
  });

  it("undoes a step that has committed, whatever the error after it says", async () => {
    const world = newWorld();
    const { log, step } = shop();
    const charge = step("charge", {
      run: async ({ commit }) => {
        await commit("ch_1", { writes: [] });
        throw failure;
      },
      didNotHappen: () => true,
    });

    await expect(callOf(world, [charge])).rejects.toMatchObject({ step: "charge" });

    expect(log).toEqual(["undo charge ch_1"]);
  });

  it("ends its attempt, and not itself, when the time is over", async () => {
    const world = newWorld();
    const { log, step } = shop();
    const slow: SagaStep<Input, MemoryWrite> = step("stock", {
      run: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    });
    const first = world.start((execution) =>
      saga("place", [step("order"), slow]).run(execution as Run, input),
    );
    await world.clock.advance(29_900);
    await expect(first).rejects.toThrow("deadline");
    await world.clock.advance(6000);

    expect(await callOf(world, [step("order"), step("stock")])).toMatchObject({ stock: "stock-result" });
    expect(log).toEqual(["order", "stock"]);
  });

  it("by itself is once per key, under its own name", async () => {
    const world = newWorld();
    const { log, steps } = shop();
    const options = { store: world.memory, leaseSeconds: 30, renewLease: false, clock: world.clock };
    const place = saga("place", steps);

    const [one, two] = await world.clock.run(
      Promise.all([
        place.start(options, "order-1", input),
        place.start({ ...options, whenInProgress: { waitSeconds: 5 } }, "order-1", input),
      ]),
    );

    expect(two).toEqual(one);
    expect(await place.start(options, "order-1", input)).toEqual(one);
    expect(log).toEqual(["order", "stock", "charge", "mail"]);
    expect([...world.memory.records.keys()][0]).toMatch(/^place#/);
  });

  it("works next to other steps of its handler, and another saga", async () => {
    const world = newWorld();
    const [one, two] = [shop(), shop()];
    const sagas = [saga("one", one.steps), saga("two", two.steps)] as const;
    const steps = ["mail", ...sagas[0].steps, ...sagas[1].steps];

    await world.call(
      async (execution) => {
        await execution.step("mail", () => 1);
        for (const each of sagas) await each.run(execution as Run, input);
      },
      { steps },
    );

    expect([one.log, two.log].flat()).toHaveLength(8);
  });

  it("H46: finds a step under its previous name", async () => {
    const world = newWorld();
    const { log, broken, step } = shop(new Set(["stock"]));
    const retry = { retryLater: () => true };
    await expect(callOf(world, [step("order"), step("stock", retry)])).rejects.toBe(failure);

    const renamed = [step("create", { formerly: ["order"] }), step("stock")];
    await expect(callOf(world, renamed)).rejects.toMatchObject({ step: "stock" });

    expect(broken).toEqual(new Set(["stock"]));
    expect(log).toEqual(["order", "undo stock undefined", "undo create order-result"]);
  });

  /** A saga of these steps that dies in its last one, whose effect happens. */
  async function died(names: readonly string[]) {
    const world = newWorld();
    const its = shop();
    const last = names.at(-1) as string;
    const killed = its.step(last, {
      run: ({ childKey }) => {
        its.log.push(`${last} under ${childKey()}`);
        return new Promise(() => {});
      },
    });
    const steps = [...names.slice(0, -1).map((name) => its.step(name)), killed];
    void world.start((execution) => saga("place", steps as Steps).run(execution as Run, input));
    await world.clock.advance(36_000);
    return { world, ...its };
  }

  it("H46: undoes another deployment's work when it died, although a new step comes first and fails", async () => {
    const { world, log, broken, step } = await died(["order", "charge"]);
    broken.add("check");

    const withCheck = [step("order"), step("check"), step("charge")];
    await expect(callOf(world, withCheck)).rejects.toMatchObject({ code: "PERMANENT", step: "check" });

    expect(log.slice(2)).toEqual([
      "undo charge undefined",
      "undo check undefined",
      "undo order order-result",
    ]);
  });

  it.each([
    ["the previous deployment", ["order", "charge"], ["order", "mail"]],
    ["the next deployment", ["order", "check"], ["order", "charge"]],
  ])("H46: rejects the unknown step that %s was running when it died", async (_, its, ours) => {
    const { world, log, step } = await died(its);

    const call = callOf(
      world,
      ours.map((name) => step(name)),
    );

    await expect(call).rejects.toMatchObject({
      code: "RECORD_CORRUPT",
      message: expect.stringContaining(`left the step place/${its[1]}, which this one doesn't have`),
    });
    expect(log).toHaveLength(2);
  });

  /** A saga that has turned back at its last step, whose compensation does not work yet. */
  async function turnedBack(names: readonly string[]) {
    const last = names.at(-1) as string;
    const its = shop(new Set([last, `undo ${last} undefined`]));
    const world = newWorld();
    const keys: string[] = [];
    const step = (name: string, more: Partial<SagaStep<Input, MemoryWrite>> = {}) => {
      const { compensate, ...rest } = its.step(name, more);
      const undo: typeof compensate = (about: CompensationContext<Input, MemoryWrite>) => {
        if (its.broken.has(`undo ${name} ${about.result}`)) throw failure;
        keys.push(about.stepKey(), about.childKey());
        return compensate(about);
      };
      return { ...rest, compensate: undo };
    };
    const steps = names.map((name) => step(name));
    await expect(callOf(world, steps)).rejects.toMatchObject({ code: "SAGA_PENDING" });
    its.log.length = 0;
    its.broken.clear();
    await world.clock.advance(61_000);
    return { world, keys, ...its, step };
  }

  it.each([
    ["with a new step in front", ["new", "order", "charge"]],
    ["in another order", ["mail", "charge", "order"]],
  ])("H46: undoes what another deployment was undoing, %s", async (_, names) => {
    const { world, log, step } = await turnedBack(["order", "charge"]);

    const call = callOf(
      world,
      names.map((name) => step(name)),
    );

    await expect(call).rejects.toMatchObject({ code: "PERMANENT", step: "charge" });
    expect(log).toEqual(["undo charge undefined", "undo order order-result"]);
  });

  it("H46: refuses to undo a step of which it knows nothing", async () => {
    const { world, log, step } = await turnedBack(["charge"]);

    await expect(callOf(world, [step("mail")])).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    expect(log).toEqual([]);
  });

  it("H46: keeps the child keys of a step and of its compensation under a new name", async () => {
    const { world, keys, step } = await turnedBack(["order", "charge"]);
    const same = newWorld();
    const expected = await same.call(({ childKey }) =>
      ["charge", "charge/compensate", "order", "order/compensate"].map((name) => childKey(`place/${name}`)),
    );

    const renamed = [step("create", { formerly: ["order"] }), step("pay", { formerly: ["charge", "bill"] })];
    await expect(callOf(world, renamed)).rejects.toMatchObject({ code: "PERMANENT" });

    expect(keys).toEqual(expected);
  });

  it("H46: undoes nothing twice that another deployment has undone under a previous name", async () => {
    const world = newWorld();
    const { log, broken, step } = shop(new Set(["charge", "undo order order-result"]));
    await expect(callOf(world, [step("order"), step("stock"), step("charge")])).rejects.toMatchObject({
      code: "SAGA_PENDING",
    });
    broken.clear();
    await world.clock.advance(61_000);

    const renamed = [step("order"), step("reserve", { formerly: ["stock"] }), step("charge")];
    await expect(callOf(world, renamed)).rejects.toMatchObject({ code: "PERMANENT" });

    expect(log).toEqual([
      "order",
      "stock",
      "undo charge undefined",
      "undo stock stock-result",
      "undo order order-result",
    ]);
  });

  it("H46: only goes forward once its pivot is done, although a new step stands in front of that", async () => {
    const world = newWorld();
    const { log, broken, step } = shop(new Set(["mail"]));
    const { compensate: _, ...mail } = step("mail");
    const pivot = step("charge", { pivot: true });
    await expect(callOf(world, [pivot, mail])).rejects.toMatchObject({ code: "SAGA_PENDING" });
    await world.clock.advance(61_000);
    broken.add("check");

    const call = callOf(world, [step("check"), pivot, mail]);

    await expect(call).rejects.toThrow("place stopped at check");
    expect(log).toEqual(["charge"]);
  });

  it.each([
    ["drops its compensation", "stock"],
    ["moves it behind the pivot", "stock"],
  ])("H79: R6: stops if a deployment %s, and undoes nothing silently", async (how, name) => {
    const world = newWorld();
    const { log, broken, step } = shop(new Set(["charge"]));
    const retry = step("charge", { retryLater: () => true });
    await expect(callOf(world, [step("order"), step(name), retry])).rejects.toBe(failure);
    const { compensate: _, ...bare } = step(name);
    const isMoved = how.startsWith("moves");
    const charge = step("charge", { pivot: isMoved });

    const changed = isMoved ? [step("order"), charge, bare] : [step("order"), bare, charge];
    await expect(callOf(world, changed)).rejects.toMatchObject({
      code: "RECORD_CORRUPT",
      message: expect.stringContaining("ran the step stock with a `compensate`"),
    });
    expect(log).toEqual(["order", "stock"]);
    await world.clock.advance(1);
    expect(await listed(world)).toMatchObject([{ state: "unfinished" }]);

    await expect(callOf(world, [step("order"), step(name), charge])).rejects.toMatchObject({
      step: "charge",
    });
    expect(log.slice(2)).toEqual([
      "undo charge undefined",
      "undo stock stock-result",
      "undo order order-result",
    ]);
    expect(broken.size).toBe(1);
  });

  it("R6: stops too if the step was only begun when the process died, or the saga had turned back by then", async () => {
    const { world, step, log } = await died(["order", "stock"]);
    const { compensate: _, ...stock } = step("stock", { run: () => Promise.reject(failure) });
    await expect(callOf(world, [step("order"), stock])).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    await expect(callOf(world, [step("order"), step("stock", { run: stock.run })])).rejects.toMatchObject({
      code: "PERMANENT",
    });
    expect(log.slice(2)).toEqual(["undo stock undefined", "undo order order-result"]);

    const turned = await turnedBack(["order", "charge"]);
    const { compensate: __, ...charge } = turned.step("charge");
    await expect(callOf(turned.world, [turned.step("order"), charge])).rejects.toMatchObject({
      code: "RECORD_CORRUPT",
    });
    expect(turned.log).toEqual([]);
  });

  it("R6: goes on without a compensation that another deployment has already made", async () => {
    const world = newWorld();
    const { log, broken, step } = shop(new Set(["charge", "undo order order-result"]));
    await expect(callOf(world, [step("order"), step("stock"), step("charge")])).rejects.toMatchObject({
      code: "SAGA_PENDING",
    });
    broken.clear();
    await world.clock.advance(61_000);
    const { compensate: _, ...stock } = step("stock");

    await expect(callOf(world, [step("order"), stock, step("charge")])).rejects.toMatchObject({
      code: "PERMANENT",
    });
    expect(log.at(-1)).toBe("undo order order-result");
  });

  it("needs a claim, and reports it before anything runs", async () => {
    const world = newWorld();
    const { log, steps } = shop(new Set(["charge"]));
    const store = intercepted(world.memory, (method, request) =>
      method === "claim" ? Promise.reject(unreachable()) : request(),
    );

    await expect(callOf(world, steps, { store, whenStoreFails: "run" })).rejects.toMatchObject({
      code: "STEP_INVALID",
      message: expect.stringContaining("needs a claim: leave `whenStoreFails` out"),
    });
    expect(log).toEqual([]);
  });

  it("undoes no step whose error proves that it did not happen, at most once or not", async () => {
    for (const atMostOnce of [true, false]) {
      const world = newWorld();
      const { log, step } = shop(new Set(["charge"]));
      const charge = step("charge", { atMostOnce, didNotHappen: () => true });

      await expect(callOf(world, [step("order"), charge])).rejects.toMatchObject({ code: "PERMANENT" });

      expect(log).toEqual(["order", "undo order order-result"]);
    }
  });

  it.each(["its verify", "a person"])(
    "H42: stays listed until it ends, even after a first step that happened according to %s",
    async (who) => {
      const world = newWorld();
      const { broken, step } = shop(new Set(["charge"]));
      const verify = (): Verification => ({ outcome: "happened", result: "found" });
      const first = (run?: () => unknown) =>
        step("order", { atMostOnce: true, ...(who === "its verify" && { verify }), ...(run && { run }) });
      const charge = step("charge", { retryLater: () => true });
      const killed = first(() => new Promise(() => {}));
      void world.start((execution) => saga("place", [killed, charge] as Steps).run(execution as Run, input));
      await world.clock.advance(36_000);
      if (who === "a person") {
        const about = {
          step: "place/order",
          outcome: "happened",
          result: "found",
          by: "ana",
          why: "seen",
        } as const;
        const options = {
          operation: "create-order",
          scope: "tenant-1",
          store: world.memory,
          clock: world.clock,
        };
        expect(await resolveOutcome(options, "key-1", about)).toEqual({ resolved: true });
      }

      await expect(callOf(world, [first(), charge])).rejects.toBe(failure);
      await world.clock.advance(1);

      expect(await listed(world)).toMatchObject([{ state: "unfinished", steps: [] }]);
      broken.clear();
      expect(await callOf(world, [first(), charge])).toEqual({ order: "found", charge: "charge-result" });
      expect(await listed(world)).toEqual([]);
    },
  );

  it.each([
    ["the one before", ["order"], ["create"]],
    ["the one after", ["create"], ["order"]],
  ])("rejects what %s has left under a name that it does not know", async (_, its, ours) => {
    const world = newWorld();
    const { log, step } = shop(new Set(["stock"]));
    const of = (names: readonly string[]) => [
      ...names.map((name) => step(name)),
      step("stock", { retryLater: () => true }),
    ];
    await expect(callOf(world, of(its))).rejects.toBe(failure);

    await expect(callOf(world, of(ours))).rejects.toMatchObject({
      code: "RECORD_CORRUPT",
      message: `another deployment of place left the step place/${its[0]}, which this one doesn't have: finish the deployment, or list it in \`formerly\``,
    });

    expect(log).toEqual(its);
  });
});

describe("a saga that is defined wrongly", () => {
  const run = () => 1;
  const wrong: readonly (readonly [string, () => unknown, RegExp])[] = [
    ["no name", () => saga("", [{ name: "a", run }]), /`name` must be a string of 1 to 52/],
    ["no steps", () => saga("s", []), /`steps` must be an array of 1 to 49 steps/],
    ["steps that aren't an array", () => saga("s", "steps" as never), /`steps` must be an array/],
    [
      "too many steps",
      () =>
        saga(
          "s",
          Array.from({ length: 50 }, (_, n) => ({ name: `${n}`, run })),
        ),
      /1 to 49/,
    ],
    ["a step without a name", () => saga("s", [{ run } as never]), /`name` must be a string of 1 to 52/],
    ["a name with /", () => saga("s", [{ name: "a/b", run }]), /without \//],
    [
      "names that are too long",
      () => saga("s".repeat(30), [{ name: "n".repeat(30), run }]),
      /at most 52 characters/,
    ],
    [
      "a name twice",
      () =>
        saga("s", [
          { name: "a", run },
          { name: "a", run },
        ]),
      /two steps have the name a/,
    ],
    [
      "a former name twice",
      () =>
        saga("s", [
          { name: "a", run },
          { name: "b", run, formerly: ["a"] },
        ]),
      /two steps have the name a/,
    ],
    ["no run", () => saga("s", [{ name: "a" } as never]), /`run` must be a function/],
    [
      "two pivots",
      () =>
        saga("s", [
          { name: "a", run, pivot: true },
          { name: "b", run, pivot: true },
        ]),
      /`pivot` must be set on a single step, but these have it: a, b/,
    ],
    [
      "a compensation behind the pivot",
      () =>
        saga("s", [
          { name: "a", run, pivot: true },
          { name: "b", run, compensate: run },
        ]),
      /`compensate` isn't possible after the pivot, because nothing is undone from there on: remove it from the step b/,
    ],
    [
      "a status that is none",
      () => saga("s", [{ name: "a", run }], { statusCode: 200 }),
      /between 400 and 599/,
    ],
    [
      "a name that every object has",
      () => saga("s", [{ name: "constructor", run }]),
      /not the name of a property that every/,
    ],
    ["a former name that is none", () => saga("s", [{ name: "a", run, formerly: ["b/c"] }]), /former names/],
    [
      "a question about a step that runs again",
      () => saga("s", [{ name: "a", run, atMostOnce: false, verify: () => ({ outcome: "unknown" }) }]),
      /`verify` is never asked about a step with `atMostOnce: false`, because that simply runs again; the step is a/,
    ],
    [
      "an unknown option",
      () => saga("s", [{ name: "a", run, retries: 1 } as never]),
      /`retries` isn't an option/,
    ],
  ];

  it.each(wrong)("with %s is rejected immediately", (_, define, message) => {
    expect(define).toThrow(message);
  });

  it("with something else than an execution is refused", async () => {
    await expect(saga("place", [{ name: "a", run }]).run({} as never, input)).rejects.toThrow(
      "place expects the handler's execution as its first argument",
    );
  });

  it("accepts a custom status", async () => {
    const world = newWorld();
    const steps: Steps = [{ name: "a", run: () => Promise.reject(failure) }];

    const call = world.call((execution) =>
      saga("place", steps, { statusCode: 422 }).run(execution as Run, input),
    );

    await expect(call).rejects.toMatchObject({ statusCode: 422 });
  });
});
