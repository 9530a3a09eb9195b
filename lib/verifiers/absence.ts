/** The verdict about what a look-up does not find: it may not show yet what was done a moment ago. */
import type { AbandonedAttempt, Verification, VerificationEvidence } from "../core/verify.ts";

/** How far behind a look-up may be, in seconds. */
export const LAGS_SECONDS = 60;

/** Too soon after the lease of the abandoned attempt nobody knows: the key is held, and asked about again. */
export function absent(
  { askedAt, leaseEndedAt }: Pick<AbandonedAttempt<never>, "askedAt" | "leaseEndedAt">,
  lagsSeconds: number,
  evidence: VerificationEvidence,
): Verification {
  const isTooSoon = askedAt - leaseEndedAt < lagsSeconds * 1000;
  return { outcome: isTooSoon ? "unknown" : "did-not-happen", evidence };
}

/** Whether a client's error says that there is no such thing, by the names that its service has for that. */
export function isMissing(error: unknown, ...names: readonly string[]): boolean {
  return names.includes((Object(error) as { readonly name: string }).name);
}
