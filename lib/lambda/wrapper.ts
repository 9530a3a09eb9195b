/** Wraps a plain handler function. */
import { Interrupted } from "../core/running.ts";
import { callHandler } from "./call-handler.ts";
import { type LambdaContext, type WithIdempotency, withExecution } from "./context.ts";
import type { Face } from "./face.ts";
import { isEarlyTimeout } from "./middy/request.ts";

/**
 * A Lambda handler; `Rest` is what a framework passes after the context, such as Middy's signal, or Lambda its callback: one
 * that takes a third parameter may answer by that too.
 */
export type Handler<Event, Context, Rest extends readonly unknown[], Result> = (
  event: Event,
  context: Context,
  ...rest: Rest
) => Result | Promise<Result>;

export function wrapHandler<Event, Rest extends readonly unknown[], Result, Write>(
  face: Face<Write>,
  handler: Handler<Event, LambdaContext & WithIdempotency<Write>, Rest, Result>,
): (event: Event, context: LambdaContext, ...rest: Rest) => Promise<Result> {
  return async function idempotentHandler(event, context, ...rest) {
    const run = face(event, context);
    if (!run) return callHandler(handler, event, context as LambdaContext & WithIdempotency<Write>, rest);
    return run(async (attempt) => {
      try {
        return await callHandler(handler, event, withExecution(context, attempt), rest);
      } catch (error) {
        throw isEarlyTimeout(error) ? new Interrupted(error) : error;
      }
    }) as Promise<Result>;
  };
}
