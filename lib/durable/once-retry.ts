/** A retry strategy for steps that waits for a claim to end. */
import { type Clock, type Random, systemClock, systemRandom } from "../core/clock.ts";
import { hasCode, isStoreFailure } from "../core/error-code.ts";
import { type ExecutionInProgressError, isOnceonlyError } from "../core/errors.ts";
import { aFunction, checkOptions, methods } from "../core/option-checks.ts";
import { synchronous } from "../core/unawaited.ts";

/** As the SDK calls it: `attempts` counts from 1. */
export type DurableRetryStrategy = (
  error: Error,
  attempts: number,
) => { readonly shouldRetry: boolean; readonly delay?: { readonly seconds: number } };

export interface OnceRetryOptions {
  /**
   * The strategy for all other errors, such as those of the work itself. It counts the waits of this one as attempts.
   * @default - as the SDK's own: 6 attempts, after random pauses of at most 5 to 60 seconds
   */
  readonly otherwise?: DurableRetryStrategy;
  /** @default - the system's clock */
  readonly clock?: Clock;
  /** @default - the system's randomness */
  readonly random?: Random;
}

/** An invocation lasts 900 seconds at most, so its lease ends within that time and some clock skew. A longer claim may end early. */
const LONGEST_WAIT_SECONDS = 930;
const LONGEST_OUTAGE_PAUSE_SECONDS = 300;
/** An operator is asked: there is no hurry, but the execution costs nothing while it waits. */
const LONGEST_HOLD_PAUSE_SECONDS = 3600;
const HOLD_PAUSE_SECONDS = 61;

/**
 * A retry strategy for SDK steps whose work calls `onceStep`, `runOnce` or a wrapped function. It retries, for as long as the
 * execution lives, what time alone resolves: a key that is in progress until its lease has ended, a key that is held until it is
 * resolved, and a store that can't be reached. It doesn't retry what can't succeed, such as a PermanentError or a key with another
 * payload. `onceStep` uses it by default.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function onceRetry(options: OnceRetryOptions = {}): DurableRetryStrategy {
  checkOptions(
    options,
    { otherwise: aFunction, clock: methods("now", "sleep"), random: methods("token", "fraction") },
    [],
  );
  const { clock = systemClock, random = systemRandom } = options;
  const { otherwise = (_error, attempts) => asTheSdk(attempts, random) } = options;
  return (error, attempts) => {
    if (hasCode(error, "EXECUTION_IN_PROGRESS")) {
      const { leaseExpiresAt } = error as unknown as ExecutionInProgressError;
      return after((leaseExpiresAt - clock.now()) / 1000 + 1, LONGEST_WAIT_SECONDS);
    }
    if (hasCode(error, "OUTCOME_UNKNOWN"))
      return after(HOLD_PAUSE_SECONDS * 2 ** (attempts - 1), LONGEST_HOLD_PAUSE_SECONDS);
    const isOutage = isStoreFailure(error) && error.failure !== "refused";
    if (isOutage || hasCode(error, "CLAIM_LOST"))
      return after(2 ** (attempts - 1), LONGEST_OUTAGE_PAUSE_SECONDS);
    if (isOnceonlyError(error) && !error.retryable && !isStoreFailure(error)) return { shouldRetry: false };
    return synchronous("otherwise", otherwise(error, attempts), "the retry decision");
  };
}

function after(seconds: number, most: number): ReturnType<DurableRetryStrategy> {
  return { shouldRetry: true, delay: { seconds: Math.max(1, Math.ceil(Math.min(seconds, most) || 1)) } };
}

function asTheSdk(attempts: number, random: Random): ReturnType<DurableRetryStrategy> {
  if (attempts >= 6) return { shouldRetry: false };
  return after(random.fraction() * 5 * 2 ** (attempts - 1), 60);
}
