import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inTier } from "../setup/tier.ts";
import { groupOf, OutboxPlay } from "./plays/outbox.ts";
import { anyLossyPlan, anyPlan, GROUPS, type OutboxStep } from "./plays/outbox-steps.ts";

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

/** What random plans have found; what goes wrong in them was mended. */
const FOUND: [OutboxStep[]][] = [
  // The news of a relay that was frozen before it noted them were older than what others had noted since.
  [
    [
      { do: "commit", groups: ["b"], isLarge: false },
      {
        do: "relay",
        batchSize: 1,
        faults: [
          { at: "send", kind: "freezes" },
          { at: 4, kind: "freezes" },
        ],
        refused: ["b", "e"],
      },
      { do: "wait", ms: 301_000 },
      { do: "commit", groups: ["b"], isLarge: false },
      { do: "relay", batchSize: 1, faults: [], refused: ["b", "e"] },
    ],
  ],
  // A relay and a sweeper noted one group at the same time, and the place of a commit followed from the note that lost.
  [
    [
      { do: "commit", groups: ["a"], isLarge: false },
      { do: "commit", groups: ["b"], isLarge: false },
      { do: "commit", groups: ["e", "a"], isLarge: false },
      { do: "wait", ms: 301_000 },
      { do: "commit", groups: ["e", "a"], isLarge: false },
      { do: "sweep", faults: [], refused: ["e"] },
      { do: "relay", batchSize: 10, faults: [], refused: [] },
      { do: "wait", ms: 20 },
      { do: "commit", groups: ["e", "a"], isLarge: false },
      { do: "wait", ms: 5 },
      { do: "relay", batchSize: 1, faults: [], refused: [] },
      { do: "sweep", faults: [], refused: ["b"] },
      { do: "sweep", faults: [], refused: [] },
    ],
  ],
  // A sweep froze, and later commits of a group with a failed one passed an earlier one that the frozen sweep still had.
  [
    [
      { do: "commit", groups: ["a"], isLarge: false },
      { do: "relay", batchSize: 1, faults: [], refused: ["a", "e"] },
      { do: "commit", groups: ["a"], isLarge: false },
      { do: "commit", groups: ["a"], isLarge: false },
      { do: "wait", ms: 61_000 },
      { do: "sweep", faults: [{ at: 4, kind: "freezes" }], refused: [] },
      { do: "wait", ms: 30_001 },
      { do: "commit", groups: ["a", "b"], isLarge: false },
      { do: "sweep", faults: [], refused: [] },
      { do: "commit", groups: ["a"], isLarge: false },
    ],
  ],
  // A relay held a commit back for one of its groups, and a later commit overtook it in the other one.
  [
    [
      { do: "commit", groups: ["a"], isLarge: false },
      { do: "relay", batchSize: 1, faults: [], refused: ["a", "e"] },
      { do: "wait", ms: 5001 },
      { do: "commit", groups: ["e", "a"], isLarge: false },
      { do: "commit", groups: ["e"], isLarge: false },
      { do: "wait", ms: 299_000 },
      { do: "commit", groups: ["b"], isLarge: false },
      { do: "sweep", faults: [{ at: 7, kind: "fails" }], refused: [] },
      { do: "relay", batchSize: 1, faults: [{ at: 2, kind: "fails" }], refused: [] },
      { do: "wait", ms: 1000 },
      { do: "relay", batchSize: 3, faults: [], refused: [] },
    ],
  ],
];

async function played(plan: readonly OutboxStep[]): Promise<OutboxPlay> {
  const play = await new OutboxPlay().play(plan);
  await play.drain();
  return play;
}

const effects = (play: OutboxPlay) => GROUPS.flatMap((group) => play.effectsOf(group)).sort();

/** Messages of one group whose effects are not in the order of their commits: in a commit, and in a shard of the index. */
function overtakings(play: OutboxPlay): string[] {
  const found: string[] = [];
  for (const shard of new Set(play.commits.map((commit) => commit.shard))) {
    const keys = play.commits.filter((commit) => commit.shard === shard).flatMap((commit) => commit.keys);
    for (const group of GROUPS) {
      const sent = keys.filter((key) => groupOf(key) === group);
      const done = play.effectsOf(group).filter((key) => sent.includes(key));
      if (`${done}` !== `${sent}`) found.push(`${sent} became ${done}`);
    }
  }
  return found;
}

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
        { numRuns, examples: FOUND, ...inTier({ seed: 3 }, {}) },
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
