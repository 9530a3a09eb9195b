/** Asks about one key of unknown outcome, under a claim of its own, and records the verdict. */
import { endOf } from "../core/abandoned.ts";
import { askVerify, errorNameOf } from "../core/ask-verify.ts";
import { deriveChildKey } from "../core/child-key.ts";
import { encodeResult } from "../core/outcome.ts";
import { type IdempotencyRecord, openStepsOf } from "../core/record.ts";
import type { Store } from "../core/store.ts";
import { takeUnknown } from "../core/take-unknown.ts";
import { type UnknownOutcome, unknownOutcomeOf } from "../core/unknown-outcome.ts";
import {
  type AbandonedRecord,
  decidedAt,
  decodeEvidence,
  encodeEvidence,
  HELD_RETRY_SECONDS,
  keptOf,
  type Verification,
  type VerifyRecord,
} from "../core/verify.ts";
import type { ReconciledOperation, ReconcilerSettings } from "./reconciler-options.ts";

/** How far the clocks of two hosts may differ. */
const SKEW_MS = 5000;

/** The parts of a record's key, as they were before they were escaped. */
export interface NamedKey {
  readonly operation: string;
  readonly scope: string;
  readonly keyHash: string;
}

/** A key that no operation of ours has made has an empty operation. */
export function namesOf(recordKey: string): NamedKey {
  try {
    const [operation = "", scope = "", keyHash = ""] = recordKey.split("#").map(decodeURIComponent);
    return { operation, scope, keyHash };
  } catch {
    return { operation: "", scope: "", keyHash: "" };
  }
}

/** The time from which on nobody has known (epoch ms). */
export function unknownSince({ state, since, evidence }: UnknownOutcome): number {
  return keptOf(state, evidence).since ?? since;
}

/** The pause after a question is as long as nobody had known by then. */
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
  /** So long an answer is waited for. */
  readonly verifyMs: number;
  /** So long the verdict may take to be recorded. */
  readonly recordMs: number;
}

export type KeyEnd = Pick<Verification, "outcome"> & { readonly error?: unknown };

interface KeyQuestion {
  /** Absent where the question is about the whole key. */
  readonly step?: string;
  readonly verify: VerifyRecord;
}

/** Whom to ask about a key, by what its record says; empty where a call or a person is to decide. */
export function questionsOf(
  { verify, steps = {} }: ReconciledOperation,
  { steps: open }: Pick<UnknownOutcome, "steps">,
): readonly KeyQuestion[] {
  if (!open) return typeof verify === "function" ? [{ verify }] : [];
  const asked = open.filter((step) => Object.hasOwn(steps, step));
  return asked.map((step) => ({ step, verify: steps[step] as VerifyRecord }));
}

/**
 * Resolves to `undefined` where somebody else has the key, has settled it, or has asked a moment ago.
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
    return questions.length > 0;
  };
  const leaseMs = verifyMs + recordMs + SKEW_MS;
  const taken = await takeUnknown({ store, clock, random, leaseMs, mayTake }, recordKey);
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
      childKey: (name, limits) => deriveChildKey({ recordKey }, name, limits),
    };
    const option = ["operations", names.operation, ...(about ? ["steps", step] : [])].join(".");
    const asking = { option, clock, patienceMs: verifyMs, encode: encodeResult };
    const judged = await askVerify<AbandonedRecord>(verify, previous, asking);
    return { ...judged, step, attempt: previous.attempt };
  };
  const verdicts = await Promise.all(questions.map(ask));
  const at = clock.now();
  const expiresAt = Math.ceil(at / 1000 + retentionSeconds);
  const known = verdicts.filter(({ outcome }) => outcome !== "unknown");
  for (const [index, { step, outcome, text }] of known.entries()) {
    if (step === undefined) continue;
    // A store with steps can write them.
    const { writeStep } = store as Required<Store<Write>>;
    const written = await writeStep.call(store, {
      ...{ recordKey, token: claim.token, name: step, result: text, writes: [], isFirst: false },
      step: { state: outcome === "happened" ? "done" : "undone", attempt: claim.attempt, at: at + index },
      resultExpiresAt: expiresAt,
      seen: seen.steps?.[step],
      // Each step makes the lease a millisecond longer.
      leaseEndsAt: claim.leaseEndsAt + index,
    });
    if (!written.settled) return undefined;
  }
  const open = openStepsOf(seen).filter((name) => !known.some(({ step }) => step === name));
  const verdict =
    verdicts.find(({ outcome }) => outcome === "unknown") ?? (verdicts[0] as (typeof verdicts)[0]);
  const isOver = verdict.outcome === "happened" && verdict.step === undefined;
  const isHeld = verdict.outcome === "unknown" || (!isOver && open.length > 0);
  // Somebody has to see to it that a saga ends.
  const isTracked = !isOver && Object.values(seen.steps ?? {}).some(({ tracked }) => tracked);
  const { since = leaseEndedAt, lastError } = keptOf(seen.state, decodeEvidence(seen.evidence));
  const { error } = verdict;
  const outcome = isHeld ? "unknown" : verdict.outcome;
  const settled = await store.settle({
    recordKey,
    token: claim.token,
    now: at,
    state: isHeld ? "held" : isOver ? "completed" : "released",
    isListed: !isTracked,
    dropsSteps: isOver && seen.steps !== undefined,
    ...(isOver && { result: verdict.text }),
    // Nobody forgets a held key.
    ...(!isHeld && !isTracked && { expiresAt }),
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
    writes: [],
    messages: [],
  });
  return settled.settled ? { outcome, error } : undefined;
}
