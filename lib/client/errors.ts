/** The client's own errors. Users branch on `code`. Messages never hold keys or payloads. */

/** The brand of every onceonly error: `isOnceonlyError` from "onceonly" recognizes the client's errors too. */
const BRAND = Symbol.for("onceonly.error");

/** The codes of the client's errors. */
export type IdempotentFetchErrorCode = "INVALID_OPTION" | "IDEMPOTENT_FETCH_DEADLINE";

/** Base of the client's errors. `retryable` says whether the same call, with the same key, may succeed later. */
export abstract class IdempotentFetchError extends Error {
  abstract readonly code: IdempotentFetchErrorCode;
  abstract readonly retryable: boolean;
  abstract override readonly name: string;
  readonly [BRAND] = true;
}

/** An option is unknown or breaks its rule, or the key or the body can't be used. Thrown before anything is sent. */
export class InvalidOptionError extends IdempotentFetchError {
  override readonly name = "InvalidOptionError";
  readonly code = "INVALID_OPTION";
  readonly retryable = false;
  /** The name of the option. */
  readonly option: string;

  constructor(option: string, rule: string, got?: string) {
    // Code names its options; an unknown long name means that a payload was spread into the options.
    super(`\`${option.slice(0, 80)}\` ${rule}${got === undefined ? "" : ` (got ${got})`}`);
    this.option = option;
  }
}

/** The result of the last try before the deadline. */
export interface LastTry {
  readonly response?: Response | undefined;
  readonly error?: unknown;
}

/**
 * No final response arrived before the deadline, so it's unknown whether the operation happened. Continue with the same
 * `key` and the same payload, now or later, and never with a new key.
 */
export class IdempotentFetchDeadlineError extends IdempotentFetchError {
  override readonly name = "IdempotentFetchDeadlineError";
  readonly code = "IDEMPOTENT_FETCH_DEADLINE";
  readonly retryable = true;
  /** The operation's idempotency key. Continue with it: `idempotentFetch(url, { ...init, key: error.key })`. */
  readonly key: string;
  /** How many tries were sent. */
  readonly tries: number;
  /**
   * The last response, if the last try had one. Its body can still be read. `cause` is this response, or the
   * last error.
   */
  readonly response: Response | undefined;
  /** The server's `Retry-After` in milliseconds, if the last response had one. */
  readonly retryAfterMs: number | undefined;

  constructor(key: string, tries: number, last: LastTry, retryAfterMs: number | undefined) {
    const ending = last.response ? `status ${last.response.status}` : "no response";
    const due =
      retryAfterMs === undefined ? "" : `, and the server asked to wait ${Math.ceil(retryAfterMs / 1000)} s`;
    super(
      `no final response before the deadline (tries: ${tries}, the last one with ${ending}${due}): retry later with the same key`,
      { cause: last.response ?? last.error },
    );
    this.key = key;
    this.tries = tries;
    this.response = last.response;
    this.retryAfterMs = retryAfterMs;
  }
}
