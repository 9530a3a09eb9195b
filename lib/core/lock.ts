/** Mutual exclusion: a claim without a stored result. Nothing is replayed, and everybody runs in turn. */
import type { Execution } from "./execution.ts";
import { checkOptions, methods } from "./option-checks.ts";
import { ENGINE_CHECKS } from "./options.ts";
import { resultOf } from "./outcome.ts";
import { performOnce, type RunOnceOptions } from "./run-once.ts";

export interface LockOptions<Write = unknown>
  extends Pick<
    RunOnceOptions<Write>,
    | "operation"
    | "store"
    | "scope"
    | "context"
    | "leaseSeconds"
    | "renewLease"
    | "clockSkewSeconds"
    | "retentionSeconds"
    | "whenInProgress"
    | "observe"
    | "clock"
    | "random"
  > {}

/** What the holder of a lock is given: `signal` aborts when the lock is lost, `attempt` is a fencing number. */
export interface LockHold extends Pick<Execution, "signal" | "attempt"> {}

const { operation, store, leaseSeconds, renewLease, clockSkewSeconds } = ENGINE_CHECKS;
const { retentionSeconds, whenInProgress, observe, clock, random } = ENGINE_CHECKS;
const LOCK_CHECKS = {
  ...{ operation, store, leaseSeconds, renewLease, clockSkewSeconds },
  ...{ retentionSeconds, whenInProgress, observe, clock, random },
  scope: ["is the owner of the lock", () => true],
  context: methods("getRemainingTimeInMillis"),
} as const;

/** In a wrapper no error is permanent: recorded, it would close the lock for all of its retention. */
class Thrown {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

const presets = new WeakMap<object, RunOnceOptions<never>>();

/** Checked once per object. */
function presetOf<Write>(options: LockOptions<Write>): RunOnceOptions<Write> {
  const known = presets.get(options);
  if (known) return known as unknown as RunOnceOptions<Write>;
  checkOptions(options, LOCK_CHECKS, ["operation", "store"]);
  const preset = {
    ...options,
    fingerprint: () => "lock",
    shouldStore: () => false,
    isFinalError: () => false,
  };
  presets.set(options, preset as unknown as RunOnceOptions<never>);
  return preset;
}

/**
 * Runs `fn` while nobody else runs under the same operation, scope and `key`, then lets the next one run. Nothing is stored or
 * replayed: `fn` may return anything, and what it throws is thrown. A lock makes no effect happen once: a process that dies is
 * followed by one that runs again. Its lease is that of any claim, and renewed where it can be outlived.
 *
 * Taking a lock that was free before costs three requests, its first use two.
 * @throws ExecutionInProgressError (`EXECUTION_IN_PROGRESS`) while somebody else holds the lock, after `whenInProgress`;
 * ClaimLostError (`CLAIM_LOST`) where the lock was lost before `fn` returned; and as `runOnce`.
 */
export async function lock<T, Write = unknown>(
  options: LockOptions<Write>,
  key: string,
  fn: (hold: LockHold) => T | Promise<T>,
): Promise<T> {
  try {
    const outcome = await performOnce(presetOf(options), key, null, async (execution) => {
      try {
        return await fn(execution);
      } catch (error) {
        throw new Thrown(error);
      }
    });
    return resultOf(outcome) as T;
  } catch (error) {
    throw error instanceof Thrown ? error.error : error;
  }
}
