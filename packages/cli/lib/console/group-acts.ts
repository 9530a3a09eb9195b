/** The acts of the page on a group of failures. The group must still be what the page has shown. */

import { type ByWhom, hasCode, resolveRecord } from "onceonly/kit";
import { UsageError } from "../command.ts";
import type { Act } from "./console-source.ts";
import type { KnownKeys } from "./known-keys.ts";
import type { ActAnswer, FailureGroup } from "./look.ts";

/** `undefined` for an act of somebody else. @throws UsageError */
export async function actOnGroup(
  { act, group: id, by, why }: Act,
  groups: readonly FailureGroup[],
  known: KnownKeys,
): Promise<ActAnswer | undefined> {
  if (act !== "retry" && act !== "drop" && act !== "did-not-happen") return undefined;
  const group = groups.find((each) => each.id === id);
  if (!group) return { done: false, message: "This group no longer exists." };
  const said = { by: `${by ?? ""}`, why: `${why ?? ""}` };
  if (said.by === "" || said.why === "") throw new UsageError("enter your name and a reason");
  if (act === "did-not-happen") return didNotHappen(group, known, said);
  if (group.list === "unknown") throw new UsageError(`${act} is for messages`);
  let count = 0;
  for (const { keyHash } of group.members) {
    if (await decide(act, group.list, known, keyHash, said)) count++;
  }
  const of = `of ${group.members.length} commits`;
  return {
    done: count > 0,
    message:
      act === "retry" ? `Sending the messages ${of} again: ${count}.` : `Dropped messages ${of}: ${count}.`,
  };
}

/** Whether it changed the commit: not where somebody else was first. */
async function decide(
  act: "retry" | "drop",
  list: "waiting" | "parked",
  known: KnownKeys,
  keyHash: string,
  said: ByWhom,
): Promise<boolean> {
  const { table, recordKey } = known.get(keyHash) ?? {};
  const commit = recordKey === undefined ? undefined : await table?.outbox.load(recordKey);
  if (!commit || !table) return false;
  const { messages, progress = [] } = commit;
  const places = messages.flatMap((_, place) =>
    (progress[place]?.state ?? "waiting") === list ? place : [],
  );
  if (places.length === 0) return false;
  const options = { ...said, messages: places };
  return act === "retry" ? table.outbox.sendAgain(commit, options) : table.outbox.drop(commit, options);
}

/** Gives each key of the group back, under a fence of its own. One with a step that was begun needs a verdict of its own. */
async function didNotHappen(
  { list, members }: FailureGroup,
  known: KnownKeys,
  said: ByWhom,
): Promise<ActAnswer> {
  if (list !== "unknown") throw new UsageError("did-not-happen only applies to keys with an unknown outcome");
  let count = 0;
  for (const { keyHash } of members) {
    const { table, recordKey } = known.get(keyHash) ?? {};
    if (!table || recordKey === undefined) continue;
    const resolution = { outcome: "did-not-happen", ...said } as const;
    const settled = await resolveRecord({ store: table.store }, recordKey, resolution).catch((error) => {
      if (hasCode(error, "INVALID_OPTION")) return undefined;
      throw error;
    });
    if (settled?.resolved) count++;
  }
  const left = members.length - count;
  const more = left === 0 ? "" : ` ${left} were left as they are: resolve each one separately.`;
  return { done: count > 0, message: `Retries may now run for ${count} of ${members.length} keys.${more}` };
}
