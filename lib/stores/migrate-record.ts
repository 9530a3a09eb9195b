/** Copies one record from a store to another, with the same token, so that both see it as one attempt. */

import { hasCode } from "../core/error-code.ts";
import { type IdempotencyRecord, isClaimOf } from "../core/record.ts";
import type { Claim, Settlement } from "../core/store.ts";
import { bringSteps, textOf } from "./bring-steps.ts";
import type { Stores } from "./pair.ts";
import { isOver, resultAt } from "./pair.ts";

/** Resolves to whether the other store accepted it: `false` if a result is gone, or the record has changed in the meantime. */
export async function migrateRecord(stores: Stores, recordKey: string, now: number): Promise<boolean> {
  const record = await stores.from.find(recordKey, { consistent: true });
  const there = await stores.to.find(recordKey, { consistent: true });
  if (!record) return true;
  try {
    return await bring(stores, recordKey, record, there, now);
  } catch (error) {
    if (hasCode(error, "RECORD_CORRUPT")) return false;
    throw error;
  }
}

async function bring(
  stores: Stores,
  recordKey: string,
  record: IdempotencyRecord,
  there: IdempotencyRecord | undefined,
  now: number,
): Promise<boolean> {
  const { state, token, fingerprint, attempt, createdAt, expiresAt, leaseEndsAt, evidence } = record;
  const result = await textOf(stores, record.result && resultAt("from", record.result));
  const end = { recordKey, token, result, evidence, expiresAt, writes: [], messages: [] };
  const beginning = { recordKey, token, fingerprint, attempt, createdAt, keepsSteps: false, expiresAt };
  const isKnown = isClaimOf(there, token);
  if (isOver(record) && !isKnown) {
    const over = { ...beginning, ...end, state: state as "completed", expiresAt: expiresAt as number };
    const { settled } = await stores.to.insert({ ...over, now: record.completedAt ?? now }, there);
    return settled;
  }
  const claim: Claim = { ...beginning, leaseEndsAt };
  if (!isKnown && !(await stores.to.claim(claim, there)).won) return false;
  if (!isOver(record))
    await bringSteps(stores, claim, { from: record, to: isKnown ? there : undefined }, now);
  if (state === "in-progress") return true;
  const settlement: Settlement = {
    ...end,
    state,
    now: record.completedAt ?? now,
    isListed: (isKnown ? there?.expiresAt : expiresAt) === undefined && expiresAt !== undefined,
    dropsSteps: isOver(record) && there?.steps !== undefined,
  };
  return (await stores.to.settle(settlement)).settled;
}
