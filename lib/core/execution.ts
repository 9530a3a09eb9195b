/** What a handler sees of its own attempt. */
import type { ChildKeyLimits } from "./child-key.ts";
import { SHAPE } from "./copies.ts";
import type { OutgoingMessage } from "./messages/outgoing-message.ts";
import type { StoredSteps } from "./record.ts";
import type { Step, StepOptions } from "./steps.ts";
import type { WritesOf } from "./store.ts";

/** The effects that a commit brings about together with its result. */
export interface CommitEffects<Write = unknown> {
  /** @default - none */
  readonly writes?: WritesOf<Write>;
  /** @default - none */
  readonly messages?: readonly OutgoingMessage[];
}

/** `unknown`, or what the compiler says of a type that has nothing but the fields of `CommitEffects`. */
type NoEffectsAlone<Result> = [keyof Result] extends [never]
  ? unknown
  : [keyof Result, Result] extends [
        keyof CommitEffects,
        { readonly [Name in keyof CommitEffects]: readonly unknown[] | ((...given: never[]) => unknown) },
      ]
    ? "the result of a commit comes first, then { writes, messages }"
    : unknown;

/** One attempt at an operation, as its handler sees it. */
export interface Execution<Write = unknown> {
  /** The idempotency key of the caller, or the derived one. */
  readonly key: string;
  readonly operation: string;
  /** The verified owner of the key; empty for public operations. */
  readonly scope: string;
  /**
   * Counts the claims of this key, from 1: a fencing number to pass on. Begins again once TTL has deleted the record.
   * `undefined` in a run without a claim: in the optimistic mode, and where `whenStoreFails` lets it run.
   */
  readonly attempt: number | undefined;
  /**
   * The W3C trace context of this attempt: from the option `traceparent`, else from the HTTP request or the envelope of the
   * message. `undefined` where there is none. Committed messages carry the trace context on.
   */
  readonly traceparent: string | undefined;
  /**
   * Aborts shortly before the deadline, and at once where a lease that is renewed is lost (its reason is a ClaimLostError).
   * Work that goes on after it may be repeated by a retry.
   */
  readonly signal: AbortSignal;
  /**
   * Records `result`, applies `writes` and stores `messages` in one transaction: all of it, once, or nothing. Resolves
   * to the result that every caller gets: this one, or the winner's if another attempt was first. The messages are
   * sent afterwards, by `outboxRelay`. At most once per attempt, and before the handler returns.
   * @throws TransactionConditionError (`TRANSACTION_CONDITION`) when a condition of `writes` is not met: nothing
   * is written, and the handler may commit something else. ResponseNotStorableError, CommitInvalidError,
   * MessageIdInvalidError, PayloadInvalidError, OutboxTransactionTooLargeError: nothing is written. ClaimLostError,
   * StoreUnavailableError.
   */
  commit<T>(result: T, effects: CommitEffects<Write> | undefined): Promise<T>;
  /**
   * Records `result` alone. A result with no fields but lists under the names `writes` and `messages` is refused: most likely
   * the result was forgotten. `commit(result, {})` stores such a result.
   * @throws CommitInvalidError (`COMMIT_INVALID`), and the others of `commit` with effects.
   */
  commit<T>(result: T & NoEffectsAlone<T>): Promise<T>;
  /**
   * Runs `work` as a part of the operation, and records its result under the claim by one request. An attempt that comes after
   * skips what is done and gets the same value. Steps may run side by side; each name is asked for once in an attempt: 1 to
   * 64 characters, at most 100 names. The result is JSON. It is kept until the operation is completed or has failed for good.
   * Without `atMostOnce` an interrupted step runs again: pass `step.childKey()` on.
   * @throws StepInvalidError (`STEP_INVALID`) for a wrong name or option. OutcomeUnknownError (`OUTCOME_UNKNOWN`) where a step
   * `atMostOnce` was interrupted: the key is held. ResultNotKeptError (`RESULT_NOT_KEPT`) in each attempt where the step is done
   * and its result too large to be kept. InvalidOptionError, ResponseNotStorableError, ClaimLostError, StoreUnavailableError, and
   * what `work` throws.
   */
  step<T>(name: string, work: (step: Step<Write>) => T | Promise<T>, options?: StepOptions): Promise<T>;
  /**
   * A key for a system this handler calls, the same for every attempt: pass it on as that system's idempotency key.
   * @throws InvalidOptionError (`INVALID_OPTION`) when the limits leave less than 128 bits.
   */
  childKey(name: string, limits?: ChildKeyLimits): string;
}

export const STEPS = Symbol.for(`onceonly.steps/${SHAPE}`);

/**
 * The steps on record of an execution, also if another copy of the package made it; `undefined` for any other value. Sagas read
 * from them where the previous attempt stopped.
 */
export function stepsOf(execution: unknown): StoredSteps | undefined {
  return (execution as { readonly [STEPS]?: StoredSteps } | null | undefined)?.[STEPS];
}

/** When the operation of such an execution, which has a claim, was first claimed (epoch ms). */
export function startOf(execution: unknown): number {
  return (execution as { readonly startedAt: number }).startedAt;
}
