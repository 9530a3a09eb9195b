/** Decides by size where a result and messages go: in the record while it stays small, otherwise in separate items. No I/O. */

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

/** The attributes that every record has except its key, names and values. */
const AROUND_RESULT_BYTES = 256;

/** One write unit: compressing anything smaller saves nothing. */
const SMALL_RECORD_BYTES = 1024;

/**
 * Five write units: the most a refused claim may cost. Below that, a second item costs every first run more than it saves the
 * rare replay.
 */
const MAX_RECORD_BYTES = 5 * SMALL_RECORD_BYTES;

export interface PlacedResult {
  /** The attributes that say in the record where the result is. */
  readonly values: Values;
  /** The item they point to. It must be written no later than the record, which must never point to a missing item. */
  readonly item?: Item;
}

/** @param messageBytes how much messages and their progress occupy in the record */
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

  // One address per attempt and content: the item there never changes, even if a write arrives late.
  const resultItem = `${recordKey}#${hashTuple(token, result)}`;
  // Neither of them expires while the record has unsent messages: marking them as sent gives both their expiry.
  const expiry = messages.length > 0 ? undefined : expiresAt;
  const item = table.itemOf({ partitionKey: resultItem, expiresAt: expiry, result: compressed });
  if (sizeOf(item) > MAX_ITEM_BYTES) return { values: { resultBytes: bytes } };
  return { values: { resultItem }, item };
}

/** Reserved for the fields that senders write next to the messages. */
const SENDERS_BYTES = 512;

/** 5 write units with 1 KB of record and result: the most a refused claim may cost. A larger result moves out. */
const MAX_IN_RECORD_BYTES = 4096 - SENDERS_BYTES;

/** A key that occupies more than this of the first kilobyte is unusually long. */
const USUAL_KEY_BYTES = 512;

/** The room left in an item next to the largest key and all its other attributes. */
const MAX_MESSAGES_BYTES = MAX_ITEM_BYTES - 8192;

/** The overhead of a message item in a transaction: the largest key and its attribute names. */
const AROUND_MESSAGES_BYTES = 2560;

/** A transaction allows 100 actions, and the record needs one. */
export const MAX_MESSAGE_ITEMS = 99;

/** More would be a batch job: each message is one request if all are in one group. */
export const MAX_MESSAGES = 1000;

export interface PlacedMessages {
  /** Attributes of the record. A record with any of them doesn't expire: committed messages are sent, however late. */
  readonly values: Values;
  /** Written in the record's transaction. */
  readonly items: readonly Item[];
  readonly bytes: number;
  /** Their size in the record, now or once they are being sent. */
  readonly inRecord: number;
}

type Commit = Pick<Settlement | Insertion, "recordKey" | "token" | "now" | "expiresAt">;

/** @throws OutboxTransactionTooLargeError (`OUTBOX_TRANSACTION_TOO_LARGE`) for a message that fits in no item, or too many. */
export function placeMessages(
  table: RecordTable,
  messages: readonly StoredMessage[],
  { recordKey, token, now, expiresAt }: Commit,
  shards = OUTBOX_SHARDS,
): PlacedMessages {
  const [first] = messages;
  if (messages.length > MAX_MESSAGES) {
    throw new OutboxTransactionTooLargeError(
      `a commit can have at most ${MAX_MESSAGES} messages (got ${messages.length}): send one message that lists them all`,
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
    // Left over from a previous operation under this key.
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

/** Without an outbox, or without `commits`, a grant omits the attributes for messages, and IAM's error doesn't say so. */
export function explainRefusal(error: unknown): unknown {
  const { failure, cause } = error as StoreUnavailableError;
  const { name, message } = Object(cause);
  if (!/^AccessDenied/.test(name)) return error;
  const why = `${serviceText(name, message, [])}; to commit messages, the table needs an outbox, and the function a grant with \`commits\``;
  return new StoreUnavailableError(failure, cause, why, error as StoreUnavailableError);
}

export function messageItemKey(recordKey: string, token: string, index: number): string {
  return `${recordKey}#messages#${hashTuple(token)}#${index}`;
}

/** JSON arrays, in order, each of which fits in an item. */
function packTexts(messages: readonly StoredMessage[]): string[] {
  const packs: string[][] = [];
  let room = 0;
  for (const [index, message] of messages.entries()) {
    const text = JSON.stringify(message);
    const bytes = sizeOf(text) + 1;
    if (bytes > MAX_MESSAGES_BYTES) {
      throw new OutboxTransactionTooLargeError(
        `messages[${index}] is ${bytes} bytes, but only ${MAX_MESSAGES_BYTES} can be stored: store it in a bucket with S3ClaimCheck, or send a link to it`,
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
 * Ordered messages share a shard, which lists them in the order of their commits. A busy unordered group doesn't overload a
 * shard.
 */
function shardOf(message: StoredMessage, shards: number): number {
  const { queue, topic, group, key } = message;
  const line = (queue ?? topic)?.endsWith(".fifo") ? group : undefined;
  return (
    Buffer.from(hashTuple(destinationOf(message), `${line ?? key}`), "base64url").readUInt32BE() % shards
  );
}
