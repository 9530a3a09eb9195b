/**
 * Every error onceonly throws, in the order of docs/use/errors.md: those of a call here, then those of `handler-errors.ts` and
 * `messages/errors.ts`. Users branch on `code`.
 */
import { HELD_RETRY_SECONDS } from "../contract.ts";
import { kindOf } from "./kind-of.ts";
import { bounded, errorClass } from "./onceonly-error.ts";

export {
  CommitInvalidError,
  NestedExecutionError,
  OutboxTransactionTooLargeError,
  PermanentError,
  type PermanentErrorOptions,
  SagaCompensatedError,
  SagaPendingError,
  StepInvalidError,
  TransactionConditionError,
} from "./handler-errors.ts";
export {
  BatchNotDoneError,
  BodyUnavailableError,
  MessageIdInvalidError,
  SendFailedError,
} from "./messages/errors.ts";
export { isOnceonlyError, OnceonlyError } from "./onceonly-error.ts";

/** An option is unknown, missing or breaks its rule. Thrown where the options are given, before any I/O. */
export class InvalidOptionError extends /* @__PURE__ */ errorClass(
  "InvalidOptionError",
  "INVALID_OPTION",
  false,
) {
  readonly option: string;

  /** Without a third argument nothing is said of the value: under an unknown name it may be anything. */
  constructor(option: string, rule: string, ...got: readonly [value?: unknown]) {
    super(`option \`${option}\` ${rule}${got.length > 0 ? `; got ${kindOf(got[0])}` : ""}`);
    this.option = option;
  }
}

/** The call carries no idempotency key, and the operation requires one. */
export class IdempotencyKeyMissingError extends /* @__PURE__ */ errorClass(
  "IdempotencyKeyMissingError",
  "IDEMPOTENCY_KEY_MISSING",
  false,
) {}

/** The idempotency key is malformed, too long or too old. */
export class IdempotencyKeyInvalidError extends /* @__PURE__ */ errorClass(
  "IdempotencyKeyInvalidError",
  "IDEMPOTENCY_KEY_INVALID",
  false,
) {}

/** No verified caller could be found to own the key. */
export class ScopeMissingError extends /* @__PURE__ */ errorClass(
  "ScopeMissingError",
  "SCOPE_MISSING",
  false,
) {}

/** The payload has no faithful canonical form, so it cannot be told from another one. */
export class PayloadInvalidError extends /* @__PURE__ */ errorClass(
  "PayloadInvalidError",
  "PAYLOAD_INVALID",
  false,
) {
  /** What an HTTP caller is shown: what is wrong with its payload, and nothing of the service. `undefined` for other faults. */
  declare readonly detail?: string;

  constructor(message: string, detail?: string) {
    super(message);
    if (detail !== undefined) this.detail = bounded(detail);
  }
}

/** The body of a request is larger than the server accepts. Nothing ran. */
export class PayloadTooLargeError extends /* @__PURE__ */ errorClass(
  "PayloadTooLargeError",
  "PAYLOAD_TOO_LARGE",
  false,
) {
  constructor(maxBytes: number) {
    super(`the body of the request has more than ${maxBytes} bytes`);
  }
}

/**
 * Somebody else holds a live claim on this key. Retry after `retryAfterSeconds`; from `leaseExpiresAt` (epoch ms) on a retry can
 * run, unless the claim was completed or renewed by then.
 */
export class ExecutionInProgressError extends /* @__PURE__ */ errorClass(
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
export class FingerprintMismatchError extends /* @__PURE__ */ errorClass(
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
export class ClaimLostError extends /* @__PURE__ */ errorClass("ClaimLostError", "CLAIM_LOST", true) {
  constructor(
    message = "another attempt took over, nothing of this one was recorded: retry with the same key",
  ) {
    super(message);
  }
}

/** The result cannot be stored faithfully, so a replay could not equal the first answer. */
export class ResponseNotStorableError extends /* @__PURE__ */ errorClass(
  "ResponseNotStorableError",
  "RESPONSE_NOT_STORABLE",
  false,
) {}

/** The operation, or a step of it, is done, but its result was too large to keep, was erased, or was not to be kept. It does not run again. */
export class ResultNotKeptError extends /* @__PURE__ */ errorClass(
  "ResultNotKeptError",
  "RESULT_NOT_KEPT",
  false,
) {
  /** The size of a result that was too large; else 0. */
  readonly bytes: number;

  constructor(bytes: number) {
    super(`done, but its result is not kept${bytes ? `: ${bytes} bytes` : ""}`);
    this.bytes = bytes;
  }
}

/** A stored record cannot be read, or is of a version this code does not know. The handler does not run. */
export class RecordCorruptError extends /* @__PURE__ */ errorClass(
  "RecordCorruptError",
  "RECORD_CORRUPT",
  false,
) {}

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
export class StoreUnavailableError extends /* @__PURE__ */ errorClass(
  "StoreUnavailableError",
  "STORE_UNAVAILABLE",
  true,
) {
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
export class OutcomeUnknownError extends /* @__PURE__ */ errorClass(
  "OutcomeUnknownError",
  "OUTCOME_UNKNOWN",
  false,
) {
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
