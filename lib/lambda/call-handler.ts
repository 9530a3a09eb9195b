/** Calls a handler that returns its answer, or passes it to a callback. */

type Callback = (error?: unknown, result?: unknown) => void;

/**
 * Lambda gives a callback up to Node 22. A handler with a third parameter gets one of ours in its place, or where there is
 * none: Lambda's would be told past the record, and a replay would have no answer.
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-handler.html
 */
export function callHandler<Event, Context, Rest extends readonly unknown[], Result>(
  handler: (event: Event, context: Context, ...rest: Rest) => Result | Promise<Result>,
  event: Event,
  context: Context,
  rest: Rest,
): Result | Promise<Result> {
  const [given, ...others] = rest;
  const takesCallback = handler.length > 2 && (given === undefined || typeof given === "function");
  if (!takesCallback) return handler(event, context, ...rest);
  return new Promise((resolve, reject) => {
    const callback: Callback = (error, result) => {
      if (error === undefined || error === null) resolve(result as Result);
      else reject(error);
    };
    const returned = handler(event, context, ...([callback, ...others] as readonly unknown[] as Rest));
    // Lambda too takes a promise at its word, and waits for the callback of a handler that returns none.
    if (typeof (returned as Partial<Promise<Result>> | null | undefined)?.then === "function")
      resolve(returned);
  });
}
