/** How `verify` is asked whether an abandoned attempt had its effect, its three verdicts, and the evidence stored with each. */
import type { ChildKeyLimits } from "./child-key.ts";

/** An abandoned attempt, as its record describes it: the lease ended, and how the attempt ended is unknown. */
export interface AbandonedRecord {
  readonly operation: string;
  /** The verified owner of the key; empty for public operations. */
  readonly scope: string;
  /** The number of the last attempt that may have had the effect. */
  readonly attempt: number;
  /**
   * The number of the claim that asks this question. A system that fences by numbers refuses the abandoned attempt from then
   * on.
   */
  readonly fence: number;
  /** When the key was first claimed (epoch ms). */
  readonly startedAt: number;
  /** When the lease of that attempt ended, at the latest (epoch ms). */
  readonly leaseEndedAt: number;
  /** Now (epoch ms). */
  readonly askedAt: number;
  /** Aborts when half of the remaining time has passed. After that the verdict is `unknown`. */
  readonly signal: AbortSignal;
  /**
   * The key that the handler passed on under this name.
   * @param name by default, in the `verify` of a step, the step's own, as in `step.childKey()`; required elsewhere, and in the reconciler
   * @throws InvalidOptionError (`INVALID_OPTION`) if the limits leave less than 128 bits.
   */
  childKey(name?: string, limits?: ChildKeyLimits): string;
}

/** An abandoned attempt, as a call with the same key knows it. */
export interface AbandonedAttempt<Input = unknown> extends AbandonedRecord {
  readonly key: string;
  /** The payload of the current call. It has the same fingerprint as the abandoned attempt. */
  readonly input: Input;
}

/** Stored with the record, at most 256 characters each. Never put a payload or a secret into it. */
export interface VerificationEvidence {
  /** Such as `GET /v1/charges`. */
  readonly asked?: string;
  /** Such as `200, 1 charge`. */
  readonly answered?: string;
}

/**
 * The verdict about an abandoned attempt. `happened` completes the key with `result`, which every caller gets. After
 * `did-not-happen` the handler runs. `unknown` holds the key.
 */
export type Verification =
  | { readonly outcome: "happened"; readonly result: unknown; readonly evidence?: VerificationEvidence }
  | { readonly outcome: "did-not-happen" | "unknown"; readonly evidence?: VerificationEvidence };

/** Answers whether an abandoned attempt had its effect. An error, a late or an invalid answer counts as `unknown`. */
export type Verify<Input = unknown, Previous extends AbandonedRecord = AbandonedAttempt<Input>> = (
  previous: Previous,
) => Verification | Promise<Verification>;

/** A `Verify` that needs neither key nor payload, so calls and the reconciler can both use it. */
export type VerifyRecord = (previous: AbandonedRecord) => Verification | Promise<Verification>;

/** The evidence for a verdict, as stored in the record (JSON). */
export interface Evidence extends VerificationEvidence {
  readonly verdict: Verification["outcome"];
  /** `verify`, `hold`, `handler`, `step`, `reconciler`, or the name of the person who decided. */
  readonly by: string;
  /** Epoch ms. */
  readonly at: number;
  /** The number of the attempt that the verdict is about. */
  readonly attempt: number;
  /** The step that the verdict is about; absent if it is about the whole attempt. */
  readonly step?: string | undefined;
  /** When the outcome became unknown, if that isn't `at` (epoch ms). */
  readonly since?: number | undefined;
  /** The last error of `verify`, or of an attempt that released the key, and when it occurred (epoch ms). Its text isn't kept. */
  readonly lastError?: { readonly name: string; readonly at: number } | undefined;
  /** The key of the record that a person forked from this one (`to`), or from which this one was forked (`of`). */
  readonly fork?: { readonly to?: string; readonly of?: string } | undefined;
  /** What a person has corrected or run again since, oldest first. */
  readonly past?: readonly PastDecision[] | undefined;
}

/** An end of a key that a person has replaced by another one. */
export interface PastDecision extends VerificationEvidence {
  /** The state in which it left the key. */
  readonly state: string;
  /** Absent if the handler ended it. */
  readonly verdict?: Verification["outcome"] | undefined;
  readonly by: string;
  /** Epoch ms. Absent for an attempt that left its key released or in progress: its end has no time. */
  readonly at?: number | undefined;
  /** The result that callers got, as it was stored: only of the last one, and only if it's short. */
  readonly was?: string | undefined;
}

/** The maximum length of a text in a record. */
export const MAX_TEXT_LENGTH = 256;

/** Texts are cut, so that evidence doesn't make a record expensive. Values that aren't text, and other names, are left out. */
export function encodeEvidence({ by, asked, answered, ...evidence }: Evidence): string {
  const { verdict, at, attempt, step, since, lastError, fork, past } = evidence;
  const texts = { asked: cut(asked), answered: cut(answered) };
  return JSON.stringify({
    verdict,
    by: cut(by),
    at,
    attempt,
    step,
    ...texts,
    since,
    lastError,
    fork,
    ...(past?.length && { past }),
  });
}

const cut = (text: unknown): string | undefined =>
  typeof text === "string" ? text.slice(0, MAX_TEXT_LENGTH).toWellFormed() : undefined;

/** `undefined` if there is none, or it can't be read. */
export function decodeEvidence(text: string | undefined): Evidence | undefined {
  try {
    return JSON.parse(text ?? "") ?? undefined;
  } catch {
    return undefined;
  }
}

/** When the last verdict was given (epoch ms); 0 if unknown. */
export function decidedAt(evidence: string | undefined): number {
  return Number(decodeEvidence(evidence)?.at) || 0;
}

/**
 * Carried over from the previous evidence: the last error, and for a held key the time since when its outcome is unknown. The
 * handler may have run in an attempt that was abandoned after that.
 */
export function keptOf(state: string, evidence: Evidence | undefined): Pick<Evidence, "since" | "lastError"> {
  if (evidence?.verdict !== "unknown") return {};
  const { at, since = at, lastError } = evidence;
  return state === "held" ? { since, lastError } : { lastError };
}

/** The decisions that have been replaced, oldest first. */
export function pastOf(evidence: string | undefined): readonly PastDecision[] {
  const past: unknown = decodeEvidence(evidence)?.past;
  return Array.isArray(past) ? past : [];
}

/** New evidence keeps the history of the record that it's written to. */
export function withPast(evidence: string | undefined, former: string | undefined): string | undefined {
  const past = evidence === undefined ? [] : pastOf(former);
  return past.length === 0 ? evidence : JSON.stringify({ ...decodeEvidence(evidence), past });
}
