// Sagas in front of stores that change or remember what another one keeps, and many at once in one process.
import { describe, expect, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import type { Store } from "../../lib/core/store.ts";
import { reconciler } from "../../lib/reconciler/reconciler.ts";
import type { SagaStep } from "../../lib/saga/definition.ts";
import { saga } from "../../lib/saga/saga.ts";
import { cached } from "../../lib/stores/cached.ts";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { migrating } from "../../lib/stores/migrating.ts";
import { redacted } from "../../lib/stores/redacted.ts";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { keyService } from "../stores/privacy-given.ts";

type Clock = ReturnType<typeof fakeClock>;
type Front = (memory: MemoryStore, clock: Clock) => Store<MemoryWrite>;

const FRONTS: readonly (readonly [string, Front])[] = [
  ["cached", (memory, clock) => cached(memory, { clock })],
  ["encrypted", (memory, clock) => encrypted(memory, { keys: keyService(), clock })],
  ["redacted", (memory) => redacted(memory, "all")],
  [
    "migrating",
    (memory, clock) =>
      migrating(memory as Store, new MemoryStore({ maxResultBytes: 2000 }) as Store, {
        clock,
      }) as Store<MemoryWrite>,
  ],
];

const failure = new Error("refused");
const hang = () => new Promise<never>(() => {});

function newWorld(front: Front = (memory) => memory) {
  const clock = fakeClock(1_700_000_000_000);
  const memory = new MemoryStore({ maxResultBytes: 2000 });
  const store = front(memory, clock);
  const log: string[] = [];
  const step = (name: string, more: Partial<SagaStep<string, MemoryWrite>> = {}) => ({
    name,
    run: ({ input }: { input: string }) => {
      log.push(`${name} ${input}`);
      return `${name} of ${input}`;
    },
    compensate: ({ input, result }: { input: string; result: unknown }) =>
      log.push(`undo ${name} ${input}, ${result}`),
    ...more,
  });
  const options = { store, clock, leaseSeconds: 30, renewLease: false };
  const start = (steps: readonly SagaStep<string, MemoryWrite>[], key = "o1") =>
    saga("place", steps).start(options, key, key);
  const recordKeyOf = (key: string) => identify("place", "", key).recordKey;
  return { clock, memory, store, log, step, start, recordKeyOf };
}

describe.each(FRONTS)("a saga in front of a store that is %s", (_, front) => {
  it("H53: undoes its steps after a death between two of them, each once", async () => {
    const world = newWorld(front);
    const { clock, log, step, start } = world;
    void start([step("order"), step("stock"), step("charge", { run: hang })]).catch(() => {});
    await clock.advance(36_000);
    const failing = [step("order"), step("stock"), step("charge", { run: () => Promise.reject(failure) })];

    for (let call = 1; call <= 2; call++)
      await expect(clock.run(start(failing))).rejects.toMatchObject({ name: "SagaCompensatedError" });

    expect(log).toEqual([
      "order o1",
      "stock o1",
      "undo charge o1, undefined",
      "undo stock o1, stock of o1",
      "undo order o1, order of o1",
    ]);
  });

  it("H60: continues after the reconciler's finding about a step", async () => {
    const { clock, store, log, step, start } = newWorld(front);
    const stepsWith = (run: SagaStep<string, MemoryWrite>["run"]) => [
      step("order"),
      step("charge", { run, atMostOnce: true }),
      step("mail", { run: ({ results }) => void log.push(`mail about ${results.charge}`) }),
    ];
    void start(stepsWith(hang)).catch(() => {});
    await clock.advance(200_000);
    const happened = () => ({ outcome: "happened", result: "ch_1" }) as const;
    const operations = { place: { steps: { "place/charge": happened } } };
    const reconcile = reconciler({ store, clock, operations, observe: () => {} });

    expect(await clock.run(reconcile())).toMatchObject({ happened: 1, unknown: 0, unrecorded: 0 });
    await clock.run(start(stepsWith(() => expect.unreachable())));

    expect(log).toEqual(["order o1", "mail about ch_1"]);
  });

  it("turns back if a step reads a result that is too large to be kept", async () => {
    const { clock, log, step, start } = newWorld(front);
    const { compensate: _, ...load } = step("load", {
      run: () => Array.from({ length: 4000 }, (__, index) => (index * 7919) % 65_521),
    });
    const charge = step("charge", { run: ({ results }) => results.load });

    await expect(clock.run(start([load, charge]))).rejects.toMatchObject({
      name: "SagaCompensatedError",
      step: "charge",
      cause: { code: "RESULT_NOT_KEPT" },
    });

    expect(log).toEqual(["undo charge o1, undefined"]);
  });
});

describe("64 sagas of one process", () => {
  it("H44: that wait between their steps, and die or fail in turns, share nothing", async () => {
    const { clock, memory, log, step, start, recordKeyOf } = newWorld();
    const pause = async ({ input }: { input: string }) => {
      await clock.sleep(1000 + (Number(input) % 7) * 100);
      if (Number(input) % 3 === 0) throw failure;
      return input;
    };
    const steps = [step("order"), step("charge", { run: pause }), step("mail")];
    const keys = Array.from({ length: 64 }, (_, index) => `${index}`);

    const ends = await clock.run(Promise.allSettled(keys.map((key) => start(steps, key))));

    for (const [index, end] of ends.entries()) {
      const key = `${index}`;
      const own = log.filter((line) => line.split(/[ ,]+/).includes(key));
      const isUndone = index % 3 === 0;
      expect(end.status).toBe(isUndone ? "rejected" : "fulfilled");
      expect(memory.records.get(recordKeyOf(key))?.state).toBe(isUndone ? "failed" : "completed");
      expect(own).toEqual(
        isUndone
          ? [`order ${key}`, `undo charge ${key}, undefined`, `undo order ${key}, order of ${key}`]
          : [`order ${key}`, `mail ${key}`],
      );
    }
  });
});
