/** The starting points of the cases about steps. */
import assert from "node:assert/strict";
import type { StoredStep } from "../../core/record.ts";
import type { SettleAnswer, StepChange, Store } from "../../core/store.ts";
import { claimOf, EXPIRES_AT, freshRecordKey, LEASE_ENDS_AT, NOW, won } from "./given.ts";

export const DONE: StoredStep = { state: "done", attempt: 1, at: NOW };
export const BEGUN: StoredStep = { state: "begun", attempt: 1, at: NOW };

/** The first step of a claim made at NOW. */
export function stepOf<Write>(recordKey: string, change: Partial<StepChange<Write>> = {}): StepChange<Write> {
  return {
    recordKey,
    token: "token-1",
    name: "charge",
    step: DONE,
    resultExpiresAt: EXPIRES_AT,
    isFirst: true,
    leaseEndsAt: LEASE_ENDS_AT,
    writes: [],
    ...change,
  };
}

/** A store that supports steps; the cases don't cover others. */
export type WithSteps<Write> = Store<Write> & Required<Pick<Store<Write>, "writeStep">>;

export function withSteps<Write>(store: Store<Write>): store is WithSteps<Write> {
  return store.writeStep !== undefined;
}

export function settled(answer: SettleAnswer) {
  assert.ok(answer.settled, "the step must be written");
  return answer;
}

export async function claimed<Write>(store: Store<Write>): Promise<string> {
  const recordKey = freshRecordKey();
  await won(store, claimOf(recordKey));
  return recordKey;
}
