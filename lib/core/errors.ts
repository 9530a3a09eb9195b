/** Every error onceonly throws, in the order of docs/errors.md. Users branch on `code`. */

const BRAND = Symbol.for("onceonly.error");

/** Base of all errors of this package. `retryable` says whether the same call may succeed later. */
export abstract class OnceonlyError extends Error {
  abstract readonly code: string;
  abstract readonly retryable: boolean;
  abstract override readonly name: string;
  readonly [BRAND] = true;
}

/** True for errors of this package, also across copies of it (a Lambda layer and a bundle). */
export function isOnceonlyError(error: unknown): error is OnceonlyError {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** An option is unknown, missing or breaks its rule. Thrown where the options are given, before any I/O. */
export class InvalidOptionError extends OnceonlyError {
  override readonly name = "InvalidOptionError";
  readonly code = "INVALID_OPTION";
  readonly retryable = false;
  readonly option: string;

  constructor(option: string, rule: string, value: unknown) {
    super(`option \`${option}\` ${rule}; got ${describeOption(value)}`);
    this.option = option;
  }
}

function describeOption(value: unknown): string {
  if (typeof value === "string") return `"${value.slice(0, 80)}" (string)`;
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return `${String(value)} (${typeof value})`;
}

/** The call carries no idempotency key, and the operation requires one. */
export class IdempotencyKeyMissingError extends OnceonlyError {
  override readonly name = "IdempotencyKeyMissingError";
  readonly code = "IDEMPOTENCY_KEY_MISSING";
  readonly retryable = false;
}

/** The idempotency key is malformed, too long or too old. */
export class IdempotencyKeyInvalidError extends OnceonlyError {
  override readonly name = "IdempotencyKeyInvalidError";
  readonly code = "IDEMPOTENCY_KEY_INVALID";
  readonly retryable = false;
}

/** No verified caller could be found to own the key. */
export class ScopeMissingError extends OnceonlyError {
  override readonly name = "ScopeMissingError";
  readonly code = "SCOPE_MISSING";
  readonly retryable = false;
}

/** The payload has no faithful canonical form, so it cannot be told from another one. */
export class PayloadInvalidError extends OnceonlyError {
  override readonly name = "PayloadInvalidError";
  readonly code = "PAYLOAD_INVALID";
  readonly retryable = false;
}

/** Somebody else holds a live claim on this key. Retry after `leaseExpiresAt` (epoch ms) at the latest. */
export class ExecutionInProgressError extends OnceonlyError {
  override readonly name = "ExecutionInProgressError";
  readonly code = "EXECUTION_IN_PROGRESS";
  readonly retryable = true;
  readonly leaseExpiresAt: number;

  constructor(leaseExpiresAt: number) {
    super("this operation is in progress under the same idempotency key: retry later with the same key");
    this.leaseExpiresAt = leaseExpiresAt;
  }
}

/** The same key was used with another payload. */
export class FingerprintMismatchError extends OnceonlyError {
  override readonly name = "FingerprintMismatchError";
  readonly code = "FINGERPRINT_MISMATCH";
  readonly retryable = false;

  constructor() {
    super("this idempotency key was used with another payload: send a new key with a new operation");
  }
}

/** This attempt lost its claim, and the winner has no result yet. A retry replays the winner's. */
export class ClaimLostError extends OnceonlyError {
  override readonly name = "ClaimLostError";
  readonly code = "CLAIM_LOST";
  readonly retryable = true;

  constructor() {
    super(
      "another attempt took over this operation and nothing of this one was recorded: retry with the same key",
    );
  }
}

/** The result cannot be stored faithfully, so a replay could not equal the first answer. */
export class ResponseNotStorableError extends OnceonlyError {
  override readonly name = "ResponseNotStorableError";
  readonly code = "RESPONSE_NOT_STORABLE";
  readonly retryable = false;
}

/** The operation is done, but its result was too large to keep. It did not run again. */
export class ResultNotKeptError extends OnceonlyError {
  override readonly name = "ResultNotKeptError";
  readonly code = "RESULT_NOT_KEPT";
  readonly retryable = false;
  readonly bytes: number;

  constructor(bytes: number) {
    super(
      `this operation is completed, but its result of ${bytes} bytes was too large to keep; it did not run again`,
    );
    this.bytes = bytes;
  }
}

/** A stored record cannot be read, or is of a version this code does not know. The handler does not run. */
export class RecordCorruptError extends OnceonlyError {
  override readonly name = "RecordCorruptError";
  readonly code = "RECORD_CORRUPT";
  readonly retryable = false;
}

/** Why a store failed. Only `refused` (permissions, missing table, invalid request) does not pass by itself. */
export const STORE_FAILURES = ["throttled", "conflict", "unreachable", "refused"] as const;
export type StoreFailure = (typeof STORE_FAILURES)[number];

/** The store could not be reached or refused the request; `cause` is the client's own error. */
export class StoreUnavailableError extends OnceonlyError {
  override readonly name = "StoreUnavailableError";
  readonly code = "STORE_UNAVAILABLE";
  readonly retryable = true;
  readonly failure: StoreFailure;

  constructor(failure: StoreFailure, cause: unknown) {
    const name = cause instanceof Error ? cause.name : "an unknown error";
    super(`the idempotency store is unavailable (${failure}: ${name})`, { cause });
    this.failure = failure;
  }
}

/** An attempt ended with an unknown outcome and the key is held until somebody resolves it. */
export class OutcomeUnknownError extends OnceonlyError {
  override readonly name = "OutcomeUnknownError";
  readonly code = "OUTCOME_UNKNOWN";
  readonly retryable = false;

  constructor() {
    super(
      "the outcome of an earlier attempt is unknown and the key is held: resolve it before it can run again",
    );
  }
}

/** One of the caller's own writes was refused by its condition; nothing of the transaction was applied. */
export class TransactionConditionError extends OnceonlyError {
  override readonly name = "TransactionConditionError";
  readonly code = "TRANSACTION_CONDITION";
  readonly retryable = false;
  /** Position in `writes`. */
  readonly index: number;
  /** The item as it was, if the write asked for it (`ReturnValuesOnConditionCheckFailure: "ALL_OLD"`). */
  readonly item: Readonly<Record<string, unknown>> | undefined;

  constructor(index: number, item: Readonly<Record<string, unknown>> | undefined, cause: unknown) {
    super(`the condition of writes[${index}] was not met; nothing was written`, { cause });
    this.index = index;
    this.item = item;
  }
}

/** `commit` was called twice, after the attempt ended, or with writes the store cannot take. */
export class CommitInvalidError extends OnceonlyError {
  override readonly name = "CommitInvalidError";
  readonly code = "COMMIT_INVALID";
  readonly retryable = false;
}

/** An operation was started inside itself with the same key; it would wait for itself. */
export class NestedExecutionError extends OnceonlyError {
  override readonly name = "NestedExecutionError";
  readonly code = "NESTED_EXECUTION";
  readonly retryable = false;

  constructor(operation: string) {
    super(
      `operation "${operation}" runs inside itself with the same key and scope: give the inner one a name of its own`,
    );
  }
}

/** Thrown by handlers: this will never succeed, record it and replay it. */
export class PermanentError extends OnceonlyError {
  override readonly name = "PermanentError";
  readonly code = "PERMANENT";
  readonly retryable = false;
}
