/**
 * The errors of what a handler does: its steps, sagas and commits, and what it throws to end an operation for good.
 */
import { errorClass } from "./onceonly-error.ts";

/** A step has a wrong name, options that contradict each other, or no claim to be recorded under; nothing was done. */
export class StepInvalidError extends /* @__PURE__ */ errorClass("StepInvalidError", "STEP_INVALID", false) {}

/**
 * A saga stopped where it can only go on: a compensation failed, or a step behind the pivot. The key is held, and a call after a
 * minute goes on from there.
 */
export class SagaPendingError extends /* @__PURE__ */ errorClass("SagaPendingError", "SAGA_PENDING", true) {
  /** What is still to be done, in order: names of steps, and of compensations. */
  readonly pending: readonly string[];

  constructor(saga: string, failed: string, pending: readonly string[], options?: ErrorOptions) {
    super(`${saga} stopped at ${failed}; still to be done: ${[...pending].join(", ")}`, options);
    this.pending = pending;
  }
}

/**
 * One of the caller's own writes was refused by its condition; nothing of the transaction was applied. In SQL that is a
 * constraint, a RAISE, or what a function in `writes` throws: that is the `cause`.
 */
export class TransactionConditionError extends /* @__PURE__ */ errorClass(
  "TransactionConditionError",
  "TRANSACTION_CONDITION",
  false,
) {
  /** Position in `writes`; -1 where the COMMIT of a PostgresTransactions was refused. */
  readonly index: number;
  /**
   * The item as it was, if the write asked for it (`ReturnValuesOnConditionCheckFailure: "ALL_OLD"`). Not enumerable,
   * so that printing the error does not print the item.
   */
  declare readonly item: Readonly<Record<string, unknown>> | undefined;
  /**
   * An earlier try of the same transaction may still be under way, and be applied later. `commit` rules that out before
   * it throws this error.
   */
  mayStillApply: boolean;

  constructor(
    index: number,
    item: Readonly<Record<string, unknown>> | undefined,
    cause: unknown,
    mayStillApply = false,
  ) {
    super(`the condition of writes[${index}] was not met; nothing was written`, { cause });
    this.index = index;
    Object.defineProperty(this, "item", { value: item });
    this.mayStillApply = mayStillApply;
  }
}

/**
 * `commit` was called twice, after the attempt ended, without its result, or with writes or messages that cannot be taken.
 * Nothing was written.
 */
export class CommitInvalidError extends /* @__PURE__ */ errorClass(
  "CommitInvalidError",
  "COMMIT_INVALID",
  false,
) {
  /** Position in `writes` of what the database refuses, where it is known. */
  declare readonly index?: number;

  constructor(message: string, { index, cause }: { index?: number | undefined; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    if (index !== undefined) this.index = index;
  }
}

/** The messages of a commit, or all of it, are larger than the database takes; nothing was written. */
export class OutboxTransactionTooLargeError extends /* @__PURE__ */ errorClass(
  "OutboxTransactionTooLargeError",
  "OUTBOX_TRANSACTION_TOO_LARGE",
  false,
) {}

/** An operation was started inside itself with the same key; it would wait for itself. */
export class NestedExecutionError extends /* @__PURE__ */ errorClass(
  "NestedExecutionError",
  "NESTED_EXECUTION",
  false,
) {
  constructor(operation: string) {
    super(`operation "${operation}" runs inside itself with the same key: give the inner one its own name`);
  }
}

export interface PermanentErrorOptions extends ErrorOptions {
  /**
   * HTTP: the status of the answer, from 400 to 599. Each caller gets a problem document with it.
   * @default - the error is thrown on, and the gateway answers
   */
  readonly statusCode?: number;
  /**
   * Names the error, as callers are to know it.
   * @default "PermanentError"
   */
  readonly name?: string;
  /**
   * HTTP: whether callers get name and message.
   * @default - `true` for a status below 500
   */
  readonly expose?: boolean;
}

/**
 * Thrown by handlers: this will never succeed, record it and replay it. Name, message, `code`, `statusCode` and `expose` are
 * recorded; stack and `cause` are not.
 */
export class PermanentError extends /* @__PURE__ */ errorClass<string, "PERMANENT">(
  "PermanentError",
  "PERMANENT",
  false,
) {
  declare readonly statusCode?: number;
  declare readonly expose?: boolean;

  constructor(
    message?: string,
    {
      name = "PermanentError",
      statusCode,
      expose = statusCode !== undefined && statusCode < 500,
      ...rest
    }: PermanentErrorOptions = {},
  ) {
    super(message, rest);
    // The handler's own text, which a replay has to repeat.
    if (message !== undefined) this.message = message;
    Object.assign(this, { name }, statusCode !== undefined && { statusCode, expose });
  }
}

/**
 * A saga could not be finished, and its effects have been compensated. Thrown on by the handler it is recorded and replayed, as
 * a `PermanentError` with this name and status.
 */
export class SagaCompensatedError extends PermanentError {
  /** The step that failed. */
  readonly step: string;

  constructor(saga: string, step: string, options: { readonly statusCode: number; readonly cause: unknown }) {
    const name = "SagaCompensatedError";
    super(`${saga} failed at its step ${step}, and what was done before is undone`, { ...options, name });
    this.step = step;
  }
}
