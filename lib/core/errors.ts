/** Every error onceonly throws, in the order of docs/use/errors.md. Users branch on `code`. */
import { kindOf } from "./kind-of.ts";
import { HELD_RETRY_SECONDS } from "./verify.ts";

const BRAND = Symbol.for("onceonly.error");

/** A longer message holds text that somebody else wrote, such as the name of a field of a payload. */
const MAX_MESSAGE_LENGTH = 1000;

/** Beginning and end, which say what it is about and what to do. */
function bounded(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  const [head, tail] = [message.slice(0, 700), message.slice(3 - MAX_MESSAGE_LENGTH + 700)];
  return `${head.toWellFormed()} … ${tail.toWellFormed()}`;
}

/** Base of all errors of this package. `retryable` says whether the same call may succeed later. */
export abstract class OnceonlyError extends Error {
  abstract readonly code: string;
  abstract readonly retryable: boolean;
  abstract override readonly name: string;
  readonly [BRAND] = true;
  /** For logs: the hash of the idempotency key it is about; absent where no key is known. */
  declare keyHash?: string;

  constructor(message = "", options?: ErrorOptions) {
    super(bounded(message), options);
  }
}

/**
 * The part that differs by class, as literals: minifiers rename classes, and users branch on `code`.
 * The annotation lets bundlers drop the classes that nobody uses.
 * @__NO_SIDE_EFFECTS__
 */
function errorClass<Name extends string, Code extends string>(name: Name, code: Code, retryable: boolean) {
  return class extends OnceonlyError {
    override readonly name = name as Name;
    readonly code = code;
    readonly retryable = retryable;
  };
}

/** True for errors of this package, also across copies of it (a Lambda layer and a bundle). */
export function isOnceonlyError(error: unknown): error is OnceonlyError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** An option is unknown, missing or breaks its rule. Thrown where the options are given, before any I/O. */
export class InvalidOptionError extends errorClass("InvalidOptionError", "INVALID_OPTION", false) {
  readonly option: string;

  /** Without a third argument nothing is said of the value: under an unknown name it may be anything. */
  constructor(option: string, rule: string, ...got: readonly [value?: unknown]) {
    super(`option \`${option}\` ${rule}${got.length > 0 ? `; got ${kindOf(got[0])}` : ""}`);
    this.option = option;
  }
}

/** The call carries no idempotency key, and the operation requires one. */
export class IdempotencyKeyMissingError extends errorClass(
  "IdempotencyKeyMissingError",
  "IDEMPOTENCY_KEY_MISSING",
  false,
) {}

/** The idempotency key is malformed, too long or too old. */
export class IdempotencyKeyInvalidError extends errorClass(
  "IdempotencyKeyInvalidError",
  "IDEMPOTENCY_KEY_INVALID",
  false,
) {}

/** No verified caller could be found to own the key. */
export class ScopeMissingError extends errorClass("ScopeMissingError", "SCOPE_MISSING", false) {}

/** The payload has no faithful canonical form, so it cannot be told from another one. */
export class PayloadInvalidError extends errorClass("PayloadInvalidError", "PAYLOAD_INVALID", false) {
  /** What an HTTP caller is shown: what is wrong with its payload, and nothing of the service. `undefined` for other faults. */
  declare readonly detail?: string;

  constructor(message: string, detail?: string) {
    super(message);
    if (detail !== undefined) this.detail = bounded(detail);
  }
}

/** The body of a request is larger than the server accepts. Nothing ran. */
export class PayloadTooLargeError extends errorClass("PayloadTooLargeError", "PAYLOAD_TOO_LARGE", false) {
  constructor(maxBytes: number) {
    super(`the body of the request has more than ${maxBytes} bytes`);
  }
}

/**
 * Somebody else holds a live claim on this key. Retry after `retryAfterSeconds`; from `leaseExpiresAt` (epoch ms) on a retry can
 * run, unless the claim was completed or renewed by then.
 */
export class ExecutionInProgressError extends errorClass(
  "ExecutionInProgressError",
  "EXECUTION_IN_PROGRESS",
  true,
) {
  readonly leaseExpiresAt: number;
  /** A whole number from 1 to 10: the longer the claim has lasted, the larger. */
  readonly retryAfterSeconds: number;

  constructor(leaseExpiresAt: number, retryAfterSeconds = 1) {
    super("in progress under this idempotency key: retry later with the same key");
    this.leaseExpiresAt = leaseExpiresAt;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The same key was used with another payload. */
export class FingerprintMismatchError extends errorClass(
  "FingerprintMismatchError",
  "FINGERPRINT_MISMATCH",
  false,
) {
  constructor() {
    super("this idempotency key was used with another payload: a new operation needs a new key");
  }
}

/**
 * This attempt lost its claim, and the winner has no result yet: a retry replays the winner's. Also the reason of `signal`
 * where a lease could not be renewed.
 */
export class ClaimLostError extends errorClass("ClaimLostError", "CLAIM_LOST", true) {
  constructor(
    message = "another attempt took over, nothing of this one was recorded: retry with the same key",
  ) {
    super(message);
  }
}

/** The result cannot be stored faithfully, so a replay could not equal the first answer. */
export class ResponseNotStorableError extends errorClass(
  "ResponseNotStorableError",
  "RESPONSE_NOT_STORABLE",
  false,
) {}

/** The operation, or a step of it, is done, but its result was too large to keep, was erased, or was not to be kept. It does not run again. */
export class ResultNotKeptError extends errorClass("ResultNotKeptError", "RESULT_NOT_KEPT", false) {
  /** The size of a result that was too large; else 0. */
  readonly bytes: number;

  constructor(bytes: number) {
    super(`done, but its result is not kept${bytes ? `: ${bytes} bytes` : ""}`);
    this.bytes = bytes;
  }
}

/** A stored record cannot be read, or is of a version this code does not know. The handler does not run. */
export class RecordCorruptError extends errorClass("RecordCorruptError", "RECORD_CORRUPT", false) {}

/** Why a store failed. Only `refused` (permissions, missing table, invalid request) does not pass by itself. */
export const STORE_FAILURES = ["throttled", "conflict", "unreachable", "refused"] as const;
export type StoreFailure = (typeof STORE_FAILURES)[number];

/** What was asked of a store. */
interface StoreRequest {
  /** Such as `PutItem`. */
  readonly action?: string | undefined;
  /** The table, or several with commas between. */
  readonly table?: string | undefined;
}

/**
 * The store could not be reached, or refused the request: then it is not `retryable`, since it will refuse it again. `cause`
 * is the client's own error.
 */
export class StoreUnavailableError extends errorClass("StoreUnavailableError", "STORE_UNAVAILABLE", true) {
  readonly failure: StoreFailure;
  override readonly retryable: boolean;
  /** What was asked of the store, such as `PutItem`; absent where nothing was. */
  declare readonly action?: string;
  /** The table that was asked for, or several with commas between. */
  declare readonly table?: string;
  /** All that the handler did in its transaction was undone: there is no answer, and nothing to repeat but the call. */
  declare isRolledBack?: boolean;
  /** The store refused something it was given to keep, such as a result: it may accept the record without it. */
  declare refusesContent?: boolean;

  /** `reason` is what the store calls its error, and says of it. */
  constructor(
    failure: StoreFailure,
    cause: unknown,
    reason = cause instanceof Error ? cause.name : "an unknown error",
    { action, table }: StoreRequest = {},
  ) {
    const isRefused = failure === "refused";
    const request = action && `${action} on ${table}`;
    const what = isRefused
      ? `refused ${request ?? "the request"} (${reason}), and will again: mend permissions, table or request`
      : `failed${request ? ` at ${request}` : ""} (${failure}: ${reason})`;
    super(`the idempotency store ${what}`, { cause });
    this.failure = failure;
    this.retryable = !isRefused;
    if (action) Object.assign(this, { action, table });
  }
}

/**
 * An attempt ended with an unknown outcome, and the key is held until somebody resolves it. `cause` is why `verify` did not
 * answer, where it was asked in this call. A handler throws this error where it does not know whether its effect happened:
 * the key is held at once, unless `whenAbandoned` is `"run"`.
 */
export class OutcomeUnknownError extends errorClass("OutcomeUnknownError", "OUTCOME_UNKNOWN", false) {
  /** Always the same, because the time at which the key is resolved is unknown. */
  readonly retryAfterSeconds = HELD_RETRY_SECONDS;

  /** `why` says of `cause` what may be shown. */
  constructor(cause?: unknown, why = "") {
    super(
      `an earlier attempt ended with an unknown outcome${why && ` (verify ${why})`}: resolve it before it can run again`,
      cause === undefined ? undefined : { cause },
    );
  }
}

/** A step has a wrong name, options that contradict each other, or no claim to be recorded under; nothing was done. */
export class StepInvalidError extends errorClass("StepInvalidError", "STEP_INVALID", false) {}

/**
 * A saga stopped where it can only go on: a compensation failed, or a step behind the pivot. The key is held, and a call after a
 * minute goes on from there.
 */
export class SagaPendingError extends errorClass("SagaPendingError", "SAGA_PENDING", true) {
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
export class TransactionConditionError extends errorClass(
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
export class CommitInvalidError extends errorClass("CommitInvalidError", "COMMIT_INVALID", false) {
  /** Position in `writes` of what the database refuses, where it is known. */
  declare readonly index?: number;

  constructor(message: string, { index, cause }: { index?: number | undefined; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    if (index !== undefined) this.index = index;
  }
}

/** The messages of a commit, or all of it, are larger than the database takes; nothing was written. */
export class OutboxTransactionTooLargeError extends errorClass(
  "OutboxTransactionTooLargeError",
  "OUTBOX_TRANSACTION_TOO_LARGE",
  false,
) {}

/** An operation was started inside itself with the same key; it would wait for itself. */
export class NestedExecutionError extends errorClass("NestedExecutionError", "NESTED_EXECUTION", false) {
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
export class PermanentError extends errorClass<string, "PERMANENT">("PermanentError", "PERMANENT", false) {
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

/** A message or its group cannot be named by what was given; nothing was sent. */
export class MessageIdInvalidError extends errorClass("MessageIdInvalidError", "MESSAGE_ID_INVALID", false) {}

/** The destination has accepted the message, now or, if it is FIFO, when it was sent before. */
export interface SentMessage {
  readonly sent: true;
  readonly messageId: string;
  /** Empty where the destination keeps no order. */
  readonly sequenceNumber: string;
}

export type SendResult =
  | SentMessage
  /** `code` is the service's, the client's error name, or `NotAttempted`; `Error` for what is no code. */
  | { readonly sent: false; readonly code: string };

/** Messages were not accepted, or nobody knows. Send the same again: of what was accepted FIFO destinations take no second copy. */
export class SendFailedError extends errorClass("SendFailedError", "SEND_FAILED", true) {
  /** The messages that were not sent; `id` is the position among those given. */
  readonly failed: readonly { readonly id: string; readonly code: string }[];
  /** For each message given, in that order. */
  readonly results: readonly SendResult[];

  constructor(results: readonly SendResult[], cause?: unknown) {
    const failed = Array.from(results).flatMap((result, index) =>
      result.sent ? [] : [{ id: String(index), code: result.code }],
    );
    const codes = [...new Set(failed.map(({ code }) => code))].join(", ");
    super(`could not send ${failed.length} of ${results.length} messages (${codes}): send the same again`, {
      cause,
    });
    this.failed = failed;
    this.results = results;
  }
}

/**
 * The body of a message is in a bucket, and cannot be kept there or had from there. The message is not run. `cause` is the
 * error of the client, where it has one.
 */
export class BodyUnavailableError extends errorClass("BodyUnavailableError", "BODY_UNAVAILABLE", true) {
  constructor(why: string, cause?: unknown) {
    super(`the body of a message ${why}`, { cause });
  }
}

/**
 * Thrown so that all records of a batch come again: none of them is done, or some aren't and Lambda isn't known to read which.
 * Records that are done are skipped then.
 */
export class BatchNotDoneError extends errorClass("BatchNotDoneError", "BATCH_NOT_DONE", true) {
  /** What the answer would have been. */
  readonly batchItemFailures: readonly { readonly itemIdentifier: unknown }[];
  /** How many of the records were in progress elsewhere: that is no error of theirs. */
  readonly inProgress: number;

  /** `first` names the first of the records, and `records` counts all of the batch. */
  constructor(
    batchItemFailures: readonly { readonly itemIdentifier: unknown }[],
    inProgress: number,
    first = "",
    records = batchItemFailures.length,
  ) {
    const done = records - batchItemFailures.length;
    const what = done > 0 ? `only ${done} of ${records} records are` : `none of ${records} records is`;
    const advice =
      done > 0
        ? "; to return only the others, set ReportBatchItemFailures of the event source mapping, and `reportBatchItemFailures: true` of idempotentBatch"
        : "";
    super(
      `${what} done (${inProgress} in progress elsewhere)${first && `, beginning with ${first}`}: the batch has to come again; \`onRecordError\` was told of each error${advice}`,
    );
    this.batchItemFailures = batchItemFailures;
    this.inProgress = inProgress;
  }
}
