// Plans of an outbox, played to their end, and what is asked of each.
import { groupOf, OutboxPlay } from "./outbox.ts";
import { GROUPS, type OutboxStep } from "./outbox-steps.ts";

export async function played(plan: readonly OutboxStep[]): Promise<OutboxPlay> {
  const play = await new OutboxPlay().play(plan);
  await play.drain();
  return play;
}

export const effects = (play: OutboxPlay) => GROUPS.flatMap((group) => play.effectsOf(group)).sort();

/** Messages of one group whose effects are not in the order of their commits: in a commit, and in a shard of the index. */
export function overtakings(play: OutboxPlay): string[] {
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
