/**
 * Where a result goes, by its size: into the record while that stays within five write units, as it is or compressed; else
 * into an item of its own; else nowhere. A further place for what fits no item belongs in front of the last step, and is
 * told apart by its address.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { RecordCorruptError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import type { Insertion, Settlement } from "../core/store.ts";
import type { RecordTable, Values } from "./record-table.ts";
import { MAX_ITEM_BYTES, sizeOf } from "./sizes.ts";
import type { Item } from "./values.ts";

/** The names and values of what every record has but its key. */
const AROUND_RESULT_BYTES = 256;

/** One write unit: within it nothing is gained by compression. */
const SMALL_RECORD_BYTES = 1024;

/**
 * Five write units: so much a refused claim may cost. Below that a second item costs every first run more than it saves
 * the rare replay.
 */
const MAX_RECORD_BYTES = 5 * SMALL_RECORD_BYTES;

/** Of the text of a result. A compressed item could unfold to a thousand times its size, in the memory of a function. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

export interface PlacedResult {
  /** The attributes that say in the record where the result is. */
  readonly values: Values;
  /** What they point to. It has to be there no later than the record, which must never point to nothing. */
  readonly item?: Item;
}

/** @param messageBytes what messages, and how far they get, take in the record */
export function placeResult(
  table: RecordTable,
  { recordKey, token, expiresAt, result, messages }: Omit<Settlement | Insertion, "writes">,
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

/** The text of a `result` attribute. */
export function readText(value: AttributeValue | undefined): string {
  if (value?.S !== undefined) return value.S;
  try {
    return gunzipSync(value?.B as Uint8Array, { maxOutputLength: MAX_TEXT_BYTES }).toString();
  } catch (cause) {
    throw new RecordCorruptError("the stored result cannot be read", { cause });
  }
}
