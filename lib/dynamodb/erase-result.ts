/** Forgets what a finished operation has answered, and keeps the fact that it happened. */
import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { type Clock, systemClock } from "../core/clock.ts";
import { identify, PUBLIC_SCOPE } from "../core/identity.ts";
import { type Check, checkOptions, ENGINE_CHECKS, text } from "../core/option-checks.ts";
import type { State } from "../core/record.ts";
import { encodeEvidence } from "../core/verify.ts";
import { CLIENT_CHECKS, checkStoreOptions, type DynamoDBStoreOptions } from "./options.ts";
import { readRecord, recordTable, STILL_SEEN, UNFINISHED } from "./record-table.ts";
import { sdkConnection } from "./sdk-connection.ts";
import { send } from "./send.ts";

/** The table and the client of the store, and what names the operation, as its handler does. */
export interface EraseOptions extends Omit<DynamoDBStoreOptions, "outbox"> {
  readonly operation: string;
  /** @default - the operation belongs to nobody */
  readonly scope?: string;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

/** Who erases, and why: stored with the record, 256 characters at most each. No payloads, no secrets. */
export interface Erasure {
  readonly by: string;
  readonly why: string;
}

/** `waiting`: messages of the record are not sent yet, and hold what it is about: send or drop them first. */
export type EraseAnswer =
  | { readonly erased: true }
  | { readonly erased: false; readonly state: State | "absent" | "waiting" };

const ERASE_CHECKS: Readonly<Record<string, Check>> = {
  operation: ENGINE_CHECKS.operation,
  scope: text(256),
  clock: ENGINE_CHECKS.clock,
};

const ERASURE_CHECKS: Readonly<Record<keyof Erasure, Check>> = { by: text(256), why: text(256) };

/**
 * Erases the stored result of a key that is completed or has failed, also where the result has an item of its own. The record
 * stays for the rest of its retention: nothing runs again under the key, and a replay throws `ResultNotKeptError`. Hashes of key
 * and payload stay, and so does the scope in the key of the record. Erasing twice changes nothing.
 *
 * Three requests at most; the role needs `dynamodb:GetItem`, `dynamodb:UpdateItem` and `dynamodb:DeleteItem`.
 * Results of steps of more than 3 KB have items of their own, which stay until they expire.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) before any I/O;
 * StoreUnavailableError (`STORE_UNAVAILABLE`): call again; RecordCorruptError (`RECORD_CORRUPT`).
 */
export async function eraseResult(
  { operation, scope, clock, ...tableOptions }: EraseOptions,
  key: string,
  erasure: Erasure,
): Promise<EraseAnswer> {
  checkStoreOptions(tableOptions, CLIENT_CHECKS);
  checkOptions({ operation, scope, clock }, ERASE_CHECKS, ["operation"]);
  checkOptions(erasure, ERASURE_CHECKS, ["by", "why"]);
  const { recordKey } = identify(operation, scope ?? PUBLIC_SCOPE, key);
  const table = recordTable(tableOptions);
  const { TableName, names, keyOf } = table;
  const connection = sdkConnection(tableOptions);
  const { Item } = await send(connection, "GetItem", {
    TableName,
    Key: keyOf(recordKey),
    ConsistentRead: true,
  });
  const record = readRecord(table, Item);
  if (record?.state !== "completed" && record?.state !== "failed")
    return { erased: false, state: record?.state ?? "absent" };
  if (Item?.[names.unsentSince]) return { erased: false, state: "waiting" };
  const { state, token, leaseEndsAt, attempt, result } = record;
  if (!result || result.in === "nowhere") return { erased: true };
  const { by, why: answered } = erasure;
  const at = (clock ?? systemClock).now();
  const evidence = encodeEvidence({
    verdict: "happened",
    by,
    at,
    attempt,
    asked: "to erase the result",
    answered,
  });
  const { result: held, resultItem: moved } = UNFINISHED;
  const values = { result: held, resultItem: moved, resultBytes: 0, evidence };
  const seen = { seenToken: token, seenState: state, seenLeaseEndsAt: leaseEndsAt };
  const Update = table.updateOf(recordKey, STILL_SEEN, values, seen);
  const others: TransactWriteItem[] =
    result.in === "item" ? [{ Delete: { TableName, Key: keyOf(result.address) } }] : [];
  const { refusedBy } = await (others.length > 0
    ? send(connection, "TransactWriteItems", { TransactItems: [{ Update }, ...others] })
    : send(connection, "UpdateItem", Update));
  // Its retention was over, and somebody claims it anew.
  return refusedBy
    ? { erased: false, state: readRecord(table, refusedBy)?.state ?? "absent" }
    : { erased: true };
}
