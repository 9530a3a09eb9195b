/** The adapter for Express and other servers that call `(req, res, next)`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { readKept } from "./body.ts";
import { type Captured, captured } from "./captured.ts";
import type { WithExecutionOf } from "./current.ts";
import type { Decided, ExpressRequest } from "./frameworks.ts";
import { orGone } from "./gone.ts";
import type { ServerOptions } from "./options.ts";
import { type Settled, serverAdapter } from "./serve.ts";
import { linesOf, sendAnswer } from "./server-response.ts";

const ADVICE =
  "use a body parser with `verify: keepBody` before this middleware, such as `express.json({ verify: keepBody })`, or set `fingerprint`";

/** The middleware, and `executionOf`: `const { commit } = once.executionOf(req)`. */
export interface ExpressIdempotency<Req, Write = unknown> extends WithExecutionOf<IncomingMessage, Write> {
  (req: Req, res: ServerResponse, next: (error?: unknown) => void): void;
}

/**
 * Middleware for Express 4 and 5. Use it after authentication and after the body parser, which needs `verify: keepBody`.
 * The handler gets its attempt from the middleware's `executionOf(req)`. The response is held back until it is recorded,
 * including one from an error handler.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately; for a request whose body no parser kept, it is passed to
 * `next`.
 */
export function expressIdempotency<Req extends IncomingMessage = ExpressRequest, Write = unknown>(
  options: ServerOptions<Req, Write>,
): ExpressIdempotency<Decided<Req>, Write> {
  const { serve, isServed, isSkipped, clock, maxBytes, executionOf } = serverAdapter(options);
  return Object.assign(idempotentExpress, { executionOf }) as ExpressIdempotency<Decided<Req>, Write>;

  function idempotentExpress(req: Req, res: ServerResponse, next: (error?: unknown) => void): void {
    const { method = "" } = req;
    if (!isServed(method)) {
      next();
      return;
    }
    // Routers strip their own path from `req.url`.
    const { originalUrl: target = req.url ?? "" } = req as { readonly originalUrl?: string };
    const headers = [...linesOf(req.headers)];
    let capture: Captured | undefined;
    const readBody = (isNeeded: boolean) => readKept(req, isNeeded ? ADVICE : undefined);
    const send = (settled: Settled) => (capture ? capture.send(settled) : sendAnswer(res, settled.answer));
    const request = { native: req, method, target, headers, readBody };
    const begin = () => {
      capture = captured(res, { maxBytes });
      next();
      return orGone(capture, clock);
    };
    isSkipped(request)
      .then((skips) => (skips ? next() : serve(request, begin).then(send)))
      .catch((error: unknown) => {
        capture?.reset();
        // The caller disconnected, or a response is already on its way.
        if (res.destroyed || res.headersSent) res.destroy();
        else next(error);
      });
  }
}
