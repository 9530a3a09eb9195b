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

/** Accepts the arguments of `fetch`; the operation's options go next to the request's in `init`. */
export type IdempotentFetch = (
  input: string | URL | Request,
  init?: IdempotentFetchInit,
) => Promise<Response>;

/**
 * Sends one operation until it gets a final response. Every try has the same idempotency key and the same bytes, so a
 * server that honours the key runs the operation once.
 *
 * - The key is a new UUIDv7 unless you pass `key`; `onKey` gets it before the first try. It is sent as an RFC 9651 string
 * in `Idempotency-Key`.
 * - The body is read once, into memory, including streams and files. FormData keeps its boundary.
 * - It retries network errors, incomplete responses, timeouts, 429, 500, 502, 503, 504, and 409 with `Retry-After` (in
 * progress).
 * - It returns every other response, including 400, 422 (the key was used with another payload) and 409 without
 * `Retry-After` (the application's own conflict).
 * - Between tries it waits a random time below a doubling bound, or slightly longer than `Retry-After`.
 * - The promise settles when the whole response has arrived, so responses aren't streamed.
 * - Aborting `signal` stops a try or a wait immediately.
 *
 * From another origin, a browser needs `Idempotency-Key` in the server's `Access-Control-Allow-Headers`, and
 * `Retry-After` and `Idempotent-Replayed` in `Access-Control-Expose-Headers`.
 *
 * @throws IdempotentFetchDeadlineError (`IDEMPOTENT_FETCH_DEADLINE`) if no final response came in time: continue with its
 * `key`. InvalidOptionError (`INVALID_OPTION`) before anything is sent. The signal's reason. Errors of `fetch` for an
 * invalid request, of `onKey`, of a stream used as body, or of your own `fetch`.
 */
export const idempotentFetch: IdempotentFetch = createIdempotentFetch();

/**
 * Creates an {@link idempotentFetch} with other defaults. A call's own options win. `key` and `onKey` belong to one
 * operation and are refused here.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function createIdempotentFetch(options: IdempotentFetchOptions = {}): IdempotentFetch {
  const shared = resolveOptions(options, DEFAULTS);
  return (input, init = {}) => sendUntilAnswered(systemRuntime, shared, input, init);
}

/**
 * Returns a new idempotency key: a UUIDv7, which contains its creation time. Use it to store the key with the form or the
 * order before you send, and pass it as `key`.
 */
export function createIdempotencyKey(): string {
  return makeKey(systemRuntime);
}
