/** The options of servers: those of HTTP events, of requests. */
import { InvalidOptionError } from "../core/errors.ts";
import type { Verify } from "../core/verify.ts";
import type { HttpIdempotencyOptions, HttpRequestEvent, ResponseHeaders } from "../lambda/options.ts";

export interface ServerOptions<Native, Write = unknown>
  extends Omit<
    HttpIdempotencyOptions<HttpRequestEvent, Write>,
    "scope" | "key" | "fingerprint" | "responseHeaders" | "whenAbandoned"
  > {
  /**
   * The verified caller that owns the key, 1 to 256 characters. Read it from what authentication left at the request, never from a
   * header or the body. A function that yields nothing answers 401. `"public"` means that all callers share their keys,
   * and can read each other's answers.
   */
  readonly scope: ((request: Native) => string | undefined) | "public";
  /** Reads the key from another place than the header. @default - the header */
  readonly key?: (request: Native) => string | undefined;
  /**
   * Returns the part of the request that decides whether two calls carry the same payload. Then the bytes of the body aren't
   * needed: use it for uploads, and for bodies that your handler reads as a stream.
   * @default - method, path, query and the bytes of the body, as behind API Gateway: a key may move between both
   */
  readonly fingerprint?: (request: Native) => unknown;
  /** Headers for each answer to a request that needs a key: of the handler, replays and refusals. @default none */
  readonly responseHeaders?: ResponseHeaders | ((request: Native) => ResponseHeaders);
  /**
   * What to do with a key whose attempt was abandoned. A function is asked; its `input` has the form of an HTTP event.
   * @default "run"
   */
  readonly whenAbandoned?: "run" | "hold" | Verify<HttpRequestEvent>;
  /**
   * The largest body of an answer, in bytes. A body is read to its end before any of it is sent. A larger one, and a stream of
   * events, is answered by 500, and so is each retry: `RESPONSE_NOT_STORABLE`.
   * @default 1000000
   */
  readonly maxResponseBytes?: number;
}

/** The options of servers that read the body themselves: those of the Fetch API, and Hono. */
export interface FetchServerOptions<Native, Write = unknown> extends ServerOptions<Native, Write> {
  /**
   * The largest body of a request, in bytes. A larger one is answered by 413 (`PAYLOAD_TOO_LARGE`), and nothing runs. The body
   * is read after key and caller are known; with a `fingerprint` of your own it isn't read, and has no limit.
   * @default 1048576
   */
  readonly maxRequestBytes?: number;
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkedBytes(option: string, max: number): number {
  if (!Number.isInteger(max) || max < 1 || max > 100_000_000)
    throw new InvalidOptionError(option, "must be a whole number of bytes from 1 to 100000000", max);
  return max;
}
