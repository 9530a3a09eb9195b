/** Copies the steps of earlier attempts to the store that lacks them, under a claim in both. */
import { MAX_RETENTION_SECONDS } from "../contract.ts";
import { RecordCorruptError } from "../core/errors.ts";
import { NOT_KEPT } from "../core/outcome.ts";
import type { StoredResult } from "../core/record.ts";
import type { Claim } from "../core/store.ts";
import type { Stores } from "./pair.ts";
import { isSameStep, type Pair, sideOf, stepsOf } from "./pair.ts";

/** @param pair the records before the claim */
export async function bringSteps(stores: Stores, claim: Claim, pair: Pair, now: number): Promise<void> {
  const { recordKey, token, leaseEndsAt } = claim;
  let written = 0;
  for (const side of ["from", "to"] as const) {
    const present = { ...stepsOf({ [side]: pair[side] }, now) };
    let isFirst = Object.keys(present).length === 0;
    for (const [name, stored] of Object.entries(stepsOf(pair, now) ?? {})) {
      if (isSameStep(present[name], stored)) continue;
      const { result: _, ...step } = stored;
      const isKept = stored.result?.in !== "nowhere";
      const result = isKept ? await textOf(stores, stored.result) : NOT_KEPT;
      const seen = present[name];
      const resultExpiresAt = Math.ceil(now / 1000) + MAX_RETENTION_SECONDS;
      await stores[side].writeStep?.({
        ...{ recordKey, token, name, step, result, seen, isFirst, leaseEndsAt, resultExpiresAt, writes: [] },
      });
      isFirst = false;
      written++;
    }
  }
  // A moved lease end shows that a step was written, so it must be the same in both.
  if (written === 0) return;
  const renewal = { recordKey, token, leaseEndsAt: leaseEndsAt + written };
  await Promise.all([stores.from.renew(renewal), stores.to.renew(renewal)]);
}

/** @throws RecordCorruptError (`RECORD_CORRUPT`) if a result was not kept, or is gone */
export async function textOf(stores: Stores, result: StoredResult | undefined): Promise<string | undefined> {
  if (result === undefined) return undefined;
  if (result.in === "record") return result.text;
  const named = result.in === "item" ? sideOf(result.address) : undefined;
  const text = named && (await stores[named.side].loadResult(named.address));
  if (text === undefined) throw new RecordCorruptError("a result that belongs to the record is missing");
  return text;
}
