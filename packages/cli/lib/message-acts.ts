/** An operator's decisions about the messages of a commit, for the command line and the console. */
import type { ListedCommit, OutboxDestinationChange, OutboxOperator, Unsent } from "onceonly/kit";
import { UsageError } from "./command.ts";
import type { OpenTable } from "./open-table.ts";
import type { Changed } from "./table.ts";

export const MESSAGE_ACTS = ["retry", "drop", "redirect"] as const;
export type MessageAct = (typeof MESSAGE_ACTS)[number];

export interface MessageDecision extends OutboxOperator {
  readonly act: MessageAct;
  readonly to?: OutboxDestinationChange;
}

export interface MessageEdit extends OutboxOperator {
  /** The position of the message. */
  readonly message: number;
  /** Sent as it is, or as the detail of an event. */
  readonly body: string;
  readonly key?: string;
}

const NOTHING_UNSENT = {
  ...{ done: false, message: "this record has no unsent messages" },
  json: { done: false },
};
const CHANGED = "the commit was changed in the meantime: look at it again";

const DONE = {
  retry: "queued again: the sweeper sends them within a minute",
  drop: "dropped",
  redirect: "redirected",
} as const;

/** @param placesIn which messages; `undefined` for all that are open */
export async function decideMessages(
  { outbox }: OpenTable,
  recordKey: string,
  { act, to = {}, ...decider }: MessageDecision,
  placesIn: (commit: Unsent) => readonly number[] | undefined,
): Promise<Changed> {
  const commit = await outbox.load(recordKey);
  const places = commit && placesIn(commit);
  // Another operator has decided about the last one of the group since.
  if (!commit || places?.length === 0) return NOTHING_UNSENT;
  const these = { ...decider, messages: places ?? [] };
  const done =
    act === "retry"
      ? await outbox.sendAgain(commit, { ...decider, messages: places })
      : act === "drop"
        ? await outbox.drop(commit, these)
        : await outbox.redirect(commit, { ...these, to });
  return { done, message: done ? DONE[act] : CHANGED, json: { done } };
}

/** @throws UsageError */
export async function editMessage(
  { outbox }: OpenTable,
  recordKey: string,
  edit: MessageEdit,
): Promise<Changed> {
  const commit = await outbox.load(recordKey);
  if (!commit) return NOTHING_UNSENT;
  // The detail of an event is an object; to a queue or topic, the text goes as it is.
  const isEvent = commit.messages[edit.message]?.bus !== undefined;
  const done = await outbox.edit(commit, { ...edit, body: isEvent ? detailIn(edit.body) : edit.body });
  return { done, message: done ? "edited: the sweeper sends it within a minute" : CHANGED, json: { done } };
}

/** @throws UsageError. The text may be personal, and so may what a parser says of it. */
function detailIn(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new UsageError("the body of an event must be a JSON object");
  }
}

/** Keys and bodies of a commit's messages. They are payloads: only for a person who asks for them. */
export const bodiesOf = ({ commit }: Pick<ListedCommit, "commit">) =>
  commit?.messages.map(({ key, body }) => ({ key, body }));

/** What the parts of an address are called, on the command line and on the page. */
const ADDRESS: Readonly<Record<string, keyof OutboxDestinationChange>> = {
  queue: "queue",
  topic: "topic",
  bus: "bus",
  source: "source",
  "detail-type": "detailType",
  "message-group": "group",
};

/** @returns the new destination; `undefined` if none is named */
export function destinationChangeIn(
  given: Readonly<Record<string, unknown>>,
): OutboxDestinationChange | undefined {
  const parts = Object.entries(ADDRESS).filter(([name]) => given[name] !== undefined && given[name] !== "");
  if (!parts.some(([name]) => /^(queue|topic|bus)$/.test(name))) return undefined;
  return Object.fromEntries(parts.map(([name, part]) => [part, `${given[name]}`]));
}
