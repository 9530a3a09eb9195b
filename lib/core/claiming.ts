/** Wins the right to run, or answers from the record of whoever did. */
import { IdempotencyKeyInvalidError, StoreUnavailableError } from "./errors.ts";
import { keyCreatedAt } from "./identity.ts";
import type { Operation } from "./operation.ts";
import { type IdempotencyRecord, isExpired, readRefusal } from "./record.ts";
import { answerFromRecord, type Outcome } from "./refusal.ts";

/** Only races (a record that expires or is released under our eyes) go round; more than these are not races. */
const MAX_RACES = 5;

/** Resolves to the time of the claim (epoch ms), or to an answer that makes one needless. */
export async function claimKey<Write>(operation: Operation<Write>): Promise<number | Outcome> {
  const waitUntil = waitLimit(operation);
  let expired: IdempotencyRecord | undefined;
  for (let races = 0; races < MAX_RACES; races++) {
    const seeker = operation.seek();
    const leaseEndsAt = operation.leaseEndsAt(seeker.now);
    const claim = { ...seeker, leaseEndsAt, expiresAt: operation.expiresAt(leaseEndsAt) };
    const answer = await operation.ask((store) => store.claim(claim, expired));
    expired = undefined;
    if (answer.won) {
      operation.attempt = answer.attempt;
      if (answer.takenOver) operation.tell("taken-over");
      tellSkew(operation, answer.serverTimeMs);
      return seeker.now;
    }
    const { record } = answer;
    if (record === undefined) continue;
    const refusal = readRefusal(record, seeker);
    operation.attempt = record.attempt;
    // It may be an earlier claim of ours that arrived late: the work began, as it were, when that one was made.
    if (refusal === "own") return seeker.now - Math.max(0, leaseEndsAt - record.leaseEndsAt);
    if (refusal === "expired") {
      refuseExpiredKey(operation);
      expired = record;
    } else if (refusal === "in-progress" && (await waitForWinner(operation, record, waitUntil))) {
      races = 0;
    } else if (refusal !== "claimable") {
      return answerFromRecord(operation, record, refusal);
    }
  }
  throw new StoreUnavailableError("conflict", undefined);
}

/**
 * A key that names its own age (UUIDv7) may be older than any record could be: then "no record" does not
 * mean that it never ran. Costs one read, for such keys only.
 */
export async function checkKeyAge<Write>(operation: Operation<Write>): Promise<void> {
  const { key, recordKey } = operation.identity;
  const createdAt = keyCreatedAt(key);
  if (createdAt === undefined || createdAt + operation.options.retentionSeconds * 1000 > operation.now())
    return;
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
 * Polls by consistent reads, which cost half of a refused claim, until the record moves. `false` when time is up
 * before: a claim that wins then would have none to run.
 */
async function waitForWinner<Write>(operation: Operation<Write>, seen: IdempotencyRecord, until: number) {
  const { recordKey } = operation.identity;
  const waitUntil = Math.min(until, seen.leaseEndsAt + 1);
  for (let pauseMs = 50; operation.now() < waitUntil; pauseMs = Math.min(pauseMs * 2, 1000)) {
    await operation.pause(Math.min(pauseMs, waitUntil - operation.now()));
    const record = await operation.ask((store) => store.find(recordKey, { consistent: true }));
    if (record?.state !== "in-progress" || record.token !== seen.token) return true;
  }
  return operation.now() < until;
}

/** HTTP dates have a resolution of one second. */
function tellSkew<Write>(operation: Operation<Write>, serverTimeMs: number | undefined): void {
  const skewMs = Math.abs(operation.now() - (serverTimeMs ?? operation.now()));
  if (skewMs > operation.options.clockSkewSeconds * 1000 + 1000) operation.tell("clock-skewed");
}
