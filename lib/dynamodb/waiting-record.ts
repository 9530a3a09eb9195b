/** Reads an item as a commit whose messages wait, and writes how far they have got. What has another shape than this code writes fails closed. */

import { PayloadInvalidError, RecordCorruptError } from "../core/errors.ts";
import { MESSAGE_STATES, type MessageProgress, type Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { isKnownVersion } from "../core/record.ts";
import { MAX_MESSAGE_ITEMS, MAX_MESSAGES } from "./placement.ts";
import { type Attribute, ownResult, type RecordTable } from "./record-table.ts";
import type { Item } from "./values.ts";

/** The part of a record that senders need: to send its messages, and to say how far they got. */
export interface WaitingRecord extends Omit<Unsent, "messages"> {
  /** Absent where they are in items of their own. */
  readonly messages: readonly StoredMessage[] | undefined;
  /** The messages are in so many items of their own. */
  readonly messageItems: number;
  /** The result is in an item of its own, under this key. */
  readonly resultItem: string | undefined;
  /** Epoch seconds. */
  readonly expiresOnceSent: number | undefined;
  readonly shard: number;
  /** Epoch ms: when it is due, and until when somebody has taken it. */
  readonly dueAt: number;
  readonly sendingUntil: number | undefined;
  readonly sender: string | undefined;
  /** As it is stored. */
  readonly delivery: string | undefined;
  /** How many messages are in each of the items of their own. */
  readonly counts?: readonly number[] | undefined;
}

/**
 * `undefined` where there is nothing to send.
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
      `a record of version ${String(version)} has messages that this code cannot read`,
    );
  }
  if (!Number.isInteger(messageItems) || messageItems < 0 || messageItems > MAX_MESSAGE_ITEMS) {
    throw new RecordCorruptError(`messages cannot be in ${String(messageItems)} items`);
  }
  // The commit completed the record.
  const committedAt = number("completedAt") ?? dueAt;
  if (Number.isNaN(new Date(committedAt).getTime())) {
    throw new RecordCorruptError("the time of a commit is no time");
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

/** With the messages of its items, in their order. */
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

/** Whether each of them can be sent is for the sender to find out: one that cannot must not hold up the others. */
function readMessages(text: string | undefined): readonly StoredMessage[] {
  let messages: unknown;
  try {
    messages = JSON.parse(text as string);
  } catch (cause) {
    throw new RecordCorruptError("stored messages cannot be read", { cause });
  }
  if (Array.isArray(messages) && messages.length <= MAX_MESSAGES) return messages;
  throw new RecordCorruptError("stored messages are no list, or too many");
}

/** `note` is where it was sent to, or why not. */
type Kind = readonly [state: string, tries: number, at?: number, note?: string];

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MAX_BYTES = 1024;

/** Kinds that may be dropped where there would be too many, the least important first. */
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
 * @param count the commit has so many messages
 * @throws RecordCorruptError (`RECORD_CORRUPT`)
 */
function readDelivery(text: string, count: number): readonly MessageProgress[] {
  try {
    const { of, is } = JSON.parse(text) as { of: string; is: readonly Kind[] };
    const kinds = is.map(readKind);
    const progress = Array.from(of, (digit) => kinds[DIGITS.indexOf(digit)]!);
    if (progress.length === count && progress.every(Boolean)) return progress;
  } catch (cause) {
    throw new RecordCorruptError("what is known of a commit's messages cannot be read", { cause });
  }
  throw new RecordCorruptError("what is known of a commit's messages is about others");
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
 * Other items of the outbox's own table pass: a table may hold more than records. `tableName` is a name or an ARN.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`)
 */
export function refuseForeign(change: unknown, { TableName: tableName, keyOf }: RecordTable): void {
  const { eventSourceARN, dynamodb } = Object(change) as Readonly<Record<string, unknown>>;
  const [, fed] = TABLE_OF_STREAM.exec(`${eventSourceARN}`) ?? [];
  const own = tableName.slice(tableName.lastIndexOf("/") + 1);
  if (fed !== undefined && fed !== own) {
    throw new PayloadInvalidError(
      `the change is of the table ${fed}, and the outbox is of the table ${own}: feed outboxRelay with the stream of ${own}`,
    );
  }
  const { StreamViewType, Keys } = Object(dynamodb) as Readonly<Record<string, unknown>>;
  const names = Object.keys(Object(Keys)).sort();
  const expected = Object.keys(keyOf("")).sort();
  if (names.length > 0 && names.join() !== expected.join()) {
    throw new PayloadInvalidError(
      `the table ${own} has the key ${names.join(" and ")}, and the outbox looks for ${expected.join(" and ")}: give \`partitionKey\`, and \`sortKey\` if it has one, to the outbox or to OutboxRelay`,
    );
  }
  if (!WITHOUT_NEW_IMAGES.test(`${StreamViewType}`)) return;
  throw new PayloadInvalidError(
    `the stream of the table ${own} is of ${StreamViewType}, so that it holds no messages: make it of NEW_IMAGE, or of NEW_AND_OLD_IMAGES`,
  );
}
