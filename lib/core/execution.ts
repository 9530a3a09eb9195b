/** The handler's view of its own attempt. */
import type { ChildKeyLimits } from "./child-key.ts";
import { SHAPE } from "./copies.ts";
import type { OutgoingMessage } from "./messages/outgoing-message.ts";
import type { StoredSteps } from "./record.ts";
import type { Step, StepOptions } from "./steps.ts";
import type { WritesOf } from "./store.ts";

/** The effects that a commit applies together with its result. */
export interface CommitEffects<Write = unknown> {
  /** @default - none */
  readonly writes?: WritesOf<Write>;
  /** @default - none */
  readonly messages?: readonly OutgoingMessage[];
}

/** `unknown`, or the compiler's message for a type that has only the fields of `CommitEffects`. */
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
  /** The caller's idempotency key, or the derived one. */
  readonly key: string;
  readonly operation: string;
  /** The verified owner of the key; empty for public operations. */
  readonly scope: string;
  /**
   * Counts the claims of this key, from 1: a fencing number to pass on. Starts over after TTL has deleted the record.
   * `undefined` in a run without a claim: in the optimistic mode, and if `whenStoreFails` lets it run.
   */
  readonly attempt: number | undefined;
  /**
   * The W3C trace context of this attempt: from the option `traceparent`, else from the HTTP request or the message's envelope.
   * `undefined` if there is none. Committed messages carry it on.
   */
  readonly traceparent: string | undefined;
  /**
   * Aborts shortly before the deadline, and immediately if a renewed lease is lost (its reason is a ClaimLostError). A retry
   * may repeat work that goes on after that.
   */
  readonly signal: AbortSignal;
  /**
   * Records `result`, applies `writes` and stores `messages` in one transaction: either everything is applied once, or nothing
   * is. Resolves to the result that every caller gets: this one, or the winner's if another attempt was first. `outboxRelay`
   * sends the messages afterwards. Call it at most once per attempt, and before the handler returns.
   * @throws TransactionConditionError (`TRANSACTION_CONDITION`) if a condition of `writes` is not met: nothing is written, and
   * the handler may commit something else. ResponseNotStorableError, CommitInvalidError, MessageIdInvalidError,
   * PayloadInvalidError, OutboxTransactionTooLargeError: nothing is written. ClaimLostError, StoreUnavailableError.
   */
  commit<T>(result: T, effects: CommitEffects<Write> | undefined): Promise<T>;
  /**
   * Records only `result`. Refuses a result whose only fields are lists named `writes` and `messages`, because most likely the
   * result was forgotten. `commit(result, {})` stores such a result.
   * @throws CommitInvalidError (`COMMIT_INVALID`), and the other errors of `commit` with effects.
   */
  commit<T>(result: T & NoEffectsAlone<T>): Promise<T>;
  /**
   * Runs `work` as a part of the operation, and records its result under the claim with one request. A later attempt skips
   * finished steps and gets the same values. Steps may run concurrently. Use each name once per attempt: 1 to 64 characters, at
   * most 100 names. The result is JSON, kept until the operation is completed or has failed for good. Without `atMostOnce` an
   * interrupted step runs again, so pass `step.childKey()` on.
   * @throws StepInvalidError (`STEP_INVALID`) for a wrong name or option. OutcomeUnknownError (`OUTCOME_UNKNOWN`) if an
   * `atMostOnce` step was interrupted: the key is held. ResultNotKeptError (`RESULT_NOT_KEPT`) in each attempt if the step is
   * done and its result too large to be kept. InvalidOptionError, ResponseNotStorableError, ClaimLostError,
   * StoreUnavailableError, and the errors of `work`.
   */
  step<T>(name: string, work: (step: Step<Write>) => T | Promise<T>, options?: StepOptions): Promise<T>;
  /**
   * A key for a system that this handler calls, the same in every attempt. Pass it on as that system's idempotency key.
   * @throws InvalidOptionError (`INVALID_OPTION`) if the limits leave less than 128 bits.
   */
  childKey(name: string, limits?: ChildKeyLimits): string;
}

export const STEPS = Symbol.for(`onceonly.steps/${SHAPE}`);

/**
 * The recorded steps of an execution, also if another copy of the package made it; `undefined` for any other value. Sagas read
 * from them where the previous attempt stopped.
 */
export function stepsOf(execution: unknown): StoredSteps | undefined {
  return (execution as { readonly [STEPS]?: StoredSteps } | null | undefined)?.[STEPS];
}

/** When the operation of such an execution with a claim was first claimed (epoch ms). */
export function startOf(execution: unknown): number {
  return (execution as { readonly startedAt: number }).startedAt;
}

/** How long ago that was, in milliseconds. */
export function ageOf(execution: unknown): number {
  return (execution as { readonly ageMs: number }).ageMs;
}
