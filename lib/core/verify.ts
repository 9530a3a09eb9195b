/** The question whether an abandoned attempt had its effect, the three verdicts, and the evidence that is stored with each. */
import type { ChildKeyLimits } from "./child-key.ts";

/** How long a caller of a held key waits before the next try, and `verify` before the next question. */
export const HELD_RETRY_SECONDS = 60;

/** What is known of an attempt that was abandoned: its lease ended, and nobody knows how the attempt ended. */
export interface AbandonedAttempt<Input = unknown> {
  readonly key: string;
  readonly operation: string;
  /** The verified owner of the key; empty for public operations. */
  readonly scope: string;
  /** The payload of the call that asks. Its fingerprint is that of the abandoned attempt. */
  readonly input: Input;
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
export type Verify<Input = unknown> = (
  previous: AbandonedAttempt<Input>,
) => Verification | Promise<Verification>;

/** The evidence of a verdict, as a record holds it in JSON. */
export interface Evidence extends VerificationEvidence {
  readonly verdict: Verification["outcome"];
  /** `verify`, `hold`, `handler`, or the person who decided. */
  readonly by: string;
  /** Epoch ms. */
  readonly at: number;
  /** The number of the attempt that the verdict is about. */
  readonly attempt: number;
}

const MAX_TEXT_LENGTH = 256;

/** Texts are cut, so that no evidence makes a record dear. What is no text, or has another name, is left out. */
export function encodeEvidence({ verdict, by, at, attempt, asked, answered }: Evidence): string {
  return JSON.stringify({ verdict, by: cut(by), at, attempt, asked: cut(asked), answered: cut(answered) });
}

const cut = (text: unknown): string | undefined =>
  typeof text === "string" ? text.slice(0, MAX_TEXT_LENGTH).toWellFormed() : undefined;

/** When the last verdict was given (epoch ms); 0 where nothing tells. */
export function decidedAt(evidence: string | undefined): number {
  try {
    return Number(JSON.parse(evidence ?? "").at) || 0;
  } catch {
    return 0;
  }
}
