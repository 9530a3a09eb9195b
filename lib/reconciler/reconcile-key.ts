/** Asks about one key of unknown outcome, under a claim for that, and records the verdict. */

import { HELD_RETRY_SECONDS } from "../contract.ts";
import { askVerify, errorNameOf } from "../core/ask-verify.ts";
import { deriveChildKey } from "../core/child-key.ts";
import { namesOf } from "../core/identity.ts";
import { encodeResult } from "../core/outcome.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import { endOf } from "../core/record.ts";
import { endingOf, recordFindings, takeUnknown } from "../core/take-unknown.ts";
import { checkSeals } from "../core/token-marks.ts";
import { type UnknownOutcome, unknownOutcomeOf } from "../core/unknown-outcome.ts";
import {
  type AbandonedRecord,
  decidedAt,
  decodeEvidence,
  encodeEvidence,
  keptOf,
  type Verification,
  type VerifyRecord,
} from "../core/verify.ts";
import type { ReconciledOperation, ReconcilerSettings } from "./reconciler-options.ts";

/** How far the clocks of two hosts may differ. */
const SKEW_MS = 5000;

/** Since when the outcome is unknown (epoch ms). */
export function unknownSince({ state, since, evidence }: UnknownOutcome): number {
  return keptOf(state, evidence).since ?? since;
}

/** The pause after a question is as long as the outcome had been unknown by then. */
export function isDue<Write>(
  { evidence }: Pick<UnknownOutcome, "evidence">,
  now: number,
  { maxPauseSeconds }: ReconcilerSettings<Write>,
): boolean {
  if (evidence?.verdict !== "unknown") return true;
  const { at, since = at } = evidence;
  const pauseMs = Math.min(Math.max(at - since, HELD_RETRY_SECONDS * 1000), maxPauseSeconds * 1000);
  return now - at >= pauseMs;
}

export interface KeyPatience {
  /** How long to wait for an answer. */
  readonly verifyMs: number;
  /** How long claiming the key and recording the verdict may take. */
  readonly recordMs: number;
}

export type KeyEnd = Pick<Verification, "outcome"> & { readonly error?: unknown };

interface KeyQuestion {
  /** Absent if the question is about the whole key. */
  readonly step?: string;
  readonly verify: VerifyRecord;
}

/** The questions about a key, given its record; empty if a call or an operator decides. */
export function questionsOf(
  { verify, steps = {} }: ReconciledOperation,
  { steps: open }: Pick<UnknownOutcome, "steps">,
): readonly KeyQuestion[] {
  if (!open) return typeof verify === "function" ? [{ verify }] : [];
  const asked = open.filter((step) => Object.hasOwn(steps, step));
  return asked.map((step) => ({ step, verify: steps[step] as VerifyRecord }));
}

/**
 * Resolves to `undefined` if another process has the key, has settled it, or has just asked about it.
 * @throws StoreUnavailableError, RecordCorruptError
 */
export async function reconcileKey<Write>(
  settings: ReconcilerSettings<Write>,
  { recordKey }: Pick<UnknownOutcome, "recordKey">,
  operation: ReconciledOperation,
  { verifyMs, recordMs }: KeyPatience,
): Promise<KeyEnd | undefined> {
  const { store, clock, random, retentionSeconds, minAgeSeconds } = settings;
  let questions: readonly KeyQuestion[] = [];
  const mayTake = (record: IdempotencyRecord) => {
    const now = clock.now();
    const before = now - minAgeSeconds * 1000;
    const outcome = unknownOutcomeOf(recordKey, record, decidedAt(record.evidence), before);
    questions = outcome && isDue(outcome, now, settings) ? questionsOf(operation, outcome) : [];
    if (questions.length > 0) checkSeals(store, record);
    return questions.length > 0;
  };
  const leaseMs = verifyMs + recordMs + SKEW_MS;
  // Each gets a third: to look, to claim, to record.
  const requests = { store, clock, random, patienceMs: recordMs / 3 };
  const taken = await takeUnknown({ ...requests, leaseMs, mayTake }, recordKey);
  if (!taken.claim) return undefined;
  const { seen, claim, now } = taken;
  const names = namesOf(recordKey);
  const leaseEndedAt = endOf(seen);
  const ask = async ({ step, verify }: KeyQuestion) => {
    const about = step === undefined ? undefined : seen.steps?.[step];
    const previous: Omit<AbandonedRecord, "signal"> = {
      operation: names.operation,
      scope: names.scope,
      attempt: about?.attempt ?? seen.attempt,
      fence: claim.attempt,
      startedAt: about?.at ?? seen.createdAt,
      leaseEndedAt,
      askedAt: now,
      // Without a default: only the definition knows the oldest name of a step, of which its key is made.
      childKey: (name, limits) => deriveChildKey({ recordKey }, name as string, limits),
    };
    const option = ["operations", names.operation, ...(about ? ["steps", step] : [])].join(".");
    const asking = { option, clock, patienceMs: verifyMs, encode: encodeResult };
    const judged = await askVerify<AbandonedRecord>(verify, previous, asking);
    return { ...judged, step, attempt: previous.attempt };
  };
  const verdicts = await Promise.all(questions.map(ask));
  const at = clock.now();
  const known = verdicts
    .filter(({ outcome }) => outcome !== "unknown")
    .map(({ step, outcome, text }) => ({ step, hasHappened: outcome === "happened", result: text }));
  const verdict =
    verdicts.find(({ outcome }) => outcome === "unknown") ?? (verdicts[0] as (typeof verdicts)[0]);
  const ending = endingOf(seen, known, known.length < verdicts.length);
  const outcome = ending.isHeld ? "unknown" : verdict.outcome;
  const { since = leaseEndedAt, lastError } = keptOf(seen.state, decodeEvidence(seen.evidence));
  const { error } = verdict;
  const settled = await recordFindings(requests, taken, {
    known,
    ending,
    at,
    retentionSeconds,
    evidence: encodeEvidence({
      ...verdict.evidence,
      verdict: outcome,
      by: "reconciler",
      at,
      attempt: verdict.attempt,
      step: verdict.step,
      since,
      lastError: error === undefined ? lastError : { name: errorNameOf(error), at },
    }),
  });
  return settled.settled ? { outcome, error } : undefined;
}
