/** The face for Nest, on Express and on Fastify. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { InvalidOptionError } from "../core/errors.ts";
import { expressIdempotency } from "./express.ts";
import { type FastifyReplyLike, type FastifyRequestLike, fastifyFace } from "./fastify.ts";
import type { ServerOptions } from "./options.ts";

/** What this interceptor uses of Nest's `ExecutionContext`. */
export interface NestContextLike {
  getType(): string;
  switchToHttp(): { getRequest(): unknown; getResponse(): unknown };
}

/** An interceptor of Nest: `@UseInterceptors(nestIdempotency({ … }))`. */
export interface NestInterceptorLike {
  intercept<Handled>(context: NestContextLike, next: { handle(): Handled }): Promise<Handled>;
}

/**
 * Interceptor for Nest 10 and 11, on Express or Fastify. It runs after guards, so `scope` can read the caller that a guard
 * verified. Create the app with `rawBody: true`. The handler gets its attempt by `executionOf(request)`. The answer is kept
 * back until it is recorded: also what an exception filter answers. On a replay the interceptors around this one see no value.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once, for a body whose bytes are not known, and for what is not HTTP.
 */
export function nestIdempotency<Req extends object = object, Write = unknown>(
  options: ServerOptions<Req, Write>,
): NestInterceptorLike {
  const onExpress = expressIdempotency(options as unknown as ServerOptions<IncomingMessage, Write>);
  const { begin } = fastifyFace(options as unknown as ServerOptions<FastifyRequestLike, Write>);
  return {
    intercept(context, next) {
      if (context.getType() !== "http")
        throw new InvalidOptionError(
          "context",
          "must be of an HTTP request: use `idempotent` or `runOnce` for others",
          context.getType(),
        );
      const http = context.switchToHttp();
      const request = http.getRequest();
      const response = http.getResponse() as ServerResponse | FastifyReplyLike;
      // If there is an answer already, Nest must not send another one, so the promise stays pending.
      return new Promise((resolve, reject) => {
        const handle = () => resolve(next.handle());
        if (!("raw" in response)) {
          let hasBegun = false;
          onExpress(request as IncomingMessage, response, (error) => {
            if (error === undefined) {
              hasBegun = true;
              handle();
            } else if (hasBegun) {
              // The handler's answer doesn't count, and Nest has handled it.
              response.statusCode = 500;
              response.end();
            } else reject(error);
          });
          return;
        }
        begin(request as FastifyRequestLike, response).then((isHandled) => isHandled && handle(), reject);
      });
    },
  };
}
