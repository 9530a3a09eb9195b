import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inTier } from "../../../../test/setup/tier.ts";
import { type Plan, planOf, play } from "./plays/sample.ts";
import { faultsOf } from "./plays/sample-verdict.ts";
import { playAll, report, type Schedule, seedsFrom, summary } from "./plays/schedules.ts";
import { naiveCreateOrder } from "./seeded-bugs/naive-create-order.ts";

const COUNT = Number(process.env.ONCEONLY_SCHEDULES ?? inTier(100, 800));
const FIRST_SEED = Number(process.env.ONCEONLY_SEED ?? 1);
/** What a schedule may take on a machine that has other things to do too. */
const MS_PER_SCHEDULE = 1000;

const { write } = process.stdout;
const { error } = console;

beforeAll(() => {
  // The sample writes metrics and errors down, for each of some hundred thousand requests: too many for spies, which keep them.
  process.stdout.write = () => true;
  console.error = () => undefined;
});

afterAll(() => {
  process.stdout.write = write;
  console.error = error;
});

const naively = (plan: Plan): Plan => ({ ...plan, withPayments: false, createOrder: naiveCreateOrder });

const playOne =
  (adapt = (plan: Plan) => plan) =>
  async (seed: number): Promise<Schedule> => {
    const plan = adapt(planOf(seed));
    const played = await play(plan);
    const counts = { "of the whole chain": Number(plan.withPayments) };
    return { aws: played.aws, wrong: await faultsOf(plan, played), counts };
  };

describe("the sample", () => {
  it(
    `keeps its promise in ${COUNT} schedules from seed ${FIRST_SEED}`,
    async () => {
      const { failure, ...tally } = await playAll(seedsFrom(FIRST_SEED, COUNT), playOne());
      if (failure) expect.fail(report(failure));
      process.stderr.write(summary(tally));
      expect(tally.schedules).toBe(COUNT);
    },
    30_000 + COUNT * MS_PER_SCHEDULE,
  );

  it.each([3, 4, 8, 1000])("plays schedule %i the same way again, byte for byte", async (seed) => {
    const plan = { ...planOf(seed), faultRate: 0.3 };
    const first = await play(plan);
    const again = await play(plan);
    expect(again.aws.traceText()).toBe(first.aws.traceText());
    expect(again.answers).toEqual(first.answers);
  });

  it("plays other seeds in other ways", async () => {
    const traces = new Set<string>();
    for (const seed of [1, 2, 3, 5]) traces.add((await play(planOf(seed))).aws.traceText());
    expect(traces.size).toBe(4);
  });
});

describe("an order handler that looks before it writes", () => {
  it("is detected within a few schedules, and again by its seed only, with the same trace", async () => {
    const { failure } = await playAll(seedsFrom(1, 200), playOne(naively));
    expect(failure?.wrong.join()).toMatch(/expected 1 order, found \d/);
    const again = await playAll([failure!.seed], playOne(naively));
    expect(again.failure).toEqual(failure);
    expect(report(failure!)).toContain(`ONCEONLY_SEED=${failure!.seed} ONCEONLY_SCHEDULES=1`);
  });
});
