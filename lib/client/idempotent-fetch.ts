/** The public functions of the client, bound to real time and randomness. */
import { makeKey } from "./key.ts";
import {
  DEFAULTS,
  type IdempotentFetchInit,
  type IdempotentFetchOptions,
  resolveOptions,
} from "./options.ts";
import { systemRuntime } from "./runtime.ts";
import { sendUntilAnswered } from "./send.ts";

/** Takes what `fetch` takes; the options of the operation stand among those of the request. */
export type IdempotentFetch = (
  input: string | URL | Request,
  init?: IdempotentFetchInit,
) => Promise<Response>;

/**
 * Sends one operation until it is answered. Every try has the same idempotency key and the same bytes, so a
 * server that honours the key runs the operation once.
 *
 * - The key is a new UUIDv7 unless `key` is given; `onKey` gets it before the first try. It travels as an RFC
 * 9651 string in `Idempotency-Key`.
 * - The body is read once, into memory, streams and files included. FormData keeps its boundary.
 * - These are retried: network errors, incomplete answers, timeouts, 429, 500, 502, 503, 504, and 409 with
 * `Retry-After` (in progress).
 * - Every other answer is returned. Among them are 400, 422 (the key was used with another payload) and 409
 * without `Retry-After` (the application's own conflict).
 * - Between tries it waits a random time below a doubling bound, or slightly longer than `Retry-After` says.
 * - The promise settles when the whole answer has arrived, so answers are not streamed.
 * - Aborting `signal` stops a try or a wait at once.
 *
 * From another origin, a browser needs `Idempotency-Key` in the server's `Access-Control-Allow-Headers`. It
 * also needs `Retry-After` and `Idempotent-Replayed` in `Access-Control-Expose-Headers`.
 *
 * @throws IdempotentFetchDeadlineError (`IDEMPOTENT_FETCH_DEADLINE`) when no final answer came in time:
 * continue with its `key`. InvalidOptionError (`INVALID_OPTION`) before anything is sent. The signal's
 * reason. Errors of `fetch` for an invalid request, and errors of `onKey`, of a stream as body, or of your
 * own `fetch`.
 */
export const idempotentFetch: IdempotentFetch = createIdempotentFetch();

/**
 * An {@link idempotentFetch} with other defaults. A call's own options win. `key` and `onKey` belong to one
 * operation and are refused here.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function createIdempotentFetch(options: IdempotentFetchOptions = {}): IdempotentFetch {
  const shared = resolveOptions(options, DEFAULTS);
  return (input, init = {}) => sendUntilAnswered(systemRuntime, shared, input, init);
}

/**
 * Returns a new idempotency key: a UUIDv7, which tells its age. Use it to keep the key with the form or the
 * order before you send, and pass it as `key`.
 */
export function createIdempotencyKey(): string {
  return makeKey(systemRuntime);
}
