/** Reads an item as a commit with waiting messages, and writes their progress. Items of any other shape fail closed. */

import { PayloadInvalidError, RecordCorruptError } from "../core/errors.ts";
import { MESSAGE_STATES, type MessageProgress, type Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { isKnownVersion } from "../core/record.ts";
import { MAX_MESSAGE_ITEMS, MAX_MESSAGES } from "./placement.ts";
import { type Attribute, ownResult, type RecordTable } from "./record-table.ts";
import type { Item } from "./values.ts";

/** The part of a record that senders need to send its messages and to record their progress. */
export interface WaitingRecord extends Omit<Unsent, "messages"> {
  /** Absent if they are in separate items. */
  readonly messages: readonly StoredMessage[] | undefined;
  /** How many separate items hold the messages. */
  readonly messageItems: number;
  /** Key of the separate item that holds the result. */
  readonly resultItem: string | undefined;
  /** Epoch seconds. */
  readonly expiresOnceSent: number | undefined;
  readonly shard: number;
  /** Epoch ms: when it is due, or until when a sender has taken it. */
  readonly dueAt: number;
  readonly sendingUntil: number | undefined;
  readonly sender: string | undefined;
  /** As it is stored. */
  readonly delivery: string | undefined;
  /** How many messages are in each separate item. */
  readonly counts?: readonly number[] | undefined;
}

/**
 * `undefined` if there is nothing to send.
 * @throws RecordCorruptError (`RECORD_CORRUPT`)
 */
export function readWaiting({ names }: RecordTable, item: Item = {}): WaitingRecord | undefined {
  if (!item[names.unsentSince]) return undefined;
  const text = (name: Attribute) => item[names[name]]?.S;
  const number = (name: Attribute) => {
    const value = item[names[name]];
    return value && Number(value.N);
  };
  const version = number("version");
  const [recordKey, token, delivery] = [text("partitionKey"), text("token"), text("delivery")];
  const evidence = text("evidence");
  const resultItem = text("resultItem");
  const [dueAt, shard, messageItems = 0] = [
    number("unsentSince"),
    number("unsentShard"),
    number("messageItems"),
  ];
  if (!isKnownVersion(version) || !recordKey || !token || !dueAt || !Number.isInteger(shard)) {
    throw new RecordCorruptError(
      `a record of version ${String(version)} has messages that this version of the code can't read`,
    );
  }
  if (!Number.isInteger(messageItems) || messageItems < 0 || messageItems > MAX_MESSAGE_ITEMS) {
    throw new RecordCorruptError(`messages can't be in ${String(messageItems)} items`);
  }
  // The commit completed the record.
  const committedAt = number("completedAt") ?? dueAt;
  if (Number.isNaN(new Date(committedAt).getTime())) {
    throw new RecordCorruptError("the time of a commit isn't a valid time");
  }
  const messages = messageItems ? undefined : readMessages(text("messages"));
  return {
    recordKey,
    token,
    committedAt,
    messages,
    ...(evidence !== undefined && { evidence }),
    progress: messages && delivery !== undefined ? readDelivery(delivery, messages.length) : undefined,
    messageItems,
    resultItem: resultItem === undefined ? undefined : ownResult(recordKey, resultItem),
    expiresOnceSent: number("expiresOnceSent"),
    shard: shard!,
    dueAt,
    sendingUntil: number("sendingUntil"),
    sender: text("sender"),
    delivery,
  };
}

/** Adds the messages of its items, in order. */
export function withMessages(record: WaitingRecord, texts: readonly (string | undefined)[]): WaitingRecord {
  const parts = texts.map((text) => readMessages(text));
  const messages = parts.flat();
  const { delivery } = record;
  if (messages.length > MAX_MESSAGES) throw new RecordCorruptError("there are too many stored messages");
  return {
    ...record,
    counts: parts.map(({ length }) => length),
    messages,
    progress: delivery === undefined ? undefined : readDelivery(delivery, messages.length),
  };
}

/** The sender finds out whether each can be sent: one that can't must not hold up the others. */
function readMessages(text: string | undefined): readonly StoredMessage[] {
  let messages: unknown;
  try {
    messages = JSON.parse(text as string);
  } catch (cause) {
    throw new RecordCorruptError("stored messages can't be read", { cause });
  }
  if (Array.isArray(messages) && messages.length <= MAX_MESSAGES) return messages;
  throw new RecordCorruptError("stored messages aren't an array, or there are too many");
}

/** `note` says where it was sent, or why not. */
type Kind = readonly [state: string, tries: number, at?: number, note?: string];

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MAX_BYTES = 1024;

/** Details that can be dropped when there are too many, least important first. */
const ROUGHER: readonly ((progress: MessageProgress) => MessageProgress)[] = [
  (progress) => progress,
  ({ to: _to, code: _code, ...rest }) => rest,
  ({ state, tries }) => ({ state, tries: 2 ** Math.min(13, Math.floor(Math.log2(Math.max(1, tries)))) }),
];

export function deliveryText(progress: readonly MessageProgress[]): string {
  let text = "";
  for (const rougher of ROUGHER) {
    const kinds = new Map<string, string>();
    const of = progress.map((each) => {
      const kind = JSON.stringify(kindOf(rougher(each)));
      if (!kinds.has(kind)) kinds.set(kind, DIGITS[kinds.size] ?? "");
      return kinds.get(kind);
    });
    const is = `[${[...kinds.keys()]}]`;
    text = `{"of":"${of.join("")}","is":${is}}`;
    if (kinds.size <= DIGITS.length && Buffer.byteLength(is) <= MAX_BYTES) break;
  }
  return text;
}

function kindOf({ state, tries, at, to, code }: MessageProgress): Kind {
  const note = to ?? code;
  if (at === undefined) return [state, tries];
  return note === undefined ? [state, tries, at] : [state, tries, at, note];
}

/**
 * @param count the number of messages in the commit
 * @throws RecordCorruptError (`RECORD_CORRUPT`)
 */
function readDelivery(text: string, count: number): readonly MessageProgress[] {
  try {
    const { of, is } = JSON.parse(text) as { of: string; is: readonly Kind[] };
    const kinds = is.map(readKind);
    const progress = Array.from(of, (digit) => kinds[DIGITS.indexOf(digit)]!);
    if (progress.length === count && progress.every(Boolean)) return progress;
  } catch (cause) {
    throw new RecordCorruptError("the progress of a commit's messages can't be read", { cause });
  }
  throw new RecordCorruptError("the progress of a commit's messages belongs to other messages");
}

function readKind([state, tries, at, note]: Kind): MessageProgress {
  const known = MESSAGE_STATES.find((each) => each === state);
  if (known === undefined || !Number.isSafeInteger(tries)) throw new TypeError("no such state");
  const noted = note === undefined ? {} : known === "sent" ? { to: note } : { code: note };
  return { state: known, tries, ...(at !== undefined && { at }), ...noted };
}

const TABLE_OF_STREAM = /:table\/([^/]+)\/stream\//;
const WITHOUT_NEW_IMAGES = /^(?:KEYS_ONLY|OLD_IMAGE)$/;

/**
 * Accepts other items of the outbox's own table: a table may hold more than records. `tableName` is a name or an ARN.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`)
 */
export function refuseForeign(change: unknown, { TableName: tableName, keyOf }: RecordTable): void {
  const { eventSourceARN, dynamodb } = Object(change) as Readonly<Record<string, unknown>>;
  const [, fed] = TABLE_OF_STREAM.exec(`${eventSourceARN}`) ?? [];
  const own = tableName.slice(tableName.lastIndexOf("/") + 1);
  if (fed !== undefined && fed !== own) {
    throw new PayloadInvalidError(
      `the change comes from the table ${fed}, but the outbox is in the table ${own}: connect outboxRelay to the stream of ${own}`,
    );
  }
  const { StreamViewType, Keys } = Object(dynamodb) as Readonly<Record<string, unknown>>;
  const names = Object.keys(Object(Keys)).sort();
  const expected = Object.keys(keyOf("")).sort();
  if (names.length > 0 && names.join() !== expected.join()) {
    throw new PayloadInvalidError(
      `the table ${own} has the key ${names.join(" and ")}, but the outbox expects ${expected.join(" and ")}: set \`partitionKey\`, and \`sortKey\` if it has one, on the outbox or on OutboxRelay`,
    );
  }
  if (!WITHOUT_NEW_IMAGES.test(`${StreamViewType}`)) return;
  throw new PayloadInvalidError(
    `the stream of the table ${own} has the view type ${StreamViewType}, which doesn't contain the messages: use NEW_IMAGE or NEW_AND_OLD_IMAGES`,
  );
}
