/** What is written to a record at each step, in the form of a transaction's action. No I/O. */
import type { Put, Update } from "@aws-sdk/client-dynamodb";
import { RECORD_VERSION } from "../contract.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { Claim, Insertion, Settlement } from "../core/store.ts";
import { CLAIMABLE, MINE, STILL_EXPIRED } from "./conditions.ts";
import type { RecordTable, Values } from "./record-table.ts";

export type RecordWrite = { readonly Put: Put } | { readonly Update: Update };

const NO_RESULT = { result: undefined, resultItem: undefined, resultBytes: undefined };

/** What remains of an attempt before but for its number: nothing, when a record is finished without a claim. */
export const ANEW = { ...NO_RESULT, steps: undefined, messages: undefined };

/** Makes a record, or gives the one that is there to this token. An expired one is reset whole. */
export function beginChange(
  table: RecordTable,
  { recordKey, token, fingerprints, now }: Omit<Claim | Insertion, "writes">,
  values: Values,
  expired: IdempotencyRecord | undefined,
): RecordWrite {
  // Expiry has whole seconds, so that rounding down changes no comparison.
  const times = { now, nowSeconds: Math.floor(now / 1000) };
  const begun = { ...values, version: RECORD_VERSION, token, fingerprint: fingerprints[0] };
  if (expired) {
    const numbers = { attempt: expired.attempt + 1, createdAt: now };
    const Item = table.item({ ...begun, ...numbers, partitionKey: recordKey });
    return { Put: { Item, ...table.bind({ ...times, seen: expired.token }, STILL_EXPIRED) } };
  }
  const same = fingerprints.map((fingerprint, index) => [`same${index}`, fingerprint] as const);
  return updateOf(
    table,
    recordKey,
    CLAIMABLE.replaceAll(":same", same.map(([name]) => `:${name}`).join()),
    begun,
    { ...times, ...Object.fromEntries(same), zero: 0, one: 1 },
    "#attempt = if_not_exists(#attempt, :zero) + :one, #createdAt = if_not_exists(#createdAt, :now), ",
  );
}

export function settleChange(
  table: RecordTable,
  { recordKey, token, state, now, expiresAt }: Omit<Settlement, "writes">,
  result: Values,
): RecordWrite {
  const isFinal = state === "completed" || state === "failed";
  const values = { ...NO_RESULT, ...result, state, expiresAt, completedAt: isFinal ? now : undefined };
  return updateOf(table, recordKey, MINE, values, { token });
}

/** Sets the values that are there, and removes those that are `undefined`. */
function updateOf(
  table: RecordTable,
  recordKey: string,
  condition: string,
  values: Values,
  others: Readonly<Record<string, unknown>>,
  assignments = "",
): RecordWrite {
  const names = (isThere: boolean) =>
    Object.entries(values).flatMap(([name, value]) => ((value !== undefined) === isThere ? [name] : []));
  const removed = names(false).map((name) => `#${name}`);
  const update = `SET ${assignments}${names(true).map((name) => `#${name} = :${name}`)}`;
  const bound = table.bind(
    { inProgress: "in-progress", released: "released", ...others, ...values },
    condition,
    removed.length > 0 ? `${update} REMOVE ${removed}` : update,
  );
  return { Update: { Key: table.key(recordKey), ...bound } };
}
