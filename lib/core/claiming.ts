/** Wins the right to run, or answers from the record of whoever did. */
import { IdempotencyKeyInvalidError, StoreUnavailableError } from "./errors.ts";
import { keyCreatedAt } from "./identity.ts";
import type { Operation } from "./operation.ts";
import { type IdempotencyRecord, isExpired, judge, successionOf } from "./record.ts";
import { answerFromRecord, type Outcome } from "./refusal.ts";
import type { Claim } from "./store.ts";
import { asWaiter } from "./waiters.ts";

/** Only races (a record that is taken over or deleted under our eyes) go round; more than these are not races. */
export const MAX_RACES = 8;

/** Of one store, unless the options say another number. */
const MAX_WAITERS = 20;

/** A claim that was won, or an answer that makes one needless. */
export type Claimed =
  | {
      readonly won: true;
      readonly claim: Claim;
      /** When the right to run began (epoch ms). */
      readonly since: number;
    }
  | { readonly won: false; readonly outcome: Outcome };

/**
 * Inserts a record; a record that is there is judged, and taken over where it may be.
 * @throws the errors of `answerFromRecord`, StoreUnavailableError, IdempotencyKeyInvalidError.
 */
export async function claimKey<Write>(operation: Operation<Write>): Promise<Claimed> {
  const keyAge = checkKeyAge(operation);
  if (keyAge) await keyAge;
  const waitUntil = waitLimit(operation);
  let seen: IdempotencyRecord | undefined;
  for (let races = 0; races < MAX_RACES; races++) {
    const now = operation.now();
    if (seen && isExpired(seen, now)) refuseExpiredKey(operation);
    // Its lease could be over before it is answered: others would take over, and this token claim once more.
    if (now > operation.startedAt && now >= operation.workUntil(now)) throw claimTookTooLong();
    const claim = claimAt(operation, now, seen);
    const answer = await operation.ask((store) => store.claim(claim, seen));
    if (answer.won) {
      operation.attempt = claim.attempt;
      if (seen?.state === "in-progress" && claim.keepsSteps) operation.tell("taken-over");
      tellSkew(operation, answer.serverTimeMs);
      return { won: true, claim, since: now };
    }
    operation.attempt = answer.record?.attempt ?? operation.attempt;
    const waiting = waitForWinner(operation, answer.record, waitUntil);
    const record = waiting ? await waiting : answer.record;
    if (record !== answer.record) races = 0;
    seen = record;
    if (record === undefined) {
      // A transaction that makes the record is under way, or TTL has deleted it.
      await operation.pause(20);
      continue;
    }
    const verdict = judge(record, operation.seek());
    operation.attempt = record.attempt;
    if (verdict === "own") {
      const { attempt, createdAt, leaseEndsAt } = record;
      // It may be an earlier claim of ours that arrived late: the work began when that one was made.
      const since = now - Math.max(0, claim.leaseEndsAt - leaseEndsAt);
      return { won: true, claim: { ...claim, attempt, createdAt, leaseEndsAt }, since };
    }
    if (verdict !== "vacant" && verdict !== "expired") {
      return { won: false, outcome: await answerFromRecord(operation, record, verdict) };
    }
  }
  throw new StoreUnavailableError("conflict", undefined);
}

/** The lease could be over before the work is: somebody else would run too. */
export const claimTookTooLong = (): StoreUnavailableError =>
  new StoreUnavailableError("unreachable", new Error("the claim took all the time there was"));

/** The claim that this call makes at `now`, over what was seen. */
export function claimAt<Write>(
  operation: Operation<Write>,
  now: number,
  seen: IdempotencyRecord | undefined,
): Claim {
  const { identity, token, fingerprint } = operation;
  const { attempt, createdAt, keepsSteps } = successionOf(seen, now);
  const leaseEndsAt = operation.leaseEndsAt(now);
  const expiresAt = operation.expiresAt(leaseEndsAt);
  // One by one: to spread them takes as long as all the rest of a claim.
  const { recordKey } = identity;
  return { recordKey, token, fingerprint, attempt, createdAt, keepsSteps, leaseEndsAt, expiresAt };
}

/**
 * A key that names its own age (UUIDv7) may be older than any record could be: then "no record" does not
 * mean that it never ran. Costs one read, for such keys only: `undefined` for others.
 */
export function checkKeyAge<Write>(operation: Operation<Write>): Promise<void> | undefined {
  const createdAt = keyCreatedAt(operation.identity.key);
  if (createdAt === undefined || createdAt + operation.options.retentionSeconds * 1000 > operation.now())
    return undefined;
  return checkRecord(operation);
}

async function checkRecord<Write>(operation: Operation<Write>): Promise<void> {
  const { recordKey } = operation.identity;
  const record = await operation.ask((store) => store.find(recordKey, { consistent: true }));
  if (!record || isExpired(record, operation.now())) refuseExpiredKey(operation);
}

/** Running again after the retention is never silent: it is told, or refused. */
export function refuseExpiredKey<Write>(operation: Operation<Write>): void {
  if (!operation.keyIsExpired) operation.tell("key-expired");
  operation.keyIsExpired = true;
  if (operation.options.whenKeyExpired === "reject") {
    throw new IdempotencyKeyInvalidError(
      "the idempotency key is older than its retention and may have run before: check, then send a new key",
    );
  }
}

function waitLimit<Write>(operation: Operation<Write>): number {
  const { startedAt, call, options } = operation;
  if (options.whenInProgress === "reject") return startedAt;
  const own = startedAt + options.whenInProgress.waitSeconds * 1000;
  // Without an invocation nothing but the caller's patience ends the wait.
  const deadline = call.remainingMs === undefined ? own : operation.workUntil(startedAt);
  return Math.min(own, deadline, call.waitUntil ?? own);
}

/**
 * Waits until nobody holds a live claim or the time is up. Resolves to what the record is then; at once to the one that
 * refused where too many wait already. `undefined` where there is nothing to wait for.
 */
function waitForWinner<Write>(
  operation: Operation<Write>,
  refusedBy: IdempotencyRecord | undefined,
  until: number,
): Promise<IdempotencyRecord | undefined> | undefined {
  const { store, whenInProgress } = operation.options;
  if (whenInProgress === "reject" || refusedBy === undefined || !isHeld(operation, refusedBy, until))
    return undefined;
  const { maxWaiters = MAX_WAITERS } = whenInProgress;
  return asWaiter(store, maxWaiters, () => pollForWinner(operation, refusedBy, until)).then((waiter) =>
    waiter ? waiter.waited : refusedBy,
  );
}

/** By consistent reads, which cost half of a refused claim; at random times, since many waiters began at once. */
async function pollForWinner<Write>(
  operation: Operation<Write>,
  refusedBy: IdempotencyRecord,
  until: number,
): Promise<IdempotencyRecord | undefined> {
  const { recordKey } = operation.identity;
  let record: IdempotencyRecord | undefined = refusedBy;
  for (let pauseMs = 50; record && isHeld(operation, record, until); pauseMs = Math.min(pauseMs * 2, 1000)) {
    const waitUntil = Math.min(until, record.leaseEndsAt + 1);
    await operation.pause(Math.min(pauseMs, waitUntil - operation.now()));
    record = await operation.ask((store) => store.find(recordKey, { consistent: true }));
  }
  return record;
}

/** Whether somebody holds a live claim, and there is time to wait. */
function isHeld<Write>(operation: Operation<Write>, record: IdempotencyRecord, until: number): boolean {
  return operation.now() < until && judge(record, operation.seek()) === "in-progress";
}

/** HTTP dates have a resolution of one second. */
function tellSkew<Write>(operation: Operation<Write>, serverTimeMs: number | undefined): void {
  const skewMs = Math.abs(operation.now() - (serverTimeMs ?? operation.now()));
  if (skewMs > operation.options.clockSkewSeconds * 1000 + 1000) operation.tell("clock-skewed");
}
