/** The adapters for HTTP: API Gateway payload v1 and v2, ALB and function URLs. */
import type { LambdaContext } from "../../core/lambda-context.ts";
import type { WithIdempotency } from "../context.ts";
import { type IdempotencyMiddleware, middlewareFor } from "../middy/middleware.ts";
import type { HttpIdempotencyOptions, HttpRequestEvent } from "../options.ts";
import { type AnswerOf, type Handler, wrapHandler } from "../wrapper.ts";
import { httpAdapter } from "./adapter.ts";

/**
 * Middy middleware for HTTP: a request with an `Idempotency-Key` has its effect once. Every retry gets the same status,
 * headers and body, marked with `Idempotent-Replayed: true`. Headers that belong to the first caller (such as cookies),
 * its connection or its time are left out: docs/reference/http.md lists them. 2xx and 3xx are final. After any other status or
 * an error, a retry runs the handler again, unless something was committed.
 *
 * onceonly's errors become `application/problem+json`. 400: missing or malformed key. 401: not authenticated. 403: no
 * such caller. 422: another request used this key. 409: in progress (`Retry-After`). 410: result not kept. 500: response
 * can't be stored. 503: store unavailable. A PermanentError with a status also becomes a problem document. The handler's
 * other errors are rethrown, also on a replay.
 *
 * Order: put authentication before this middleware, so that a revoked caller gets no replay. Put body parsers, validators
 * and serializers after it, because it needs the body as sent and the final response. On replays and refusals, Middy
 * skips the after hooks of earlier middlewares, so put middlewares that add headers, such as CORS, after this one. Those
 * headers are then stored with the response, replayed to the same origin only, and missing on refusals. With
 * `httpIdempotent` they are on every response. A committed response is stored before any hook sees it. Hooks and early
 * timeouts follow the rules of `idempotency`.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately, and on the first event if a parser ran before it;
 * PayloadInvalidError (`PAYLOAD_INVALID`) for events that aren't HTTP.
 */
export function httpIdempotency<Event = HttpRequestEvent, Write = unknown>(
  options: HttpIdempotencyOptions<Event, Write>,
): IdempotencyMiddleware<Event, Write> {
  return middlewareFor(httpAdapter(options));
}

/**
 * The same as `httpIdempotency`, as a wrapper. Inside a Middy stack, the hooks of all middlewares run on replays and
 * refusals too, so every response has the CORS headers: `middy(httpIdempotent(handler, options)).use(httpCors())`.
 *
 * @throws the same errors as `httpIdempotency`.
 */
export function httpIdempotent<
  Result,
  Event = HttpRequestEvent,
  Write = unknown,
  Rest extends readonly unknown[] = [],
>(
  handler: Handler<Event, LambdaContext & WithIdempotency<Write>, Rest, Result>,
  options: HttpIdempotencyOptions<Event, Write>,
): (event: Event, context: LambdaContext, ...rest: Rest) => Promise<AnswerOf<Result, Rest>> {
  return wrapHandler(() => httpAdapter(options), handler, options);
}
