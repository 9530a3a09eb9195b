/** Wraps a plain handler function, which returns its result or passes it to a callback. */
import { refuseDurable } from "../core/durable.ts";
import { InvalidOptionError } from "../core/errors.ts";
import type { LambdaContext } from "../core/lambda-context.ts";
import { Interrupted, isUnderWay } from "../core/running.ts";
import type { Adapter } from "./adapter.ts";
import { type WithIdempotency, withExecution } from "./context.ts";
import { isEarlyTimeout } from "./middy/request.ts";

/**
 * A Lambda handler, compatible with the handler types of `@types/aws-lambda`. `Rest` stands for the parameters after the
 * context, such as Middy's signal or Lambda's callback. A handler with a third parameter may also respond by that
 * callback.
 */
export type Handler<Event, Context, Rest extends readonly unknown[], Result> = (
  event: Event,
  context: Context,
  ...rest: Rest
  // biome-ignore lint/suspicious/noConfusingVoidType: the types of aws-lambda say so, for handlers with a callback
) => Result | Promise<Result> | void;

/** A handler's result: its return value, or the callback's value if it returns nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that answers by its callback returns void
export type AnswerOf<Result, Rest extends readonly unknown[]> = [Result] extends [void]
  ? Rest extends readonly [callback: (error?: never, result?: infer Given) => void]
    ? Given
    : Result
  : Result;

/**
 * @param makeAdapter called after the handler is checked: options passed in its place would otherwise be reported for
 * their own faults
 * @throws InvalidOptionError (`INVALID_OPTION`) if the handler isn't a function.
 */
export function wrapHandler<Event, Rest extends readonly unknown[], Result, Write>(
  makeAdapter: () => Adapter<Write>,
  handler: Handler<Event, LambdaContext & WithIdempotency<Write>, Rest, Result>,
  options: { readonly operation: string },
): (event: Event, context: LambdaContext, ...rest: Rest) => Promise<AnswerOf<Result, Rest>> {
  if (typeof handler !== "function")
    throw new InvalidOptionError("handler", "must be a function, and comes before the options", handler);
  const adapter = makeAdapter();
  return named(options, async (event, context, ...rest) => {
    if (typeof (context as { readonly write?: unknown } | undefined)?.write === "function") throw streamed();
    refuseDurable("handler", event, context);
    const run = adapter(event, context);
    if (typeof run !== "function")
      return callHandler(handler, event, run.context, rest) as Promise<AnswerOf<Result, Rest>>;
    return run(async (attempt) => {
      try {
        return await callHandler(handler, event, withExecution(context, attempt), rest);
      } catch (error) {
        throw isEarlyTimeout(error) ? new Interrupted(error) : error;
      }
    }) as Promise<AnswerOf<Result, Rest>>;
  });
}

/** Stack traces, tracers and the explorer's reports show this name. */
export function named<Wrapped extends object>(
  { operation }: { readonly operation: string },
  wrapped: Wrapped,
): Wrapped {
  return Object.defineProperty(wrapped, "name", { value: operation });
}

/**
 * A handler with a third parameter gets our callback, whether Lambda passed one (up to Node 22) or not. Lambda's own
 * callback would bypass the record, and a replay would have no result.
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
    // Like Lambda: a returned promise is the response; without one, wait for the callback.
    const isPromise = isUnderWay(returned);
    if (!isPromise && namesCallback) return;
    resolve(returned as Result | Promise<Result>);
    isTooLate = !isPromise;
  });
}

/** Such a handler gets a stream in place of the context. */
function streamed(): InvalidOptionError {
  return new InvalidOptionError(
    "handler",
    "must return its response, but a streamifyResponse handler writes it to a stream, which can't be replayed: use httpIdempotentStream, or call runOnce inside such a handler",
  );
}

/** Only the call itself shows that `(...args) => inner(...args)` responds by a callback. */
function tooLate(): InvalidOptionError {
  return new InvalidOptionError(
    "handler",
    "called its callback after it had returned: declare the callback as its third parameter, or return a promise",
  );
}
