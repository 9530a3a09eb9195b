// What a table in two regions can promise: each region wins claims by itself, so a key needs one home.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REGIONS, type Region, TwoRegions } from "./regions-world.ts";

const LAG_MS = 2000;
const KEYS = ["order-a", "order-b", "order-c"];

interface Delivery {
  readonly key: string;
  /** Where the client's request arrives. */
  readonly arrives: Region;
  readonly workMs: number;
  /** Until the next one. */
  readonly pauseMs: number;
  readonly isCut: boolean;
}

const deliveries: fc.Arbitrary<Delivery[]> = fc.array(
  fc.record({
    key: fc.constantFrom(...KEYS),
    arrives: fc.constantFrom(...REGIONS),
    workMs: fc.constantFrom(0, 1000, 10_000, 20_000),
    pauseMs: fc.constantFrom(0, 500, 3000, 60_000),
    isCut: fc.boolean(),
  }),
  { minLength: 2, maxLength: 10 },
);

/** Delivers all of it, each where `route` says, and as often again as it is in progress. */
async function play(plan: readonly Delivery[], route: (world: TwoRegions, delivery: Delivery) => Region) {
  const world = await new TwoRegions(LAG_MS).open();
  const answers = new Map<string, Set<string>>();
  async function deliver(delivery: Delivery): Promise<void> {
    const { key, workMs } = delivery;
    const answer = await world.deliver(key, route(world, delivery), workMs).catch(() => undefined);
    if (answer !== undefined) answers.set(key, (answers.get(key) ?? new Set()).add(answer));
  }
  const running: Promise<void>[] = [];
  for (const delivery of plan) {
    world.isCut = delivery.isCut;
    running.push(deliver(delivery));
    await world.advance(delivery.pauseMs);
  }
  for (let times = 0; times < 12; times++) await world.advance(5000);
  await Promise.all(running);
  return { world, answers };
}

describe("a table in two regions", () => {
  it("H55: if each key has one home, it has one effect and one answer, whatever is late or cut off", async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, async (plan) => {
        const { world, answers } = await play(plan, ({ homeOf }, { key }) => homeOf(key));

        for (const { key } of plan) {
          expect([world.effects.get(key), [...(answers.get(key) ?? [])]]).toEqual([1, [`${key} 1`]]);
        }
      }),
      { numRuns: 25, seed: 55 },
    );
  });

  it("H55: if requests are handled as they arrive, two regions win the same key", async () => {
    const world = await new TwoRegions(LAG_MS).open();
    const [here, there] = REGIONS;

    const answers = [await world.deliver("order-a", here), await world.deliver("order-a", there)];

    expect(answers).toEqual(["order-a 1", "order-a 2"]);
  });

  it("H55: the home may move when its records have been copied", async () => {
    const world = await new TwoRegions(LAG_MS).open();
    const [here, there] = REGIONS;
    await world.deliver("order-a", here);

    await world.advance(LAG_MS);

    expect(await world.deliver("order-a", there)).toBe("order-a 1");
    expect(world.effects.get("order-a")).toBe(1);
  });

  it("H55: operations that a lost region hadn't copied yet are forgotten, and run again elsewhere", async () => {
    const world = await new TwoRegions(LAG_MS).open();
    const [lost, other] = REGIONS;
    await world.deliver("order-a", lost);
    world.isCut = true;
    await world.advance(3_600_000);

    expect(await world.deliver("order-a", other)).toBe("order-a 2");
  });
});
