/** The face for Express, and for other servers that call `(req, res, next)`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { otherCopies, shared } from "../core/copies.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { captured, linesOf } from "./captured.ts";
import { orGone } from "./gone.ts";
import type { ServerOptions } from "./options.ts";
import { serverFace } from "./serve.ts";

const bodies = shared("bodies", () => new WeakMap<object, Uint8Array>());

/**
 * For `verify` of a body parser: `express.json({ verify: keepBody })`. The middleware then knows the bytes that the parser has
 * read.
 */
export function keepBody(req: IncomingMessage, _res: unknown, bytes: Uint8Array): void {
  bodies.set(req, bytes);
}

/**
 * Middleware for Express 5, after authentication and after the body parser, which has to `keepBody`. The handler gets its
 * attempt by `executionOf(req)`. The answer is kept back until it is recorded: also what an error handler answers.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once; it is given to `next` for a request whose body nobody has kept.
 */
export function expressIdempotency<Req extends IncomingMessage = IncomingMessage, Write = unknown>(
  options: ServerOptions<Req, Write>,
): (req: Req, res: ServerResponse, next: (error?: unknown) => void) => void {
  const { serve, isServed, clock, maxBytes } = serverFace(options);
  return function idempotentExpress(req, res, next) {
    const { method = "" } = req;
    if (!isServed(method)) return next();
    const body = bodies.get(req) ?? emptyBody(req);
    if (body === undefined) return next(unread());
    // Routers cut off the path that they are at.
    const { originalUrl = req.url ?? "" } = req as { readonly originalUrl?: string };
    const headers = linesOf({ getHeaders: () => req.headers });
    const answer = captured(res, maxBytes);
    serve({ native: req, method, target: originalUrl, headers, body }, () => {
      next();
      return orGone(res, answer.ended, clock);
    }).then(answer.send, (error: unknown) => {
      answer.release();
      // Nobody waits for it where the caller has gone.
      if (!res.destroyed) next(error);
    });
  };
}

function emptyBody({ headers }: IncomingMessage): Uint8Array | undefined {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody ? undefined : new Uint8Array();
}

function unread(): InvalidOptionError {
  return new InvalidOptionError(
    "fingerprint",
    `needs the bytes of the body: use a body parser with \`verify: keepBody\` before this middleware, such as \`express.json({ verify: keepBody })\`${otherCopies("bodies")}`,
    undefined,
  );
}
