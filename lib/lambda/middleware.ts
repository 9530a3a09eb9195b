/** Wraps a Middy stack: everything that is used after this middleware runs once per key, like the handler. */
import type { LambdaContext, WithIdempotency } from "./context.ts";
import { beginWork } from "./deferred-work.ts";
import type { Face } from "./face.ts";
import type { MiddlewareObj, MiddyRequest } from "./middy-request.ts";
import { type MiddyRun, watchRun } from "./middy-run.ts";

/** A middleware for Middy 6 and 7 that gives handlers `context.idempotency`. */
export type IdempotencyMiddleware<Event, Write> = Required<
  Pick<MiddlewareObj<Event, LambdaContext & WithIdempotency<Write>>, "before" | "after" | "onError">
>;

export function middlewareFor<Event, Write>(face: Face<Write>): IdempotencyMiddleware<Event, Write> {
  const runs = new WeakMap<MiddyRequest, MiddyRun>();

  async function idempotencyBefore(request: MiddyRequest): Promise<void> {
    const run = face(request.event, request.context);
    if (!run) return;
    const work = await beginWork(run);
    if ("early" in work) request.earlyResponse = work.early;
    else runs.set(request, watchRun(request, work));
  }

  async function idempotencyAfter(request: MiddyRequest): Promise<void> {
    const run = runs.get(request);
    if (run) request.response = await run.end(request.response);
  }

  /** Also called for errors from before our hook, after it, and from replays: then there is no open run. */
  async function idempotencyOnError(request: MiddyRequest): Promise<void> {
    const run = runs.get(request);
    if (!run) return;
    try {
      request.response = await run.endFailed(request.response);
    } catch (error) {
      request.response = undefined;
      request.error = error;
    }
  }

  return { before: idempotencyBefore, after: idempotencyAfter, onError: idempotencyOnError };
}
