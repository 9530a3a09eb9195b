/** The Nest adapter, on Express and on Fastify. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { InvalidOptionError } from "../core/errors.ts";
import type { WithExecutionOf } from "./current.ts";
import { expressIdempotency } from "./express.ts";
import { type FastifyReplyLike, fastifyAdapter } from "./fastify.ts";
import type { FastifyRequestLike, NestRequest } from "./frameworks.ts";
import type { ServerOptions } from "./options.ts";

/** The part of Nest's `ExecutionContext` that this interceptor uses. */
export interface NestContextLike {
  getType(): string;
  switchToHttp(): { getRequest(): unknown; getResponse(): unknown };
}

/** The interceptor, `@UseInterceptors(once)`, and `once.executionOf(request)`, which accepts the request of `@Req()`. */
export interface NestInterceptorLike<Write = unknown> extends WithExecutionOf<object, Write> {
  intercept<Handled>(context: NestContextLike, next: { handle(): Handled }): Promise<Handled>;
}

/**
 * Interceptor for Nest 10 and 11, on Express or Fastify. It runs after guards, so `scope` can read the caller that a
 * guard verified. Create the app with `rawBody: true`. The handler gets its attempt from the interceptor's
 * `executionOf(request)`. The response is held back until it is recorded, including one from an exception filter. On a
 * replay, outer interceptors see no value.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately, for a body whose bytes aren't known, and for anything but
 * HTTP.
 */
export function nestIdempotency<Req extends object = NestRequest, Write = unknown>(
  options: ServerOptions<Req, Write>,
): NestInterceptorLike<Write> {
  const onExpress = expressIdempotency(options as unknown as ServerOptions<IncomingMessage, Write>);
  const onFastify = fastifyAdapter(options as unknown as ServerOptions<FastifyRequestLike, Write>);
  return {
    // A Fastify request wraps Node's.
    executionOf: (request) =>
      ("raw" in Object(request) ? onFastify : onExpress).executionOf(request as never),
    intercept(context, next) {
      if (context.getType() !== "http")
        throw new InvalidOptionError(
          "context",
          "must belong to an HTTP request: use `idempotent` or `runOnce` for other events",
          context.getType(),
        );
      const http = context.switchToHttp();
      const request = http.getRequest();
      const response = http.getResponse() as ServerResponse | FastifyReplyLike;
      // A response was sent already, and Nest must not send another one, so the promise stays pending.
      return new Promise((resolve, reject) => {
        const handle = () => resolve(next.handle());
        if (!("raw" in response)) {
          let hasBegun = false;
          onExpress(request as IncomingMessage, response, (error) => {
            if (error === undefined) {
              hasBegun = true;
              handle();
            } else if (hasBegun) {
              // The handler's response doesn't count, and Nest has already handled it.
              response.statusCode = 500;
              response.end();
            } else reject(error);
          });
          return;
        }
        onFastify
          .begin(request as FastifyRequestLike, response)
          .then((isHandled) => isHandled && handle(), reject);
      });
    },
  };
}
