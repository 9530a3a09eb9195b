import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inTier } from "../setup/tier.ts";
import { effects, overtakings, played } from "./plays/outbox-ends.ts";
import { anyLossyPlan, anyPlan } from "./plays/outbox-steps.ts";

/** More, to search further: ONCEONLY_RUNS=5000. */
const numRuns = Number(process.env.ONCEONLY_RUNS ?? inTier(100, 300));

const TIMEOUT_MS = Math.max(120_000, 500 * numRuns);

const REACHED = [
  "a relay timed out",
  "dies-after of a relay at send",
  "answer-lost of a relay at mark",
  "freezes of a relay at send",
  "sent by a sweeper",
  "waiting by a sweeper",
  "fails of a sweeper at lease",
  "freezes of a sweeper at send",
];

describe("outboxRelay and outboxSweeper", () => {
  it(
    "H33, H35: whatever dies, fails, freezes or overlaps, each message has one effect and each group its order",
    async () => {
      const seen: Record<string, number> = {};
      await fc.assert(
        fc.asyncProperty(anyPlan, async (plan) => {
          const play = await played(plan);

          expect(effects(play)).toEqual(play.commits.flatMap(({ keys }) => keys).sort());
          expect(overtakings(play)).toEqual([]);
          for (const what of play.seen) seen[what] = (seen[what] ?? 0) + 1;
        }),
        // A fixed seed: so few random plans might not reach all that they are about.
        { numRuns, ...inTier({ seed: 3 }, {}) },
      );
      // The plans reach what they are about.
      for (const what of REACHED) expect([what, Number(seen[what]) > numRuns / 100]).toEqual([what, true]);
    },
    TIMEOUT_MS,
  );

  it(
    "H34: whatever else the stream loses, each message has one effect",
    async () => {
      await fc.assert(
        fc.asyncProperty(anyLossyPlan, async (plan) => {
          const play = await played(plan);

          expect(effects(play)).toEqual(play.commits.flatMap(({ keys }) => keys).sort());
        }),
        { numRuns },
      );
    },
    TIMEOUT_MS,
  );
});
