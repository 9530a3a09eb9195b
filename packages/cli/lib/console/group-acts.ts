/** The acts of the page on a group of failures. The group must still be what the page has shown. */

import type { Clock, Unsent } from "onceonly/kit";
import { UsageError } from "../command.ts";
import { decideMessages } from "../message-acts.ts";
import type { Act } from "./console-source.ts";
import { byWhomIn, resolutionIn, resolving } from "./key-acts.ts";
import type { KnownKeys } from "./known-keys.ts";
import type { ActAnswer, FailureGroup } from "./look.ts";

/** `undefined` for an act on anything but a group. @throws UsageError */
export async function actOnGroup(
  act: Act,
  groups: readonly FailureGroup[],
  known: KnownKeys,
  clock: Clock,
): Promise<ActAnswer | undefined> {
  if (act.group === undefined) return undefined;
  const group = groups.find((each) => each.id === act.group);
  if (!group) return { done: false, message: "This group no longer exists." };
  const decided = byWhomIn(act);
  const keyHashes = keysIn(group, act);
  if (!isFate(act.act)) return settle(act, group, keyHashes, known, clock);
  if (group.list === "unknown") throw new UsageError(`${act.act} is for messages`);
  const { list } = group;
  const deciding = { act: act.act, ...decided, clock };
  let count = 0;
  for (const keyHash of keyHashes) {
    const key = known.get(keyHash);
    if (!key) continue;
    const changed = await decideMessages(key.table, key.recordKey, deciding, (commit) =>
      placesIn(commit, list),
    );
    if (changed.done) count++;
  }
  const of = `of ${keyHashes.length} commits`;
  return {
    done: count > 0,
    message:
      act.act === "retry"
        ? `Sending the messages ${of} again: ${count}.`
        : `Dropped messages ${of}: ${count}.`,
  };
}

/** The keys that the person has seen in the list, without those that have left the group since. */
function keysIn({ members }: FailureGroup, { keys }: Act): readonly string[] {
  const all = members.map(({ keyHash }) => keyHash);
  return Array.isArray(keys) ? all.filter((keyHash) => keys.includes(keyHash)) : all;
}

const isFate = (act: string): act is "retry" | "drop" => act === "retry" || act === "drop";

const placesIn = ({ messages, progress = [] }: Unsent, list: FailureGroup["list"]): readonly number[] =>
  messages.flatMap((_, place) => ((progress[place]?.state ?? "waiting") === list ? place : []));

/**
 * Records one outcome for each key, under its own fence. A key with a step that was begun needs its own decision, unless the
 * effect of the whole key happened.
 * @throws UsageError if no key was changed, because the answer can't be the answer of any
 */
async function settle(
  act: Act,
  { list }: FailureGroup,
  keyHashes: readonly string[],
  known: KnownKeys,
  clock: Clock,
): Promise<ActAnswer> {
  const resolution = resolutionIn(act, byWhomIn(act));
  if (list !== "unknown")
    throw new UsageError(`${resolution.outcome} only applies to keys with an unknown outcome`);
  let count = 0;
  let refused: UsageError | undefined;
  for (const keyHash of keyHashes) {
    const key = known.get(keyHash);
    if (!key) continue;
    const answer = await resolving(key, resolution, clock).catch((error: unknown) => {
      if (!(error instanceof UsageError)) throw error;
      refused = error;
      return undefined;
    });
    if (answer?.resolved) count++;
  }
  if (count === 0 && refused && resolution.outcome === "happened") throw refused;
  const left = keyHashes.length - count;
  const more = left === 0 ? "" : ` ${left} were left as they are: resolve each one separately.`;
  const done =
    resolution.outcome === "happened"
      ? `Recorded that the effect happened for ${count} of ${keyHashes.length} keys.`
      : `Retries may now run for ${count} of ${keyHashes.length} keys.`;
  return { done: count > 0, message: `${done}${more}` };
}
