/** Mutual exclusion: a claim without a stored result. Nothing is replayed, and all callers run in turn. */
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

/** Passed to the holder of a lock: `signal` aborts when the lock is lost, `attempt` is a fencing number. */
export interface LockHold extends Pick<Execution, "signal" | "attempt"> {}

const { operation, store, leaseSeconds, renewLease, clockSkewSeconds } = ENGINE_CHECKS;
const { retentionSeconds, whenInProgress, observe, clock, random } = ENGINE_CHECKS;
const LOCK_CHECKS = {
  ...{ operation, store, leaseSeconds, renewLease, clockSkewSeconds },
  ...{ retentionSeconds, whenInProgress, observe, clock, random },
  scope: ["is the owner of the lock", () => true],
  context: methods("getRemainingTimeInMillis"),
} as const;

/** In a wrapper no error is permanent: a recorded error would close the lock for its whole retention. */
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
 * Runs `fn` while no other call runs under the same operation, scope and `key`, then lets the next one run. Nothing is stored
 * or replayed: `fn` may return anything, and its errors are thrown. A lock doesn't make an effect happen once: if a process
 * dies, the next holder runs again. The lease is the same as for any claim, and is renewed if the work can outlast it.
 *
 * Taking a lock that was used before costs three requests, its first use two.
 * @throws ExecutionInProgressError (`EXECUTION_IN_PROGRESS`) while another call holds the lock, after `whenInProgress`;
 * ClaimLostError (`CLAIM_LOST`) if the lock was lost before `fn` returned; and the errors of `runOnce`.
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
