/** Wraps a Middy stack: everything that is used after this middleware runs once per key, like the handler. */
import type { LambdaContext, WithIdempotency } from "./context.ts";
import { beginWork } from "./deferred-work.ts";
import type { Face } from "./exchange.ts";
import type { MiddlewareObj, MiddyRequest } from "./middy-request.ts";
import { MiddyRun } from "./middy-run.ts";

/** A middleware for Middy 6 and 7 that gives handlers `context.idempotency`. */
export type IdempotencyMiddleware<Event, Write> = Required<
  Pick<MiddlewareObj<Event, LambdaContext & WithIdempotency<Write>>, "before" | "after" | "onError">
>;

export function middlewareFor<Event, Write>(face: Face<Write>): IdempotencyMiddleware<Event, Write> {
  const runs = new WeakMap<MiddyRequest, MiddyRun<Write>>();

  async function idempotencyBefore(request: MiddyRequest): Promise<void> {
    const exchange = face.begin(request.event, request.context);
    try {
      const call = exchange.call();
      if (call === undefined) return;
      const begun = await beginWork(face.options, call);
      if ("outcome" in begun) {
        request.earlyResponse = exchange.answer(begun.outcome);
        return;
      }
      const run = new MiddyRun(request, exchange, begun);
      run.watch(call);
      runs.set(request, run);
    } catch (error) {
      request.earlyResponse = exchange.refuse(error);
    }
  }

  async function idempotencyAfter(request: MiddyRequest): Promise<void> {
    const run = runs.get(request);
    if (run !== undefined) request.response = await run.end(request.response);
  }

  /** Also called for errors from before our hook, after it, and from replays: then there is no open run. */
  async function idempotencyOnError(request: MiddyRequest): Promise<void> {
    const run = runs.get(request);
    if (run === undefined) return;
    try {
      request.response = await run.endFailed(request.response);
    } catch (error) {
      request.response = undefined;
      request.error = error;
    }
  }

  return { before: idempotencyBefore, after: idempotencyAfter, onError: idempotencyOnError };
}
