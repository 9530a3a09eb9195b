// One key while its store is left for another: a call dies or fails at each of its requests. Instances of two
// neighbouring stages get the calls that follow.
import { describe, expect, it } from "vitest";
import { isFull } from "../setup/tier.ts";
import {
  commits,
  type Fate,
  inSteps,
  type MovingWorld,
  movingWorld,
  type Options,
  type Stage,
} from "./moving-world.ts";

const FATES: readonly Fate[] = ["crash-before", "crash-after", "fails", "answer-lost"];

/** Each request of a call meets each fate: one plan for each. */
function* faults(requests: number, fates = FATES): Generator<readonly Fate[]> {
  for (let index = 0; index < requests; index++) {
    for (const fate of fates) yield [...Array<Fate>(index).fill("answered"), fate];
  }
}

/** All ways in which the calls meet instances of `stage` and of the one after it. */
function* mixed(stage: 1 | 2 | 3, length: number): Generator<readonly Stage[]> {
  for (let bits = 0; bits < 2 ** length; bits++) {
    yield Array.from({ length }, (_, index) => (stage + ((bits >> index) & 1)) as Stage);
  }
}

const WORKS = {
  "a commit": { work: commits, options: {}, effects: { order: 1 }, requests: 5 },
  "an optimistic commit": {
    work: commits,
    options: { mode: "optimistic" },
    effects: { order: 1 },
    requests: 7,
  },
  steps: { work: inSteps, options: {}, effects: { reserve: 1, charge: 1 }, requests: 9 },
} as const satisfies Record<
  string,
  { work: typeof commits; options: Options; effects: object; requests: number }
>;

/** Two calls that meet a fault, and two that do not: the last one replays. */
async function playAt(world: MovingWorld, stages: readonly Stage[], plans: readonly (readonly Fate[])[]) {
  let last: unknown;
  for (const [index, stage] of stages.entries()) {
    const { answer } = await world.call(stage, plans[index]);
    if (answer && "result" in answer) {
      if (last !== undefined) expect(answer.result).toEqual(last);
      last = answer.result;
    }
  }
  return last;
}

describe.each(Object.entries(WORKS))("migrating, %s", (_, { work, options, effects, requests }) => {
  it.each([1, 2, 3] as const)(
    "H69: instances of stage %s and the next have one effect, whatever request a call dies at",
    async (stage) => {
      for (const stages of mixed(stage, 3)) {
        for (const plan of faults(requests)) {
          const world = movingWorld(work, options);

          const answer = await playAt(world, stages, [plan]);

          expect({ stages, plan, effects: world.effects() }).toEqual({ stages, plan, effects });
          expect(answer).toBeDefined();
        }
      }
    },
  );

  it("no call makes more requests than are tried, and the last of them is", async () => {
    const { requests: made } = await movingWorld(work, options).call(2);
    const { requests: madeLater } = await movingWorld(work, options).call(3);

    expect(Math.max(made, madeLater)).toBe(requests - 1);
  });

  it("H69: a move through all stages has one effect, whatever request a call of each dies at", async () => {
    for (const plan of faults(requests)) {
      for (const then of faults(requests, isFull ? FATES : ["crash-after"])) {
        const world = movingWorld(work, options);

        await playAt(world, [1, 2, 2, 3], [plan, then, plan]);
        await playAt(world, [3], [then]);
        expect(await world.unmigratedRecords(true)).toEqual([]);
        await playAt(world, [4, 4], [then]);

        expect({ plan, then, effects: world.effects() }).toEqual({ plan, then, effects });
      }
    }
  });
});

describe("a move that leaves a stage out", () => {
  const movedBy = async (stages: readonly Stage[]) => {
    let twice = 0;
    for (const plan of faults(5)) {
      const world = movingWorld();
      await playAt(world, stages, [plan]).catch(() => {});
      if (world.effects().order !== 1) twice++;
    }
    return twice;
  };

  it.each([
    ["from the old store to the new one at once", [1, 4]],
    ["without the stage that commits in the new store", [2, 4]],
    ["without the stage that commits in the old store", [3, 1]],
  ] as const)("H69: %s has a second effect, which this search finds", async (_, stages) => {
    expect(await movedBy(stages)).toBeGreaterThan(0);
  });
});
