/** Releases a key although its attempt's outcome is unknown: an operator's decision that a retry may run. */
import { MAX_RETENTION_SECONDS } from "../contract.ts";
import { BY_WHOM_CHECKS, type ByWhom } from "./by-whom.ts";
import type { Clock, Random } from "./clock.ts";
import { ASKED, OPERATED_CHECKS } from "./operated.ts";
import { type Check, checkOptions, oneOf } from "./option-checks.ts";
import { DEFAULTS } from "./options.ts";
import { type IdempotencyRecord, openStepsOf, type State } from "./record.ts";
import type { Store } from "./store.ts";
import { endingOf, recordFindings, takeUnknown } from "./take-unknown.ts";
import { encodeEvidence } from "./verify.ts";

interface ReleaseOptions<Write> {
  readonly store: Store<Write>;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Who decides, and why: stored with the record, 256 characters at most each. No payloads, no secrets. */
export interface Release extends ByWhom {
  /** Also fences off an attempt whose lease is live. */
  readonly interrupts?: boolean;
}

export type ReleaseAnswer =
  | { readonly released: true }
  | {
      readonly released: false;
      readonly state: State | "absent";
      /** They were begun and their outcome is unknown: each needs a verdict first. */
      readonly steps?: readonly string[];
      /** The lease of a live attempt (epoch ms): until then no verdict about its steps is accepted. */
      readonly leaseEndsAt?: number;
    };

const RELEASE_CHECKS: Readonly<Record<keyof Release, Check>> = {
  ...BY_WHOM_CHECKS,
  interrupts: oneOf(true, false),
};

/** How long no other call may claim the key between the two writes. */
const LEASE_MS = 30_000;
const PATIENCE_MS = 2000;

/**
 * Takes the key over under a fresh token, which fences the previous attempt, and releases it. A key that is completed, failed
 * or released stays as it is.
 * @throws InvalidOptionError (`INVALID_OPTION`) before any I/O; StoreUnavailableError (`STORE_UNAVAILABLE`): call again;
 * RecordCorruptError (`RECORD_CORRUPT`).
 */
export async function releaseRecord<Write>(
  { store, clock = DEFAULTS.clock, random = DEFAULTS.random }: ReleaseOptions<Write>,
  recordKey: string,
  release: Release,
): Promise<ReleaseAnswer> {
  checkOptions(release, RELEASE_CHECKS, ["by", "why"]);
  checkOptions({ store, clock, random }, OPERATED_CHECKS, ["store"]);
  const { by, why: answered, interrupts } = release;
  const requests = { store, clock, random, patienceMs: PATIENCE_MS };
  const taken = await takeUnknown(
    {
      ...requests,
      leaseMs: LEASE_MS,
      interrupts,
      mayTake: (seen) => openStepsOf(seen).length === 0,
    },
    recordKey,
  );
  if (!taken.claim) return unreleased(taken.record, clock.now());
  const { seen, now } = taken;
  const settled = await recordFindings(requests, taken, {
    known: [],
    ending: endingOf(seen, [], false),
    at: now,
    // The handler's retention isn't known here, and a participant's record must not be forgotten before its saga ends.
    retentionSeconds: MAX_RETENTION_SECONDS,
    evidence: encodeEvidence({
      ...{ verdict: "unknown", by, at: now, attempt: seen.attempt, asked: ASKED.release, answered },
    }),
  });
  return settled.settled ? { released: true } : unreleased(settled.record, now);
}

function unreleased(record: IdempotencyRecord | undefined, now: number): ReleaseAnswer {
  if (!record) return { released: false, state: "absent" };
  const { state, leaseEndsAt } = record;
  const isOver = state === "completed" || state === "failed";
  const steps = isOver ? [] : openStepsOf(record);
  if (steps.length === 0) return { released: false, state };
  const isLive = state === "in-progress" && leaseEndsAt >= now;
  return { released: false, state, steps, ...(isLive && { leaseEndsAt }) };
}
