/** Forgets what a finished operation has answered, and keeps the fact that it happened. */
import { type Clock, systemClock } from "../core/clock.ts";
import { identify, PUBLIC_SCOPE } from "../core/identity.ts";
import { type Check, checkOptions, ENGINE_CHECKS, methods, text } from "../core/option-checks.ts";
import type { State } from "../core/record.ts";
import type { RecordCache } from "../core/record-cache.ts";
import { encodeEvidence } from "../core/verify.ts";
import { CLIENT_CHECKS, checkStoreOptions, type DynamoDBStoreOptions } from "./options.ts";
import { readRecord, recordTable, STILL_SEEN } from "./record-table.ts";
import { sdkConnection } from "./sdk-connection.ts";
import { send } from "./send.ts";

/** The table and the client of the store, and what names the operation, as its handler does. */
export interface EraseOptions extends Omit<DynamoDBStoreOptions, "outbox"> {
  readonly operation: string;
  /** @default - the operation belongs to nobody */
  readonly scope?: string;
  /**
   * The cache in front of the store, as `in` of `cached` has it: it forgets the result too.
   * @default - none
   */
  readonly cache?: RecordCache;
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
  cache: methods("forget"),
  clock: ENGINE_CHECKS.clock,
};

const ERASURE_CHECKS: Readonly<Record<keyof Erasure, Check>> = { by: text(256), why: text(256) };

/**
 * Erases the stored result of a key that is completed or has failed, also where the result has an item of its own. The record
 * stays for the rest of its retention: nothing runs again under the key, and a replay throws `ResultNotKeptError`. Hashes of key
 * and payload stay, and so does the scope in the key of the record. Erasing twice changes nothing.
 *
 * Two requests; the role needs `dynamodb:GetItem`, `dynamodb:UpdateItem` and `dynamodb:DeleteItem`.
 * Results of steps of more than 3 KB have items of their own, which stay until they expire.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) before any I/O;
 * StoreUnavailableError (`STORE_UNAVAILABLE`): call again; RecordCorruptError (`RECORD_CORRUPT`).
 */
export async function eraseResult(
  options: EraseOptions,
  key: string,
  erasure: Erasure,
): Promise<EraseAnswer> {
  const { operation, scope, cache, clock, ...tableOptions } = options;
  checkStoreOptions(tableOptions, CLIENT_CHECKS);
  checkOptions({ operation, scope, cache, clock }, ERASE_CHECKS, ["operation"]);
  const { recordKey } = identify(operation, scope ?? PUBLIC_SCOPE, key);
  const answer = await eraseRecord({ ...tableOptions, ...(clock && { clock }) }, recordKey, erasure);
  // Afterwards, or a replay in between would remember the result anew.
  await cache?.forget({ operation, scope, key });
  return answer;
}

/** As `eraseResult`, for the key of a record, as lists name it. */
async function eraseRecord(
  { clock, ...tableOptions }: DynamoDBStoreOptions & Pick<EraseOptions, "clock">,
  recordKey: string,
  erasure: Erasure,
): Promise<EraseAnswer> {
  checkStoreOptions(tableOptions, CLIENT_CHECKS);
  checkOptions({ clock }, ERASE_CHECKS, []);
  checkOptions(erasure, ERASURE_CHECKS, ["by", "why"]);
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
  const values = { result: undefined, resultItem: undefined, resultBytes: 0, evidence };
  const seen = { seenToken: token, seenState: state, seenLeaseEndsAt: leaseEndsAt };
  const Update = table.updateOf(recordKey, STILL_SEEN, values, seen);
  const { refusedBy } = await (result.in === "record"
    ? send(connection, "UpdateItem", Update)
    : send(connection, "TransactWriteItems", {
        TransactItems: [{ Update }, { Delete: { TableName, Key: keyOf(result.address) } }],
      }));
  // Its retention was over, and somebody claims it anew.
  return refusedBy
    ? { erased: false, state: readRecord(table, refusedBy)?.state ?? "absent" }
    : { erased: true };
}
