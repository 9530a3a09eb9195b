/** The verdict about what a look-up does not find: it may not show yet what was done a moment ago, or not any more. */
import { seconds } from "../../core/option-checks.ts";
import type { AbandonedAttempt, Verification, VerificationEvidence } from "../../core/verify.ts";

/** How far behind a look-up may be, in seconds. */
export const LAGS_SECONDS = 60;

export const DAY_SECONDS = 86_400;

export const remembers = seconds(1, 3650 * DAY_SECONDS);

/** For how long after an attempt its absence says something: from when the look-up has caught up until it forgets. */
interface Sight {
  readonly lagsSeconds?: number;
  readonly remembersSeconds?: number | undefined;
}

/** Outside of that time absence proves nothing: the key is held until a later look-up or an operator decides. */
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

/** Whether a client's error says that there is no such thing, by the names that its service has for that. */
export function isMissing(error: unknown, ...names: readonly string[]): boolean {
  return names.includes((Object(error) as { readonly name: string }).name);
}
