/** The server options: those for HTTP events, with requests in place of events. */
import { InvalidOptionError } from "../core/errors.ts";
import type { Verify } from "../core/verify.ts";
import type { HttpIdempotencyOptions, HttpRequestEvent, ResponseHeaders } from "../lambda/options.ts";

export interface ServerOptions<Native, Write = unknown>
  extends Omit<
    HttpIdempotencyOptions<HttpRequestEvent, Write>,
    "scope" | "key" | "fingerprint" | "responseHeaders" | "whenAbandoned"
  > {
  /**
   * The verified caller that owns the key, 1 to 256 characters. Read it from what authentication set on the request,
   * never from a header or the body. If the function returns nothing, the response is 401. With `"public"`, all callers
   * share their keys and can read each other's responses.
   */
  readonly scope: ((request: Native) => string | undefined) | "public";
  /** Reads the key from somewhere other than the header. @default - the header */
  readonly key?: (request: Native) => string | undefined;
  /**
   * Returns the part of the request that decides whether two calls carry the same payload. The bytes of the body are then
   * not needed: use it for uploads, and for bodies that your handler reads as a stream.
   * @default - method, path, query and the bytes of the body, the same as for API Gateway: a key works on both
   */
  readonly fingerprint?: (request: Native) => unknown;
  /**
   * Requests that run without a record although their method is in `methods`: the function gets the request in the form of
   * an HTTP event (payload v2), with its body.
   * @default none
   */
  readonly skip?: (event: HttpRequestEvent) => boolean;
  /** Headers for every response to a request that needs a key: the handler's, replays and refusals. @default none */
  readonly responseHeaders?: ResponseHeaders | ((request: Native) => ResponseHeaders);
  /**
   * What to do when an earlier attempt died and its outcome is unknown: `"run"` again, `"hold"` the key, or ask a
   * function, whose `input` has the form of an HTTP event.
   * @default "run"
   */
  readonly whenAbandoned?: "run" | "hold" | Verify<HttpRequestEvent>;
  /**
   * The largest response body, in bytes. A body is read to its end before any of it is sent. A larger body or an event
   * stream results in 500, and so does each retry: `RESPONSE_NOT_STORABLE`.
   * @default 1000000
   */
  readonly maxResponseBytes?: number;
}

/** Options of servers that read the body themselves: Fetch API and Hono. */
export interface FetchServerOptions<Native, Write = unknown> extends ServerOptions<Native, Write> {
  /**
   * The largest request body, in bytes. A larger one gets 413 (`PAYLOAD_TOO_LARGE`), and nothing runs. The body is read
   * once key and caller are known; with your own `fingerprint` it isn't read and has no limit.
   * @default 1048576
   */
  readonly maxRequestBytes?: number;
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkedBytes(option: string, max: number): number {
  if (!Number.isInteger(max) || max < 1 || max > 100_000_000)
    throw new InvalidOptionError(option, "must be a whole number of bytes between 1 and 100000000", max);
  return max;
}
