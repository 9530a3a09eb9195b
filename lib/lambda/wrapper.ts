/** Wraps a plain handler function, which returns its answer or passes it to a callback. */
import { refuseDurable } from "../core/durable.ts";
import { InvalidOptionError } from "../core/errors.ts";
import type { LambdaContext } from "../core/lambda-context.ts";
import { Interrupted, isUnderWay } from "../core/running.ts";
import { type WithIdempotency, withExecution } from "./context.ts";
import type { Face } from "./face.ts";
import { isEarlyTimeout } from "./middy/request.ts";

/**
 * A Lambda handler, such as the handler types of `@types/aws-lambda`. `Rest` stands for the parameters after the context,
 * such as Middy's signal or Lambda's callback. A handler with a third parameter may answer by that callback too.
 */
export type Handler<Event, Context, Rest extends readonly unknown[], Result> = (
  event: Event,
  context: Context,
  ...rest: Rest
  // biome-ignore lint/suspicious/noConfusingVoidType: the types of aws-lambda say so, for handlers with a callback
) => Result | Promise<Result> | void;

/** What a handler answers: what it returns, or what it gives its callback where it returns nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that answers by its callback returns void
export type AnswerOf<Result, Rest extends readonly unknown[]> = [Result] extends [void]
  ? Rest extends readonly [callback: (error?: never, result?: infer Given) => void]
    ? Given
    : Result
  : Result;

/**
 * @param makeFace is called after the handler was looked at: given in its place, options would be told for their own faults
 * @throws InvalidOptionError (`INVALID_OPTION`) for what is no function.
 */
export function wrapHandler<Event, Rest extends readonly unknown[], Result, Write>(
  makeFace: () => Face<Write>,
  handler: Handler<Event, LambdaContext & WithIdempotency<Write>, Rest, Result>,
): (event: Event, context: LambdaContext, ...rest: Rest) => Promise<AnswerOf<Result, Rest>> {
  if (typeof handler !== "function")
    throw new InvalidOptionError("handler", "must be a function: give it first, then the options", handler);
  const face = makeFace();
  return async function idempotentHandler(event, context, ...rest) {
    if (typeof (context as { readonly write?: unknown } | undefined)?.write === "function") throw streamed();
    refuseDurable("handler", event, context);
    const run = face(event, context);
    if (typeof run !== "function")
      return callHandler(handler, event, run.context, rest) as Promise<AnswerOf<Result, Rest>>;
    return run(async (attempt) => {
      try {
        return await callHandler(handler, event, withExecution(context, attempt), rest);
      } catch (error) {
        throw isEarlyTimeout(error) ? new Interrupted(error) : error;
      }
    }) as Promise<AnswerOf<Result, Rest>>;
  };
}

/**
 * A handler with a third parameter gets a callback of ours, whether Lambda gave one (up to Node 22) or not. Lambda's own
 * callback would be told past the record, and a replay would have no answer.
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-handler.html
 */
function callHandler<Event, Context, Rest extends readonly unknown[], Result>(
  handler: Handler<Event, Context, Rest, Result>,
  event: Event,
  context: Context,
  rest: Rest,
): Result | Promise<Result> {
  const [given, ...others] = rest;
  const namesCallback = handler.length > 2;
  const takesCallback = typeof given === "function" || (namesCallback && given === undefined);
  if (!takesCallback) return handler(event, context, ...rest) as Result | Promise<Result>;
  return new Promise((resolve, reject) => {
    let isTooLate = false;
    const callback = (error?: unknown, result?: unknown): void => {
      if (isTooLate) throw tooLate();
      if (error === undefined || error === null) resolve(result as Result);
      else reject(error);
    };
    const returned = handler(event, context, ...([callback, ...others] as readonly unknown[] as Rest));
    // As Lambda does: a returned promise is the answer, and without one the callback is waited for.
    const isPromise = isUnderWay(returned);
    if (!isPromise && namesCallback) return;
    resolve(returned as Result | Promise<Result>);
    isTooLate = !isPromise;
  });
}

/** Such a handler gets a stream in the place of the context. */
function streamed(): InvalidOptionError {
  return new InvalidOptionError(
    "handler",
    "must return its answer: a handler of streamifyResponse writes it, and no replay would; call runOnce in such a handler",
  );
}

/** Nobody knows that `(...args) => inner(...args)` answers by a callback, until it does. */
function tooLate(): InvalidOptionError {
  return new InvalidOptionError(
    "handler",
    "must name the callback as its third parameter, or return a promise: it called back after it had returned",
  );
}
