/** What is written to a record at each step, in the form of a transaction's action. No I/O. */
import type { Put, Update } from "@aws-sdk/client-dynamodb";
import { RECORD_VERSION } from "../contract.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { Claim, Insertion, Settlement } from "../core/store.ts";
import { CLAIMABLE, MINE, STILL_EXPIRED } from "./conditions.ts";
import type { RecordTable, Values } from "./record-table.ts";

export type RecordWrite = { readonly Put: Put } | { readonly Update: Update };

const STATES = { inProgress: "in-progress", released: "released" };

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
  const same = fingerprints.map((_, index) => `:same${index}`);
  const bound = table.bind(
    {
      ...STATES,
      ...times,
      ...begun,
      zero: 0,
      one: 1,
      ...Object.fromEntries(fingerprints.map((fingerprint, index) => [`same${index}`, fingerprint])),
    },
    CLAIMABLE.replaceAll(":same", `${same}`),
    updateExpression(
      begun,
      "#attempt = if_not_exists(#attempt, :zero) + :one, #createdAt = if_not_exists(#createdAt, :now), ",
    ),
  );
  return { Update: { Key: table.key(recordKey), ...bound } };
}

export function settleChange(
  table: RecordTable,
  { recordKey, token, state, now, expiresAt }: Omit<Settlement, "writes">,
  result: Values,
): RecordWrite {
  const isFinal = state === "completed" || state === "failed";
  const values = { ...NO_RESULT, ...result, state, expiresAt, completedAt: isFinal ? now : undefined };
  const bound = table.bind({ ...STATES, ...values, token }, MINE, updateExpression(values));
  return { Update: { Key: table.key(recordKey), ...bound } };
}

/** Sets what has a value, and removes what is `undefined`. */
function updateExpression(values: Values, others = ""): string {
  const named = (isThere: boolean, text: (name: string) => string) =>
    Object.entries(values)
      .filter(([, value]) => (value !== undefined) === isThere)
      .map(([name]) => text(name));
  const removals = named(false, (name) => `#${name}`);
  return `SET ${others}${named(true, (name) => `#${name} = :${name}`)}${removals.length > 0 ? ` REMOVE ${removals}` : ""}`;
}
