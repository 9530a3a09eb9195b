/** Wins the right to run, or answers from the record of the call that has it. */
import { IdempotencyKeyInvalidError, StoreUnavailableError } from "./errors.ts";
import { keyCreatedAt } from "./identity.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { answerFromRecord, type Outcome } from "./outcome.ts";
import {
  type ClaimStatus,
  classify,
  endOf,
  type IdempotencyRecord,
  isExpired,
  isTracked,
  mayClaimHeld,
  type StoredSteps,
  successionOf,
} from "./record.ts";
import type { Claim } from "./store.ts";
import { waitForWinner } from "./waiting.ts";

/**
 * A claim is tried again only after a race: another process took the record over, or deleted it, between two requests. More
 * retries than this aren't caused by races.
 */
export const MAX_RACES = 8;

/** What a call may do: run under its claim, run without a claim, or answer without running. */
export type Admission = Claimed | Unclaimed | Answered;

export interface Claimed {
  readonly kind: "claimed";
  readonly claim: Claim;
  /** When the right to run began (epoch ms). */
  readonly since: number;
  /** The record with an unknown outcome that was taken over, unless the options say to run again. */
  readonly abandoned?: IdempotencyRecord | undefined;
  /** The steps of the previous attempts. */
  readonly steps: StoredSteps;
  /** When the previous attempt ended, at the latest (epoch ms). */
  readonly formerEndedAt: number;
  /** Its history goes on in the record. */
  readonly formerEvidence?: string | undefined;
}

export interface Unclaimed {
  readonly kind: "unclaimed";
  /** Epoch ms. */
  readonly since: number;
  /** The record that was found but didn't block the call. */
  readonly seen: IdempotencyRecord | undefined;
}

interface Answered {
  readonly kind: "answered";
  readonly outcome: Outcome;
}

/** A requested claim, and its consequences if it wins. */
type Tried = Pick<Claimed, "claim" | "since" | "abandoned"> & {
  /** The previous attempt, unless it was released or expired. */
  readonly previous: IdempotencyRecord | undefined;
};

/** The consequence of a refusal: an answer, or another claim over the current record. */
type AfterRefusal =
  | Claimed
  | {
      readonly kind: "answer";
      readonly record: IdempotencyRecord;
      readonly status: Exclude<ClaimStatus, "own" | "vacant" | "expired">;
    }
  | { readonly kind: "claim-again"; readonly seen: IdempotencyRecord | undefined };

/**
 * Inserts a record. An existing record decides: the call takes it over, answers from it, or waits for it.
 * @throws the errors of `answerFromRecord`, StoreUnavailableError, IdempotencyKeyInvalidError.
 */
export async function claimKey<Write>(call: OngoingCall<Write>): Promise<Claimed | Answered> {
  const { whenInProgress } = call.options;
  let seen: IdempotencyRecord | undefined;
  for (let races = 0; races < MAX_RACES; races++) {
    const tried = claimOver(call, seen);
    const answer = await call.ask((store) => store.claim(tried.claim, seen));
    if (answer.won) return wonClaim(call, tried, seen, answer.serverTimeMs);
    let next = afterRefusal(call, tried, answer.record);
    if (next.kind === "answer" && next.status === "in-progress" && whenInProgress !== "reject") {
      const refusedBy = next.record;
      const record = await waitForWinner(call, refusedBy, whenInProgress);
      // The next request doesn't race with the previous record.
      if (record !== refusedBy) races = 0;
      next = afterRefusal(call, tried, record);
    }
    if (next.kind === "claimed") return next;
    if (next.kind === "answer") {
      return { kind: "answered", outcome: await answerFromRecord(call, next.record, next.status) };
    }
    seen = next.seen;
    // A transaction that creates the record is under way, or TTL has deleted it.
    if (!seen) await call.pause(20);
  }
  throw new StoreUnavailableError("conflict", undefined);
}

/** The claim that this call makes now, over `seen` if there is a record. */
function claimOver<Write>(call: OngoingCall<Write>, seen: IdempotencyRecord | undefined): Tried {
  const now = call.now();
  if (seen && isExpired(seen, now)) refuseExpiredKey(call);
  // The lease could end before the claim is answered: other calls would take over, and this token would claim once more.
  if (now > call.startedAt && now >= call.workUntil(now)) throw noTimeLeft();
  const claim = claimAt(call, now, seen);
  call.isContinued = call.continues(seen);
  const previous = claim.keepsSteps && seen?.state !== "released" && !call.isContinued ? seen : undefined;
  const abandoned = call.options.whenAbandoned === "run" ? undefined : previous;
  return { claim, since: now, previous, abandoned };
}

function wonClaim<Write>(
  call: OngoingCall<Write>,
  { claim, since, previous, abandoned }: Tried,
  seen: IdempotencyRecord | undefined,
  serverTimeMs: number | undefined,
): Claimed {
  call.attempt = claim.attempt;
  if (previous && !abandoned) call.report("taken-over");
  tellSkew(call, serverTimeMs);
  const formerEndedAt = seen && !call.isContinued ? endOf(seen) : since;
  const formerEvidence = seen?.evidence;
  return {
    kind: "claimed",
    claim,
    since,
    abandoned,
    steps: stepsAfter(claim, seen),
    formerEndedAt,
    formerEvidence,
  };
}

/** The consequence for this call of the record that refused its claim. */
function afterRefusal<Write>(
  call: OngoingCall<Write>,
  tried: Tried,
  record: IdempotencyRecord | undefined,
): AfterRefusal {
  if (!record) return { kind: "claim-again", seen: undefined };
  call.attempt = record.attempt;
  const status = classify(record, call.seek());
  if (status === "own") return ownClaim(tried, record);
  const { whenAbandoned } = call.options;
  const mayAsk = status === "held" && mayClaimHeld(record, whenAbandoned, call.now());
  const mayClaim = mayAsk || status === "vacant" || status === "expired" || call.continues(record);
  if (mayClaim) return { kind: "claim-again", seen: record };
  return { kind: "answer", record, status };
}

/** The claim on record is this call's own. It may be an earlier one that arrived late: the work began when that one was made. */
function ownClaim({ claim, since: triedAt, abandoned }: Tried, record: IdempotencyRecord): Claimed {
  const { attempt, createdAt, leaseEndsAt, steps = {} } = record;
  const since = triedAt - Math.max(0, claim.leaseEndsAt - leaseEndsAt);
  const own = { ...claim, attempt, createdAt, leaseEndsAt };
  return { kind: "claimed", claim: own, since, abandoned, steps, formerEndedAt: since };
}

/** Each write of a step moves the end of the lease, so a winning claim has seen all steps. */
const stepsAfter = ({ keepsSteps }: Claim, seen: IdempotencyRecord | undefined): StoredSteps =>
  (keepsSteps && seen?.steps) || {};

/** The lease could end before the work does: another call would run too. */
export const noTimeLeft = (): StoreUnavailableError =>
  new StoreUnavailableError("unreachable", new Error("no time left"));

/** The claim that this call makes at `now`, over `seen` if there is a record. */
export function claimAt<Write>(
  call: OngoingCall<Write>,
  now: number,
  seen: IdempotencyRecord | undefined,
): Claim {
  const { identity, token, fingerprint } = call;
  const { attempt, createdAt, keepsSteps } = successionOf(seen, now);
  const leaseEndsAt = call.leaseEndsAt(now);
  // A record that may be held must not be deleted without being resolved.
  const mayBeHeld = call.options.whenAbandoned !== "run" || (keepsSteps && seen && isTracked(seen));
  const expiresAt = mayBeHeld ? undefined : call.expiresAt(leaseEndsAt);
  // Copied field by field: object spread cost as much as the rest of the claim.
  const { recordKey } = identity;
  return { recordKey, token, fingerprint, attempt, createdAt, keepsSteps, leaseEndsAt, expiresAt };
}

/**
 * A key whose age is known, from its caller or from the key itself (UUIDv7), may be older than any record. Then "no record"
 * doesn't mean that the operation never ran. Costs one read for such keys, and nothing (`undefined`) for others.
 */
export function checkKeyAge<Write>(call: OngoingCall<Write>): Promise<void> | undefined {
  const createdAt = call.input.usedSince ?? keyCreatedAt(call.identity.key);
  if (createdAt === undefined || createdAt + call.options.retentionSeconds * 1000 > call.now())
    return undefined;
  return checkRecord(call);
}

async function checkRecord<Write>(call: OngoingCall<Write>): Promise<void> {
  const { recordKey } = call.identity;
  const record = await call.ask((store) => store.find(recordKey, { consistent: true }));
  if (!record || isExpired(record, call.now())) refuseExpiredKey(call);
}

/** Running again after the retention is never silent: it is reported or refused. */
export function refuseExpiredKey<Write>(call: OngoingCall<Write>): void {
  if (!call.isExpiryReported) call.report("key-expired");
  call.isExpiryReported = true;
  if (call.options.whenKeyExpired === "reject") {
    throw new IdempotencyKeyInvalidError(
      "the record of this idempotency key has expired or may have expired, so the operation may have run before: check whether it did, then send a new key",
    );
  }
}

/** HTTP dates have a resolution of one second. */
function tellSkew<Write>(call: OngoingCall<Write>, serverTimeMs: number | undefined): void {
  const skewMs = Math.abs(call.now() - (serverTimeMs ?? call.now()));
  if (skewMs > call.options.clockSkewSeconds * 1000 + 1000) call.report("clock-skewed");
}
