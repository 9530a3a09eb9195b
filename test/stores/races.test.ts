// Instances of two neighbouring stages at once, under every interleaving that fast-check can think of: requests are late,
// lost, or their worker stops for ever.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../lib/core/clock.ts";
import type { Store } from "../../lib/core/store.ts";
import { migrating } from "../../lib/stores/migrating.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { play } from "../core/plays/race.ts";
import { callPlans } from "../core/plays/race-plan.ts";
import { racedMemory } from "../core/plays/raced-store.ts";
import { inTier } from "../setup/tier.ts";

const RUNS = { numRuns: inTier(150, 1500) };

/** The stages that the first, second … call meets an instance of. */
const stagesFrom = (stage: number) =>
  fc.array(fc.constantFrom(stage, stage + 1), { minLength: 4, maxLength: 4 });

const movingBy = (stages: readonly number[]) => {
  return {
    to: racedMemory(),
    endsInTo: (index: number) => stages[index] !== 1,
    adapter: (index: number, own: Store<MemoryWrite>, other: Store<MemoryWrite>, clock: Clock) => {
      const stage = stages[index];
      if (stage === 1) return own;
      if (stage === 4) return other;
      const commitsIn = stage === 2 ? "from" : "to";
      return commitsIn === "from"
        ? migrating(own, other, { clock })
        : migrating(own, other, { clock, commitsIn });
    },
  };
};

describe.each([1, 2, 3])("races of instances of stage %s and the next", (stage) => {
  it("H69: claimed, never two live attempts, none after the first recorded answer, and one answer for all", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        stagesFrom(stage),
        callPlans(["claimed"], ["effect"]),
        async (scheduler, stages, calls) => {
          const outcome = await play(scheduler, calls, racedMemory(), { moving: movingBy(stages) });

          expect(outcome.overlaps).toEqual([]);
          expect(outcome.runsAfterRecord).toBe(0);
          expect(new Set(outcome.answers).size).toBeLessThanOrEqual(1);
        },
      ),
      RUNS,
    );
  });

  it("H69: with commits in both modes, at most one effect and one answer for all", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        stagesFrom(stage),
        callPlans(["claimed", "optimistic", "unprotected"], ["commit"]),
        async (scheduler, stages, calls) => {
          const outcome = await play(scheduler, calls, racedMemory(), { moving: movingBy(stages) });

          expect(outcome.effects).toHaveLength(outcome.stored?.startsWith("value") ? 1 : 0);
          expect(new Set(outcome.answers).size).toBeLessThanOrEqual(1);
        },
      ),
      RUNS,
    );
  });
});

it("H69: instances of the first and the third stage at the same time are detected", async () => {
  const property = fc.asyncProperty(
    fc.scheduler(),
    fc.array(fc.constantFrom(1, 3), { minLength: 4, maxLength: 4 }),
    callPlans(["claimed"], ["commit"]),
    async (scheduler, stages, calls) => {
      const { effects } = await play(scheduler, calls, racedMemory(), { moving: movingBy(stages) });
      expect(effects.length).toBeLessThanOrEqual(1);
    },
  );

  const { failed } = await fc.check(property, { numRuns: 1000 });

  expect(failed).toBe(true);
});
