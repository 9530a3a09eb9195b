/** The verdict when a look-up finds nothing: a recent effect may not be visible yet, or an old one no longer. */
import { seconds } from "../../core/option-checks.ts";
import type { AbandonedAttempt, Verification, VerificationEvidence } from "../../core/verify.ts";

/** How far a look-up may lag, in seconds. */
export const LAGS_SECONDS = 60;

export const DAY_SECONDS = 86_400;

export const remembers = seconds(1, 3650 * DAY_SECONDS);

/** The period after an attempt in which absence is meaningful: from when the look-up has caught up until it forgets. */
interface Sight {
  readonly lagsSeconds?: number;
  readonly remembersSeconds?: number | undefined;
}

/** Outside that period, absence proves nothing: the key is held until a later look-up or an operator decides. */
export function absent(
  {
    askedAt,
    startedAt,
    leaseEndedAt,
  }: Pick<AbandonedAttempt<never>, "askedAt" | "startedAt" | "leaseEndedAt">,
  { lagsSeconds = 0, remembersSeconds = Number.POSITIVE_INFINITY }: Sight,
  evidence: VerificationEvidence,
): Verification {
  const isTooSoon = askedAt - leaseEndedAt < lagsSeconds * 1000;
  if (askedAt - startedAt < remembersSeconds * 1000)
    return { outcome: isTooSoon ? "unknown" : "did-not-happen", evidence };
  return {
    outcome: "unknown",
    evidence: { ...evidence, answered: `${evidence.answered}, too late to tell` },
  };
}

/** Whether a client's error means "not found", by the error names of its service. */
export function isMissing(error: unknown, ...names: readonly string[]): boolean {
  return names.includes((Object(error) as { readonly name: string }).name);
}
