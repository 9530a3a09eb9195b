/**
 * The starting points of the contract's cases: fresh keys, a fixed time, and claims and settlements at that
 * time.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { hasCode, isStoreFailure } from "../../core/error-code.ts";
import { identify } from "../../core/identity.ts";
import type { IdempotencyRecord, StoredSteps } from "../../core/record.ts";
import type { Claim, Insertion, Renewal, Settlement, Store } from "../../core/store.ts";
import type { StoreSubject } from "./store-subject.ts";

export type Cases<Write> = Readonly<Record<string, (subject: StoreSubject<Write>) => Promise<void>>>;

/** A whole second, ahead of the present: a database that deletes by TTL leaves the records alone. */
export const NOW = Math.ceil(Date.now() / 1000) * 1000 + 3_600_000;
/** The end of the lease of a claim made at NOW. */
export const LEASE_ENDS_AT = NOW + 30_000;
/** Just after the lease of a claim made at NOW. */
export const AFTER_LEASE = LEASE_ENDS_AT + 1;
/** The expiry of records written at NOW, in epoch seconds. */
export const EXPIRES_AT = NOW / 1000 + 86_400;
/** The same in epoch ms. */
export const AFTER_EXPIRY = EXPIRES_AT * 1000;

/** The steps of an earlier attempt: one that is done. */
export const STEPS: StoredSteps = {
  charge: { state: "done", attempt: 1, at: NOW },
};

export const freshRecordKey = (): string => identify("store-contract", "tenant#1", randomUUID()).recordKey;

export const freshName = (): string => `counter-${randomUUID()}`;

export function claimOf(recordKey: string, change: Partial<Claim> = {}): Claim {
  return {
    recordKey,
    token: "token-1",
    fingerprint: "fingerprint-1",
    attempt: 1,
    createdAt: NOW,
    keepsSteps: false,
    leaseEndsAt: LEASE_ENDS_AT,
    expiresAt: EXPIRES_AT,
    ...change,
  };
}

/** Another call's claim over the first attempt, after the end of its lease. */
export function takeOverOf(recordKey: string, change: Partial<Claim> = {}): Claim {
  return claimOf(recordKey, {
    token: "token-2",
    attempt: 2,
    keepsSteps: true,
    leaseEndsAt: AFTER_LEASE + 30_000,
    ...change,
  });
}

/** The first renewal of a claim made at NOW. */
export function renewalOf(recordKey: string, change: Partial<Renewal> = {}): Renewal {
  return {
    recordKey,
    token: "token-1",
    leaseEndsAt: LEASE_ENDS_AT + 10_000,
    expiresAt: EXPIRES_AT + 10,
    ...change,
  };
}

export function settlementOf<Write>(
  recordKey: string,
  change: Partial<Settlement<Write>> = {},
): Settlement<Write> {
  return {
    recordKey,
    token: "token-1",
    now: NOW + 1000,
    state: "completed",
    result: '{"answer":1}',
    expiresAt: EXPIRES_AT,
    writes: [],
    messages: [],
    ...change,
  };
}

export function releaseOf<Write>(recordKey: string, change: Partial<Settlement<Write>> = {}) {
  return settlementOf<Write>(recordKey, { state: "released", result: undefined, ...change });
}

export function insertionOf<Write>(
  recordKey: string,
  change: Partial<Insertion<Write>> = {},
): Insertion<Write> {
  return {
    recordKey,
    token: "token-1",
    fingerprint: "fingerprint-1",
    attempt: 1,
    createdAt: NOW,
    keepsSteps: false,
    now: NOW,
    state: "completed",
    result: '{"answer":1}',
    expiresAt: EXPIRES_AT,
    writes: [],
    messages: [],
    ...change,
  };
}

/** A claim that must win. */
export async function won<Write>(store: Store<Write>, claim: Claim, seen?: IdempotencyRecord) {
  const answer = await store.claim(claim, seen);
  assert.equal(answer.won, true, "the claim must win");
  assert.ok(answer.won);
  return answer;
}

/** A claim that must be refused; returns the record that refused it. */
export async function refused<Write>(
  store: Store<Write>,
  claim: Claim,
  seen?: IdempotencyRecord,
): Promise<IdempotencyRecord | undefined> {
  const answer = await store.claim(claim, seen);
  assert.equal(answer.won, false, "the claim must be refused");
  assert.ok(!answer.won);
  return answer.record;
}

/** Takes over the present record; must win. */
export async function takenOver<Write>(
  store: Store<Write>,
  recordKey: string,
  change?: Partial<Claim>,
): Promise<void> {
  await won(store, takeOverOf(recordKey, change), await found(store, recordKey));
}

/** A consistent read that must find a record. */
export async function found<Write>(store: Store<Write>, recordKey: string): Promise<IdempotencyRecord> {
  const record = await store.find(recordKey, { consistent: true });
  assert.ok(record !== undefined, "the record must be there");
  return record;
}

/** A refused settlement or insertion; returns the record that refused it. */
export function unsettled(answer: Awaited<ReturnType<Store["settle"]>>): IdempotencyRecord | undefined {
  assert.equal(answer.settled, false, "the write must be refused");
  assert.ok(!answer.settled);
  return answer.record;
}

/** A refused renewal; returns the record that refused it. */
export function unrenewed(answer: Awaited<ReturnType<Store["renew"]>>): IdempotencyRecord | undefined {
  assert.equal(answer.renewed, false, "the renewal must be refused");
  assert.ok(!answer.renewed);
  return answer.record;
}

/** Names the properties of `expected` that the record contradicts. Other properties are free. */
export function assertRecord(
  record: IdempotencyRecord | undefined,
  expected: Partial<IdempotencyRecord>,
): void {
  assert.ok(record !== undefined, "the store must return the record");
  const actual = Object.fromEntries(
    Object.keys(expected).map((name) => [name, record[name as keyof IdempotencyRecord]]),
  );
  assert.deepEqual(actual, expected);
}

/** Compares codes: the store and its test may have two copies of the package. */
export const withCode = (code: string) => (error: unknown) => hasCode(error, code);

/** Under contention a store may ask for a retry; repeating the same request is safe by contract. */
export async function untilAnswered<T>(request: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await request();
    } catch (error) {
      const isPassing = isStoreFailure(error) && error.failure !== "refused";
      if (!isPassing || tries === 50) throw error;
    }
  }
}
