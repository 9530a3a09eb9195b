/** The errors of a handler's own actions: its steps, sagas and commits, and those that it throws to end an operation for good. */
import { errorClass } from "./onceonly-error.ts";

/**
 * A step has no name or the name of another step, contradictory options, or no claim to be recorded under; or the attempt is
 * over. Nothing was done, and the message says which: docs/guides/steps-and-sagas.md.
 */
export class StepInvalidError extends /* @__PURE__ */ errorClass("StepInvalidError", "STEP_INVALID", false) {}

/**
 * A saga stopped at a point from which it can only go on: a compensation failed, or a step after the pivot did. `cause` is
 * that error. The key is held, and a call after a minute goes on from there.
 */
export class SagaPendingError extends /* @__PURE__ */ errorClass("SagaPendingError", "SAGA_PENDING", true) {
  /** The remaining work, in order: names of steps and of compensations. */
  readonly pending: readonly string[];

  constructor(saga: string, failed: string, pending: readonly string[], options?: ErrorOptions) {
    super(`${saga} stopped at ${failed}; still to do: ${[...pending].join(", ")}`, options);
    this.pending = pending;
  }
}

/**
 * The condition of one of the caller's own writes failed; nothing in the transaction was applied. Commit something else, or
 * throw. In SQL the `cause` is a constraint, a RAISE, or the error of a function in `writes`.
 */
export class TransactionConditionError extends /* @__PURE__ */ errorClass(
  "TransactionConditionError",
  "TRANSACTION_CONDITION",
  false,
) {
  /** Position in `writes`; -1 if the COMMIT of a PostgresTransactions was refused. */
  readonly index: number;
  /**
   * The item as it was, if the write asked for it (`ReturnValuesOnConditionCheckFailure: "ALL_OLD"`). Not enumerable,
   * so that printing the error does not print the item.
   */
  declare readonly item: Readonly<Record<string, unknown>> | undefined;
  /**
   * An earlier try of the same transaction may still be in flight, and be applied later. `commit` rules that out before it
   * throws this error.
   */
  mayStillApply: boolean;

  constructor(
    index: number,
    item: Readonly<Record<string, unknown>> | undefined,
    cause: unknown,
    mayStillApply = false,
  ) {
    super(`the condition of writes[${index}] failed; nothing was written`, { cause });
    this.index = index;
    Object.defineProperty(this, "item", { value: item });
    this.mayStillApply = mayStillApply;
  }
}

/**
 * `commit` was called twice, after the attempt ended, without its result, or with writes or messages that can't be accepted.
 * Nothing was written, and the message says which. `commit` accepts the result, then `{ writes, messages }`, two arrays: leave
 * out the one that you don't need.
 */
export class CommitInvalidError extends /* @__PURE__ */ errorClass(
  "CommitInvalidError",
  "COMMIT_INVALID",
  false,
) {
  /** Position in `writes` of the write that the database refused, if known. */
  declare readonly index?: number;

  constructor(message: string, { index, cause }: { index?: number | undefined; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    if (index !== undefined) this.index = index;
  }
}

/**
 * The commit's messages, or the whole commit, are larger than the database accepts: in DynamoDB 400 KB for a message, 100
 * actions and 4 MB for a transaction, in Aurora DSQL 1 MiB for a message. Nothing was written. Store large bodies in a bucket
 * with a claim check, or send the address of the content.
 */
export class OutboxTransactionTooLargeError extends /* @__PURE__ */ errorClass(
  "OutboxTransactionTooLargeError",
  "OUTBOX_TRANSACTION_TOO_LARGE",
  false,
) {}

/**
 * An operation was started inside itself with the same key, so it would wait for itself. Give the inner operation a different
 * name. Where this is noticed: docs/guides/middy.md.
 */
export class NestedExecutionError extends /* @__PURE__ */ errorClass(
  "NestedExecutionError",
  "NESTED_EXECUTION",
  false,
) {
  constructor(operation: string) {
    super(
      `operation "${operation}" runs inside itself with the same key: give the inner operation a different name`,
    );
  }
}

export interface PermanentErrorOptions extends ErrorOptions {
  /**
   * HTTP: the status of the response, from 400 to 599. Each caller gets a problem document with it.
   * @default - the error is rethrown, and the gateway answers
   */
  readonly statusCode?: number;
  /**
   * The error's name, as callers see it.
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
 * Throw it from a handler if the operation can never succeed: the error is recorded and replayed. Name, message, `code`,
 * `statusCode` and `expose` are recorded; stack and `cause` are not. Create it as `new PermanentError(message, { statusCode,
 * name, expose, cause })`.
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
 * A saga could not be finished, and its effects have been compensated. If the handler rethrows it, it is recorded and replayed
 * as a `PermanentError` with this name and status.
 */
export class SagaCompensatedError extends PermanentError {
  /** The step that failed. */
  readonly step: string;

  constructor(saga: string, step: string, options: { readonly statusCode: number; readonly cause: unknown }) {
    const name = "SagaCompensatedError";
    super(`${saga} failed at step ${step}; the steps before it have been compensated`, { ...options, name });
    this.step = step;
  }
}
