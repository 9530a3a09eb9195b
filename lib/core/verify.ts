/** The question whether an abandoned attempt had its effect, the three verdicts, and the evidence that is stored with each. */
import type { ChildKeyLimits } from "./child-key.ts";

/** What a record tells of an attempt that was abandoned: its lease ended, and nobody knows how the attempt ended. */
export interface AbandonedRecord {
  readonly operation: string;
  /** The verified owner of the key; empty for public operations. */
  readonly scope: string;
  /** The number of the last attempt that may have had the effect. */
  readonly attempt: number;
  /**
   * The number of the claim under which this question is asked. A system that fences by numbers refuses the abandoned
   * attempt from then on.
   */
  readonly fence: number;
  /** When the key was first claimed (epoch ms). */
  readonly startedAt: number;
  /** When the lease of that attempt had ended, at the latest (epoch ms). */
  readonly leaseEndedAt: number;
  /** Now (epoch ms). */
  readonly askedAt: number;
  /** Aborts when half of the time that was left has passed. From then on the verdict is `unknown`. */
  readonly signal: AbortSignal;
  /**
   * The key that the handler passed on under this name.
   * @throws InvalidOptionError (`INVALID_OPTION`) when the limits leave less than 128 bits.
   */
  childKey(name: string, limits?: ChildKeyLimits): string;
}

/** What a call with the same key knows of an attempt that was abandoned. */
export interface AbandonedAttempt<Input = unknown> extends AbandonedRecord {
  readonly key: string;
  /** The payload of the call that asks. Its fingerprint is that of the abandoned attempt. */
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
 * A verdict about an abandoned attempt. `happened` completes the key with `result`, which every caller gets. After
 * `did-not-happen` the handler runs. `unknown` holds the key.
 */
export type Verification =
  | { readonly outcome: "happened"; readonly result: unknown; readonly evidence?: VerificationEvidence }
  | { readonly outcome: "did-not-happen" | "unknown"; readonly evidence?: VerificationEvidence };

/** Asks whether an abandoned attempt had its effect. An error, a late answer or a wrong one counts as `unknown`. */
export type Verify<Input = unknown, Previous extends AbandonedRecord = AbandonedAttempt<Input>> = (
  previous: Previous,
) => Verification | Promise<Verification>;

/** A `Verify` that needs neither key nor payload: a call can ask it, and the reconciler too. */
export type VerifyRecord = (previous: AbandonedRecord) => Verification | Promise<Verification>;

/** The evidence of a verdict, as a record holds it in JSON. */
export interface Evidence extends VerificationEvidence {
  readonly verdict: Verification["outcome"];
  /** `verify`, `hold`, `handler`, `step`, `reconciler`, or the person who decided. */
  readonly by: string;
  /** Epoch ms. */
  readonly at: number;
  /** The number of the attempt that the verdict is about. */
  readonly attempt: number;
  /** The step that the verdict is about; absent where it is about the whole attempt. */
  readonly step?: string | undefined;
  /** The beginning of the time in which nobody knew, where that is not `at` (epoch ms). */
  readonly since?: number | undefined;
  /** The last error of a question, or of an attempt that gave the key back, and when that was (epoch ms). Its text is not kept. */
  readonly lastError?: { readonly name: string; readonly at: number } | undefined;
}

/** What a record keeps of a text at most. */
export const MAX_TEXT_LENGTH = 256;

/** Texts are cut, so that no evidence makes a record dear. Values that are no text, and other names, are left out. */
export function encodeEvidence({ by, asked, answered, ...evidence }: Evidence): string {
  const { verdict, at, attempt, step, since, lastError } = evidence;
  const texts = { asked: cut(asked), answered: cut(answered) };
  return JSON.stringify({ verdict, by: cut(by), at, attempt, step, ...texts, since, lastError });
}

const cut = (text: unknown): string | undefined =>
  typeof text === "string" ? text.slice(0, MAX_TEXT_LENGTH).toWellFormed() : undefined;

/** `undefined` where there is none, or none that can be read. */
export function decodeEvidence(text: string | undefined): Evidence | undefined {
  try {
    return JSON.parse(text ?? "") ?? undefined;
  } catch {
    return undefined;
  }
}

/** When the last verdict was given (epoch ms); 0 where nothing tells. */
export function decidedAt(evidence: string | undefined): number {
  return Number(decodeEvidence(evidence)?.at) || 0;
}

/**
 * What evidence takes over from the evidence before: the last error, and of a held key since when nobody knows. In an attempt
 * that was abandoned after that its handler may have run.
 */
export function keptOf(state: string, evidence: Evidence | undefined): Pick<Evidence, "since" | "lastError"> {
  if (evidence?.verdict !== "unknown") return {};
  const { at, since = at, lastError } = evidence;
  return state === "held" ? { since, lastError } : { lastError };
}
