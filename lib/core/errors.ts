/**
 * Every error onceonly throws, in the order of docs/reference/errors.md: those of a call here, then those of `handler-errors.ts` and
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

/**
 * An option is unknown, missing or breaks its rule. Thrown when the options are passed in, before any I/O.
 *
 * The message names the option and its rule, and suggests what you probably meant ("did you mean `operation`?"). It shows only
 * the kind of a string or an object, because that may be a secret in the wrong place.
 */
export class InvalidOptionError extends /* @__PURE__ */ errorClass(
  "InvalidOptionError",
  "INVALID_OPTION",
  false,
) {
  readonly option: string;

  /**
   * Without a third argument the message doesn't mention the value: under an unknown name it may be anything. `meant` is the
   * value that the user most likely intended.
   */
  constructor(option: string, rule: string, ...given: readonly [value?: unknown, meant?: unknown]) {
    const [value, meant] = given;
    const question = meant === undefined ? "" : `; did you mean ${meant}?`;
    super(`\`${option}\` ${rule}${given.length > 0 ? ` (got ${kindOf(value)}${question})` : ""}`);
    this.option = option;
  }
}

/**
 * The call carries no idempotency key, and the operation requires one. Send a key, or set `whenKeyMissing`. A batch returns a
 * record for which `key` returns nothing.
 */
export class IdempotencyKeyMissingError extends /* @__PURE__ */ errorClass(
  "IdempotencyKeyMissingError",
  "IDEMPOTENCY_KEY_MISSING",
  false,
) {}

/**
 * The idempotency key can't be used: it isn't a string, is empty or longer than 255 characters, contains control characters or
 * the text of a missing value (such as `undefined/v4`), doesn't match `keyFormat`, or is older than its retention with
 * `whenKeyExpired: "reject"`.
 *
 * What to do about each: docs/guides/keys.md.
 */
export class IdempotencyKeyInvalidError extends /* @__PURE__ */ errorClass(
  "IdempotencyKeyInvalidError",
  "IDEMPOTENCY_KEY_INVALID",
  false,
) {}

/**
 * No verified caller was found to own the key. Over HTTP: 401 if the platform authenticated no caller, 403 if it did and the
 * claim is missing, blank or the text of a missing value (`undefined`).
 *
 * Authenticate before onceonly runs, with an authorizer or an earlier middleware.
 */
export class ScopeMissingError extends /* @__PURE__ */ errorClass(
  "ScopeMissingError",
  "SCOPE_MISSING",
  false,
) {}

/**
 * The payload has no faithful canonical form, so it can't be compared with another one: for example, an integer beyond
 * ±(2^53−1). Send such numbers as strings, or choose another `fingerprint`.
 *
 * For a message: the body isn't text or JSON that the destination accepts, or it is too large, and nothing was sent. For an
 * event: it comes from another source, or from another table than the outbox.
 */
export class PayloadInvalidError extends /* @__PURE__ */ errorClass(
  "PayloadInvalidError",
  "PAYLOAD_INVALID",
  false,
) {
  /** Shown to an HTTP caller: the fault in its payload, without details of the service. `undefined` for other faults. */
  declare readonly detail?: string;

  constructor(message: string, detail?: string) {
    super(message);
    if (detail !== undefined) this.detail = bounded(detail);
  }
}

/**
 * The body of a request is larger than the server accepts: on Hono and other Fetch API servers, more than `maxRequestBytes` (1
 * MiB). Nothing ran. Raise the limit, or pass `fingerprint` for uploads and streams: docs/guides/servers.md.
 */
export class PayloadTooLargeError extends /* @__PURE__ */ errorClass(
  "PayloadTooLargeError",
  "PAYLOAD_TOO_LARGE",
  false,
) {
  constructor(maxBytes: number) {
    super(`the request body has more than ${maxBytes} bytes`);
  }
}

/**
 * Another call holds a live claim on this key. Retry with the same key after `retryAfterSeconds` (HTTP: `Retry-After`). From
 * `leaseExpiresAt` (epoch ms) on a retry can run, unless the claim was completed or renewed by then.
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
    super("a request with this idempotency key is still in progress: retry later with the same key");
    this.leaseExpiresAt = leaseExpiresAt;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The same key was used with another payload. Use a new key for a new operation. */
export class FingerprintMismatchError extends /* @__PURE__ */ errorClass(
  "FingerprintMismatchError",
  "FINGERPRINT_MISMATCH",
  false,
) {
  constructor() {
    super(
      "this idempotency key was already used with a different payload: use a new key for a new operation",
    );
  }
}

/**
 * This attempt outlived its lease, another attempt took over, and the winner has no result yet. Retry with the same key: the
 * retry replays the winner's result.
 *
 * It is also the reason of `signal` if a lease could not be renewed. Stop then: nothing from this attempt will be recorded.
 */
export class ClaimLostError extends /* @__PURE__ */ errorClass("ClaimLostError", "CLAIM_LOST", true) {
  constructor(
    message = "another attempt took over, and nothing from this one was recorded: retry with the same key",
  ) {
    super(message);
  }
}

/**
 * The result cannot be stored faithfully, so a replay could not equal the first answer: it isn't JSON (a Date, a BigInt, an
 * instance of a class). Over HTTP: a fetch Response, a stream, or an object of which JSON leaves nothing, such as a Map.
 *
 * Return plain data. The error is recorded and replayed, so the handler doesn't run again.
 */
export class ResponseNotStorableError extends /* @__PURE__ */ errorClass(
  "ResponseNotStorableError",
  "RESPONSE_NOT_STORABLE",
  false,
) {}

/**
 * The operation or step is done, but its result was too large to keep, was erased, is missing from its bucket, or was not meant
 * to be kept (docs/guides/privacy.md). It doesn't run again. Read the state that it left instead.
 */
export class ResultNotKeptError extends /* @__PURE__ */ errorClass(
  "ResultNotKeptError",
  "RESULT_NOT_KEPT",
  false,
) {
  /** The size of the result if it was too large, or is missing from its bucket; else 0. */
  readonly bytes: number;

  constructor(bytes: number, why = bytes ? `: ${bytes} bytes` : "") {
    super(`the operation is done, but its result wasn't kept${why}`);
    this.bytes = bytes;
  }
}

/**
 * A stored record can't be read, or has a version that this code doesn't know. The handler doesn't run. Finish the deployment,
 * or repair the record.
 */
export class RecordCorruptError extends /* @__PURE__ */ errorClass(
  "RecordCorruptError",
  "RECORD_CORRUPT",
  false,
) {}

/** Why a store failed. Only `refused` (permissions, missing table, invalid request) doesn't pass by itself. */
export const STORE_FAILURES = ["throttled", "conflict", "unreachable", "refused"] as const;
export type StoreFailure = (typeof STORE_FAILURES)[number];

/** A request to a store. */
interface StoreRequest {
  /** Such as `PutItem`. */
  readonly action?: string | undefined;
  /** The table, or several separated by commas. */
  readonly table?: string | undefined;
}

/**
 * The store could not be reached, or refused the request; `failure` says which, and `cause` is the client's own error. The
 * message names the request, the table and the store's own text.
 *
 * A refusal isn't `retryable`, since the store will refuse it again: fix the permissions or the table. Over HTTP it is 500
 * without `Retry-After`, and `whenStoreFails: "run"` doesn't run.
 */
export class StoreUnavailableError extends /* @__PURE__ */ errorClass(
  "StoreUnavailableError",
  "STORE_UNAVAILABLE",
  true,
) {
  readonly failure: StoreFailure;
  override readonly retryable: boolean;
  /** The store's request, such as `PutItem`; absent if there was none. */
  declare readonly action?: string;
  /** The requested table, or several separated by commas. */
  declare readonly table?: string;
  /** The database rolled back everything that the handler did in its transaction, so no result exists: make the call again. */
  declare isRolledBack?: boolean;
  /** The store refused some content, such as a result. It may accept the record without it. */
  declare refusesContent?: boolean;

  /** `reason` is the store's own name and message for its error. */
  constructor(
    failure: StoreFailure,
    cause: unknown,
    reason = cause instanceof Error ? cause.name : "an unknown error",
    { action, table }: StoreRequest = {},
  ) {
    const isRefused = failure === "refused";
    const request = action && `${action} on ${table}`;
    const what = isRefused
      ? `refused ${request ?? "the request"} (${reason}), and will refuse it again: fix the permissions, the table or the request`
      : `failed${request ? ` at ${request}` : ""} (${failure}: ${reason})`;
    super(`the idempotency store ${what}`, { cause });
    this.failure = failure;
    this.retryable = !isRefused;
    if (action) Object.assign(this, { action, table });
  }
}

/**
 * An attempt ended with an unknown outcome, and the key is held until an operator or `verify` resolves it. If `verify` failed
 * in this call, `cause` is its error. Ask the other system, by the child key, whether the effect happened, and record the
 * answer with `resolveOutcome`: docs/guides/payment-providers.md.
 *
 * Throw this error from a handler that doesn't know whether its effect happened: the key is then held immediately, unless
 * `whenAbandoned` is `"run"`.
 */
export class OutcomeUnknownError extends /* @__PURE__ */ errorClass(
  "OutcomeUnknownError",
  "OUTCOME_UNKNOWN",
  false,
) {
  /** Always the same, because it's unknown when the key will be resolved. */
  readonly retryAfterSeconds = HELD_RETRY_SECONDS;

  /** `why` is the part of `cause` that may be shown. */
  constructor(cause?: unknown, why = "") {
    super(
      `the outcome of an earlier attempt is unknown${why && ` (verify ${why})`}: an operator has to resolve it before this key can run again`,
      cause === undefined ? undefined : { cause },
    );
  }
}
