/** What the engine decided, told to subscribers (logs, metrics, traces). Never a key, payload or result. */

export const DECISIONS = [
  /** The handler ran and its result or final error is recorded. */
  "executed",
  /** Answered from the record. */
  "replayed",
  /** Refused: the call carries no idempotency key. */
  "key-missing",
  /** The message carries no key, so the source's own name for it stands in: a redrive or a second send changes that. */
  "key-fallback",
  /** Refused: somebody else holds a live claim. */
  "in-progress",
  /** Refused: an earlier attempt ended with an unknown outcome, and somebody must resolve it. */
  "held",
  /** Refused: same key, other fingerprint. */
  "mismatch",
  /** Claimed after the lease of a former attempt had ended; the handler runs next. */
  "taken-over",
  /** This attempt lost its claim and recorded nothing. */
  "claim-lost",
  /** The handler ran, but its result could not be recorded before the deadline. */
  "completion-lost",
  /** The attempt ended, and nobody knows whether its effect happened; its lease runs out. */
  "outcome-unknown",
  /** A request to the store failed. */
  "store-failed",
  /** The handler runs without a claim: the key was missing, or the store failed and the options allow it. */
  "ran-unprotected",
  /** The attempt failed before it had an effect; a retry may run. */
  "released",
  /** A key was used again after its retention. */
  "key-expired",
  /** Records of a batch cannot be asked for together, for lack of a right: each is asked for alone from now on. */
  "group-refused",
  /** The database's clock and ours differ by more than the configured skew. */
  "clock-skewed",
] as const;
export type Decision = (typeof DECISIONS)[number];

export interface DecisionEvent {
  readonly decision: Decision;
  readonly operation: string;
  /** Names the key without showing it: the hash part of the record's key. Absent before the key is known. */
  readonly keyHash?: string;
  readonly attempt?: number;
  /** Since the call began. */
  readonly durationMs: number;
  /** For `in-progress` and `held`: since the key was first claimed. */
  readonly ageMs?: number | undefined;
  /** The error that was thrown or swallowed. It may hold what the handler put in it: log its name only. */
  readonly error?: unknown;
}

/** Called synchronously; what it throws is ignored, so that watching can never change an outcome. */
export type Observe = (event: DecisionEvent) => void;

/** Watching must not change an outcome, whatever the observer throws or rejects with. */
export function tellObserver(observe: Observe, event: DecisionEvent): void {
  try {
    const watched: unknown = observe(event);
    if (watched instanceof Promise) watched.catch(() => {});
  } catch {
    // As promised.
  }
}
