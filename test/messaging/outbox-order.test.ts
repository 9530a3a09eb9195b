import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupOf, OutboxPlay } from "./outbox-play.ts";
import { anyLossyPlan, anyPlan, GROUPS, type OutboxStep } from "./outbox-steps.ts";

/** More, to search further: ONCEONLY_RUNS=5000. */
const numRuns = Number(process.env.ONCEONLY_RUNS ?? 300);

const TIMEOUT_MS = 120_000;

const REACHED = [
  "a relay timed out",
  "dies-after of a relay at send",
  "answer-lost of a relay at mark",
  "freezes of a relay at send",
  "sent by a sweeper",
  "waiting by a sweeper",
  "fails of a sweeper at load",
  "freezes of a sweeper at send",
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
        { numRuns },
      );
      // The plans reach what they are about.
      for (const what of REACHED) expect([what, Number(seen[what]) > numRuns / 100]).toEqual([what, true]);
    },
    TIMEOUT_MS,
  );

  it(
    "H34: whatever the stream loses besides, each message has one effect",
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
