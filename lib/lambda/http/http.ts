/** The faces for HTTP: API Gateway payload v1 and v2, ALB and function URLs. */
import type { LambdaContext } from "../../core/lambda-context.ts";
import type { WithIdempotency } from "../context.ts";
import { type IdempotencyMiddleware, middlewareFor } from "../middy/middleware.ts";
import type { HttpIdempotencyOptions, HttpRequestEvent } from "../options.ts";
import { type AnswerOf, type Handler, wrapHandler } from "../wrapper.ts";
import { httpFace } from "./face.ts";

/**
 * Middy middleware for HTTP: a request with an `Idempotency-Key` has its effect once. Every retry gets the same status,
 * headers and body, marked with `Idempotent-Replayed: true`. Headers of the first caller (such as cookies), of its
 * connection or of its moment are left out: docs/use/http.md has the list. 2xx and 3xx are final. After any other status,
 * and after an error, a retry runs, unless something was committed.
 *
 * Errors of onceonly become `application/problem+json`. 400: no key, or a malformed key. 401: nobody authenticated. 403: no
 * such caller. 422: another request under this key. 409: in progress (`Retry-After`). 410: result not kept. 500: not
 * storable. 503: store unavailable. A PermanentError of the handler with a status is answered by a problem
 * document too. Other errors of the handler are thrown on, also when they are replayed.
 *
 * Order: authentication comes first, so that a revoked caller gets no replay. Body parsers, validators and serializers come
 * after this middleware, which sees the body as it was sent and the response as it is sent. On replays and refusals Middy
 * skips the after hooks of earlier middlewares. So a header such as CORS belongs after this middleware. The header is then
 * stored with the response, replayed to the same origin only, and absent on refusals. With `httpIdempotent` the header is on all
 * answers. A committed response is stored before any hook sees it. The rules of `idempotency` for hooks and early timeouts
 * hold.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once, and on the first event when a parser ran before it;
 * PayloadInvalidError (`PAYLOAD_INVALID`) for events that are not HTTP.
 */
export function httpIdempotency<Event = HttpRequestEvent, Write = unknown>(
  options: HttpIdempotencyOptions<Event, Write>,
): IdempotencyMiddleware<Event, Write> {
  return middlewareFor(httpFace(options));
}

/**
 * The same as a wrapper. Inside a Middy stack the hooks of all its middlewares run on replays and refusals too,
 * so that CORS headers are on every answer: `middy(httpIdempotent(handler, options)).use(httpCors())`.
 *
 * @throws as `httpIdempotency`.
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
  return wrapHandler(() => httpFace(options), handler);
}
