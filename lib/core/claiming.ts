/** Wins the right to run, or answers from the record of whoever did. */
import { IdempotencyKeyInvalidError, StoreUnavailableError } from "./errors.ts";
import { keyCreatedAt } from "./identity.ts";
import type { Operation } from "./operation.ts";
import { type IdempotencyRecord, isExpired, readRefusal } from "./record.ts";
import { answerFromRecord, type Outcome } from "./refusal.ts";

export type Claimed =
  | { readonly won: true; readonly attempt: number; readonly claimedAt: number }
  | { readonly won: false; readonly outcome: Outcome };

/** Only races (a record that expires or is released under our eyes) go round; more than these are not races. */
const MAX_RACES = 5;

export async function claimKey<Write>(operation: Operation<Write>): Promise<Claimed> {
  const { clock } = operation.options;
  const { recordKey } = operation.identity;
  const waitUntil = waitLimit(operation);
  let expired: IdempotencyRecord | undefined;
  let races = 0;
  for (;;) {
    const seeker = operation.seeker;
    const leaseEndsAt = operation.leaseEndsAt(seeker.now);
    const claim = { recordKey, ...seeker, leaseEndsAt, expiresAt: operation.expiresAt(leaseEndsAt) };
    const former = expired;
    const answer = await operation.ask((store) => store.claim(claim, former));
    expired = undefined;
    if (answer.won) {
      if (answer.takenOver) operation.tell("taken-over", { attempt: answer.attempt });
      tellSkew(operation, answer.serverTimeMs);
      return { won: true, attempt: answer.attempt, claimedAt: seeker.now };
    }
    const { record } = answer;
    const refusal = record === undefined ? "claimable" : readRefusal(record, seeker);
    if (record !== undefined && refusal !== "claimable") {
      if (refusal === "own") return { won: true, attempt: record.attempt, claimedAt: seeker.now };
      if (refusal === "in-progress" && clock.now() < waitUntil) {
        await waitForWinner(operation, record, waitUntil);
        continue;
      }
      if (refusal !== "expired")
        return { won: false, outcome: await answerFromRecord(operation, record, refusal) };
      refuseExpiredKey(operation);
      expired = record;
    }
    if (++races > MAX_RACES) throw new StoreUnavailableError("conflict", undefined);
  }
}

/**
 * A key that names its own age (UUIDv7) may be older than any record could be: then "no record" does not
 * mean that it never ran. Costs one read, for such keys only.
 */
export async function checkKeyAge<Write>(operation: Operation<Write>): Promise<void> {
  const { clock, retentionSeconds } = operation.options;
  const { recordKey } = operation.identity;
  const createdAt = keyCreatedAt(operation.identity.key);
  if (createdAt === undefined || createdAt + retentionSeconds * 1000 > clock.now()) return;
  const record = await operation.ask((store) => store.find(recordKey, { consistent: true }));
  if (record === undefined) refuseExpiredKey(operation);
}

/** Running again after the retention is never silent: it is told, or refused. */
export function refuseExpiredKey<Write>(operation: Operation<Write>): void {
  operation.tell("key-expired");
  if (operation.options.whenKeyExpired === "reject") {
    throw new IdempotencyKeyInvalidError(
      "the idempotency key is older than its retention, so it may have run before: check, then send a new key",
    );
  }
}

function waitLimit<Write>(operation: Operation<Write>): number {
  const { whenInProgress } = operation.options;
  const { startedAt, call } = operation;
  if (whenInProgress === "reject") return startedAt;
  const own = startedAt + whenInProgress.waitSeconds * 1000;
  const deadline = operation.deadline(startedAt) - operation.margin(startedAt);
  return Math.min(own, deadline, call.waitUntil ?? Number.POSITIVE_INFINITY);
}

/** Polls by consistent reads, which cost half of a refused claim, until the record moves or time is up. */
async function waitForWinner<Write>(
  operation: Operation<Write>,
  seen: IdempotencyRecord,
  until: number,
): Promise<void> {
  const { clock, random } = operation.options;
  const { recordKey } = operation.identity;
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
    const now = clock.now();
    if (now >= until || seen.leaseEndsAt < now) return;
    await clock.sleep(Math.min(pauseMs * (0.5 + random.fraction() / 2), until - now));
    const record = await operation.ask((store) => store.find(recordKey, { consistent: true }));
    if (record?.state !== "in-progress" || record.token !== seen.token || isExpired(record, clock.now()))
      return;
  }
}

/** HTTP dates have a resolution of one second. */
function tellSkew<Write>(operation: Operation<Write>, serverTimeMs: number | undefined): void {
  if (serverTimeMs === undefined) return;
  const skewMs = Math.abs(operation.options.clock.now() - serverTimeMs);
  if (skewMs > operation.options.clockSkewSeconds * 1000 + 1000) operation.tell("clock-skewed");
}
