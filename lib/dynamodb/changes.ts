/** What is written to a record at each step. No I/O. */
import type { Update } from "@aws-sdk/client-dynamodb";
import { RECORD_VERSION } from "../contract.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { Claim, Effects, Insertion, Settlement } from "../core/store.ts";
import { CLAIMABLE, MINE, STILL_EXPIRED } from "./conditions.ts";
import type { RecordTable, Values } from "./record-table.ts";

const UNFINISHED = {
  result: undefined,
  resultItem: undefined,
  resultBytes: undefined,
  completedAt: undefined,
};

/** What goes of the attempt before where it was another operation's, or nobody claimed. */
export const ANEW = { ...UNFINISHED, steps: undefined, messages: undefined };

/** Makes a record, or gives the one that is there to this token. */
export function beginChange(
  table: RecordTable,
  { recordKey, token, fingerprints, now, expiresAt }: Omit<Claim | Insertion, keyof Effects>,
  values: Values,
  expired: IdempotencyRecord | undefined,
): Update {
  // Expiry has whole seconds, so that rounding down changes no comparison.
  const nowSeconds = Math.floor(now / 1000);
  const [fingerprint] = fingerprints;
  const begun = { ...UNFINISHED, version: RECORD_VERSION, token, fingerprint, expiresAt, ...values };
  if (expired) {
    const reset = { ...begun, attempt: expired.attempt + 1, createdAt: now };
    return table.updateOf(recordKey, STILL_EXPIRED, reset, { seen: expired.token, nowSeconds });
  }
  const same = Object.fromEntries(fingerprints.map((fingerprint, index) => [`same${index}`, fingerprint]));
  const aliases = Object.keys(same).map((name) => `:${name}`);
  return table.updateOf(
    recordKey,
    CLAIMABLE.replaceAll(":same", aliases.join()),
    begun,
    { ...same, now, nowSeconds, released: "released", inProgress: "in-progress", one: 1 },
    "ADD #attempt :one SET #createdAt = if_not_exists(#createdAt, :now), ",
  );
}

export function settleChange(
  table: RecordTable,
  { recordKey, token, state, now, expiresAt }: Omit<Settlement, keyof Effects>,
  values: Values,
): Update {
  const completedAt = state === "completed" || state === "failed" ? now : undefined;
  const settled = { ...UNFINISHED, state, expiresAt, completedAt, ...values };
  return table.updateOf(recordKey, MINE, settled, { token, inProgress: "in-progress" });
}
