/** The face for Express, and for other servers that call `(req, res, next)`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { readKept } from "./body.ts";
import { type Captured, captured } from "./captured.ts";
import { orGone } from "./gone.ts";
import type { ServerOptions } from "./options.ts";
import { type Settled, serverFace } from "./serve.ts";
import { linesOf, sendAnswer } from "./server-response.ts";

const ADVICE =
  "use a body parser with `verify: keepBody` before this middleware, such as `express.json({ verify: keepBody })`, or give `fingerprint`";

/**
 * Middleware for Express 4 and 5, after authentication and after the body parser, which has to `keepBody`. The handler gets its
 * attempt by `executionOf(req)`. The answer is kept back until it is recorded: also what an error handler answers.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once; it is given to `next` for a request whose body nothing has kept.
 */
export function expressIdempotency<Req extends IncomingMessage = IncomingMessage, Write = unknown>(
  options: ServerOptions<Req, Write>,
): (req: Req, res: ServerResponse, next: (error?: unknown) => void) => void {
  const { serve, isServed, clock, maxBytes } = serverFace(options);
  return function idempotentExpress(req, res, next) {
    const { method = "" } = req;
    if (!isServed(method)) return next();
    // Routers cut off the path that they are at.
    const { originalUrl: target = req.url ?? "" } = req as { readonly originalUrl?: string };
    const headers = linesOf(req.headers);
    let capture: Captured | undefined;
    const readBody = (isNeeded: boolean) => readKept(req, isNeeded ? ADVICE : undefined);
    const send = (settled: Settled) => (capture ? capture.send(settled) : sendAnswer(res, settled.answer));
    serve({ native: req, method, target, headers, readBody }, () => {
      capture = captured(res, { maxBytes });
      next();
      return orGone(capture, clock);
    })
      .then(send)
      .catch((error: unknown) => {
        capture?.reset();
        // The caller has gone, or the answer is already on its way.
        if (res.destroyed || res.headersSent) res.destroy();
        else next(error);
      });
  };
}
