/**
 * Places of a result and of messages, by their size: the record while it stays small, else items of their own. No I/O.
 */

import { gzipSync } from "node:zlib";
import { OUTBOX_SHARDS } from "../contract.ts";
import { OutboxTransactionTooLargeError, StoreUnavailableError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import { destinationOf } from "../core/messages/address.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import type { Insertion, Settlement } from "../core/store.ts";
import type { RecordTable, Values } from "./record-table.ts";
import { serviceText } from "./service-text.ts";
import { type Item, MAX_ITEM_BYTES, MAX_TEXT_BYTES, sizeOf } from "./values.ts";

/** The names and values of what every record has but its key. */
const AROUND_RESULT_BYTES = 256;

/** One write unit: within it nothing is gained by compression. */
const SMALL_RECORD_BYTES = 1024;

/**
 * Five write units: so much a refused claim may cost. Below that a second item costs every first run more than it saves
 * the rare replay.
 */
const MAX_RECORD_BYTES = 5 * SMALL_RECORD_BYTES;

export interface PlacedResult {
  /** The attributes that say in the record where the result is. */
  readonly values: Values;
  /** What they point to. It has to be there no later than the record, which must never point to nothing. */
  readonly item?: Item;
}

/** @param messageBytes what messages, and how far they get, take in the record */
export function placeResult(
  table: RecordTable,
  {
    recordKey,
    token,
    expiresAt,
    result,
    messages,
  }: Pick<Settlement | Insertion, "recordKey" | "token" | "expiresAt" | "result" | "messages">,
  messageBytes: number,
): PlacedResult {
  if (result === undefined) return { values: {} };
  const around = AROUND_RESULT_BYTES + sizeOf(table.keyOf(recordKey));
  const bytes = sizeOf(result);
  if (bytes <= SMALL_RECORD_BYTES - around) return { values: { result } };
  if (bytes > MAX_TEXT_BYTES) return { values: { resultBytes: bytes } };
  const compressed = gzipSync(result);
  if (compressed.length <= MAX_RECORD_BYTES - around - messageBytes)
    return { values: { result: compressed } };

  // One address per attempt and content: what lies there never changes, whoever writes late.
  const resultItem = `${recordKey}#${hashTuple(token, result)}`;
  // While its record has unsent messages neither of them expires: the mark gives both their expiry.
  const expiry = messages.length > 0 ? undefined : expiresAt;
  const item = table.itemOf({ partitionKey: resultItem, expiresAt: expiry, result: compressed });
  if (sizeOf(item) > MAX_ITEM_BYTES) return { values: { resultBytes: bytes } };
  return { values: { resultItem }, item };
}

/** Left for what senders write beside the messages. */
const SENDERS_BYTES = 512;

/** With 1 KB of record and result, 5 write units: so much a refused claim may cost. A larger result gives way. */
const MAX_IN_RECORD_BYTES = 4096 - SENDERS_BYTES;

/** A key is longer than most where it takes more than this of the first kilobyte. */
const USUAL_KEY_BYTES = 512;

/** What is left of an item beside the largest key and everything else of it. */
const MAX_MESSAGES_BYTES = MAX_ITEM_BYTES - 8192;

/** An item takes so much beside its messages, in a transaction: the largest key and the names of its attributes. */
const AROUND_MESSAGES_BYTES = 2560;

/** A transaction takes 100 actions, and one is the record's. */
export const MAX_MESSAGE_ITEMS = 99;

/** More would be a batch job: each is a request, where all are of one group. */
export const MAX_MESSAGES = 1000;

export interface PlacedMessages {
  /** Attributes of the record. While it has any it does not expire: what was committed is sent, however late. */
  readonly values: Values;
  /** In the transaction of the record. */
  readonly items: readonly Item[];
  readonly bytes: number;
  /** What they take in the record, now or once they are under way. */
  readonly inRecord: number;
}

type Commit = Pick<Settlement | Insertion, "recordKey" | "token" | "now" | "expiresAt">;

/** @throws OutboxTransactionTooLargeError (`OUTBOX_TRANSACTION_TOO_LARGE`) for a message that fits no item, or too many. */
export function placeMessages(
  table: RecordTable,
  messages: readonly StoredMessage[],
  { recordKey, token, now, expiresAt }: Commit,
  shards = OUTBOX_SHARDS,
): PlacedMessages {
  const [first] = messages;
  if (messages.length > MAX_MESSAGES) {
    throw new OutboxTransactionTooLargeError(
      `a commit takes at most ${MAX_MESSAGES} messages, got ${messages.length}: send one that names them all`,
    );
  }
  if (!first) return { values: {}, items: [], bytes: 0, inRecord: 0 };
  const texts = packTexts(messages);
  const bytes = sizeOf(texts);
  const waiting = {
    unsentShard: shardOf(first, shards),
    unsentSince: now,
    expiresOnceSent: expiresAt,
    expiresAt: undefined,
    // What is left of a former operation under this key.
    delivery: undefined,
  };
  const room = MAX_IN_RECORD_BYTES - Math.max(0, sizeOf(recordKey) - USUAL_KEY_BYTES);
  if (texts.length === 1 && sizeOf(texts[0]) <= room) {
    return { values: { ...waiting, messages: texts[0] }, items: [], bytes, inRecord: bytes + SENDERS_BYTES };
  }
  const items = texts.map((messages, index) =>
    table.itemOf({ partitionKey: messageItemKey(recordKey, token, index), messages }),
  );
  const inAll = bytes + items.length * AROUND_MESSAGES_BYTES;
  return { values: { ...waiting, messageItems: items.length }, items, bytes: inAll, inRecord: SENDERS_BYTES };
}

/**
 * Without an outbox, or without `commits`, a grant leaves out the attributes that hold messages, and IAM does not say so.
 */
export function explainRefusal(error: unknown): unknown {
  const { failure, cause } = error as StoreUnavailableError;
  const { name, message } = Object(cause);
  if (!/^AccessDenied/.test(name)) return error;
  const why = `${serviceText(name, message, [])}; messages take a table with an outbox, and a grant with \`commits\``;
  return new StoreUnavailableError(failure, cause, why, error as StoreUnavailableError);
}

export function messageItemKey(recordKey: string, token: string, index: number): string {
  return `${recordKey}#messages#${hashTuple(token)}#${index}`;
}

/** JSON arrays, in order, each of which fits an item. */
function packTexts(messages: readonly StoredMessage[]): string[] {
  const packs: string[][] = [];
  let room = 0;
  for (const [index, message] of messages.entries()) {
    const text = JSON.stringify(message);
    const bytes = sizeOf(text) + 1;
    if (bytes > MAX_MESSAGES_BYTES) {
      throw new OutboxTransactionTooLargeError(
        `messages[${index}] is ${bytes} bytes, ${MAX_MESSAGES_BYTES} can be stored: check it in by S3Bodies, or send its address`,
      );
    }
    if (bytes > room) {
      packs.push([]);
      room = MAX_MESSAGES_BYTES;
    }
    packs.at(-1)?.push(text);
    room -= bytes;
  }
  return packs.map((texts) => `[${texts}]`);
}

/**
 * Messages that are kept in order share a shard, which lists them in the order of their commits. A busy group without
 * an order does not make its shard busy.
 */
function shardOf(message: StoredMessage, shards: number): number {
  const { queue, topic, group, key } = message;
  const line = (queue ?? topic)?.endsWith(".fifo") ? group : undefined;
  return (
    Buffer.from(hashTuple(destinationOf(message), `${line ?? key}`), "base64url").readUInt32BE() % shards
  );
}
