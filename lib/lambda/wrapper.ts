/** Wraps a plain handler function, which returns its answer or passes it to a callback. */
import { Interrupted } from "../core/running.ts";
import { type LambdaContext, type WithIdempotency, withExecution } from "./context.ts";
import type { Face } from "./face.ts";
import { isEarlyTimeout } from "./middy/request.ts";

/**
 * A Lambda handler. `Rest` stands for the parameters after the context, such as Middy's signal or Lambda's callback. A
 * handler that takes a third parameter may answer by that callback too.
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

/**
 * A handler with a third parameter gets a callback of ours, whether Lambda gave one (up to Node 22) or not. Lambda's own
 * callback would be told past the record, and a replay would have no answer.
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-handler.html
 */
function callHandler<Event, Context, Rest extends readonly unknown[], Result>(
  handler: (event: Event, context: Context, ...rest: Rest) => Result | Promise<Result>,
  event: Event,
  context: Context,
  rest: Rest,
): Result | Promise<Result> {
  const [given, ...others] = rest;
  const takesCallback = handler.length > 2 && (given === undefined || typeof given === "function");
  if (!takesCallback) return handler(event, context, ...rest);
  return new Promise((resolve, reject) => {
    const callback = (error?: unknown, result?: unknown): void => {
      if (error === undefined || error === null) resolve(result as Result);
      else reject(error);
    };
    const returned = handler(event, context, ...([callback, ...others] as readonly unknown[] as Rest));
    // As Lambda does: a returned promise is the answer, and without one the callback is waited for.
    if (typeof (returned as Partial<Promise<Result>> | null | undefined)?.then === "function")
      resolve(returned);
  });
}
