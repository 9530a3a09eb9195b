/** What senders of messages write to a record. No I/O. */
import type { TransactWriteItem, Update } from "@aws-sdk/client-dynamodb";
import { parkedShard, RECORD_VERSION } from "../contract.ts";
import type { MessageProgress, Taking } from "../core/messages/outbox.ts";
import { freeFor, PARKABLE, STILL_UNSENT, unsentAsSeen } from "./conditions.ts";
import { deliveryText } from "./delivery-text.ts";
import { messageItemKey } from "./messages.ts";
import type { RecordTable, Values } from "./record-table.ts";
import { toItem } from "./values.ts";
import type { WaitingRecord } from "./waiting-record.ts";

/** Nobody has it any more. */
const GIVEN_BACK = { sendingUntil: undefined, sender: undefined };

const RELAY = "relay/";

/** As it stands in the record. */
export function senderOf({ by, id }: Pick<Taking, "by" | "id">): string {
  return `${by}/${id}`;
}

export function takeChange(
  table: RecordTable,
  recordKey: string,
  { by, id, now, until, dueAt }: Taking,
): Update {
  const { names, TableName, keyOf } = table;
  return {
    TableName,
    Key: keyOf(recordKey),
    ConditionExpression: freeFor(by === "relay", dueAt !== undefined),
    UpdateExpression: "SET #sendingUntil = :until, #sender = :sender",
    ExpressionAttributeNames: {
      "#unsentSince": names.unsentSince,
      "#unsentShard": names.unsentShard,
      "#version": names.version,
      "#sendingUntil": names.sendingUntil,
      "#sender": names.sender,
    },
    ExpressionAttributeValues: toItem({
      ":version": RECORD_VERSION,
      ":zero": 0,
      ":now": now,
      ":until": until,
      ":sender": senderOf({ by, id }),
      ":relay": by === "relay" ? RELAY : undefined,
      ":dueAt": dueAt,
    }),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
}

/** Only while nobody else has changed or taken it since it was seen. `isGivenBack` if whoever saw it had taken it. */
export function keepChange(
  table: RecordTable,
  seen: WaitingRecord,
  progress: readonly MessageProgress[],
  dueAt: number,
  isGivenBack: boolean,
  more: Values = {},
): Update {
  const { recordKey, token, delivery, sendingUntil } = seen;
  const shard = seen.shard < 0 ? parkedShard(seen.shard) : seen.shard;
  const waits = progress.some(({ state }) => state === "waiting");
  const values = {
    delivery: deliveryText(progress),
    unsentShard: waits ? shard : parkedShard(shard),
    unsentSince: dueAt,
    // A record does not expire before its messages are sent.
    expiresAt: undefined,
    ...(isGivenBack && GIVEN_BACK),
    ...more,
  };
  return table.updateOf(recordKey, unsentAsSeen(delivery !== undefined, sendingUntil !== undefined), values, {
    token,
    ...(delivery !== undefined && { seenDelivery: delivery }),
    ...(sendingUntil !== undefined && { seenUntil: sendingUntil }),
  });
}

/** The record's change first; then its items of messages go, and its result gets the same expiry. */
export function markChanges(
  table: RecordTable,
  { recordKey, token, expiresOnceSent, messageItems, resultItem }: WaitingRecord,
  progress: readonly MessageProgress[] | undefined,
): readonly TransactWriteItem[] {
  const { TableName, updateOf, expiryOf, keyOf } = table;
  const sent = {
    expiresAt: expiresOnceSent,
    delivery: progress && deliveryText(progress),
    messages: undefined,
    messageItems: undefined,
    unsentShard: undefined,
    unsentSince: undefined,
    expiresOnceSent: undefined,
    ...GIVEN_BACK,
  };
  const Update = updateOf(recordKey, STILL_UNSENT, sent, { token });
  const deletions = messageItemKeys(recordKey, token, messageItems).map((key) => ({
    Delete: { TableName, Key: keyOf(key) },
  }));
  const ofResult = resultItem && expiresOnceSent ? [{ Update: expiryOf(resultItem, expiresOnceSent) }] : [];
  return [{ Update }, ...deletions, ...ofResult];
}

/** No record has this key: theirs begin with an operation. */
export const NOTES_KEY = "#outbox";

/** Only while they are still the former ones. */
export function notesChange(table: RecordTable, former: string | undefined, notes: string): Update {
  const condition = former === undefined ? "attribute_not_exists(#notes)" : "#notes = :former";
  return table.updateOf(NOTES_KEY, condition, { notes }, former === undefined ? {} : { former });
}

/** A record that cannot be read has no token to go by. */
export function parkChange(table: RecordTable, recordKey: string, now: number): Update {
  const values = { unsentShard: parkedShard(0), unsentSince: now, expiresAt: undefined, ...GIVEN_BACK };
  const bound = { version: RECORD_VERSION, number: "N", zero: 0 };
  return table.updateOf(recordKey, PARKABLE, values, bound);
}

export function messageItemKeys(recordKey: string, token: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => messageItemKey(recordKey, token, index));
}
