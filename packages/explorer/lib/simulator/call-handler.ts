/**
 * Calls a handler as Lambda's runtimes up to Node.js 22 do: it answers with a promise, by its callback, or by the methods of its
 * context. https://docs.aws.amazon.com/lambda/latest/dg/nodejs-handler.html
 */
import type { FakeLambdaContext } from "onceonly/testing";
import type { LambdaHandler } from "./simulated-function.ts";

/** @param untilEmpty resolves when no timer and no request of the invocation is left */
export function callHandler(
  handler: LambdaHandler,
  event: unknown,
  context: FakeLambdaContext,
  untilEmpty: () => Promise<void>,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let called: { readonly answer: unknown } | undefined;
    const end = (error: unknown, answer?: unknown) => (isError(error) ? reject(error) : resolve(answer));
    const callback = (error: unknown, answer?: unknown) => {
      called ??= { answer };
      // Without an error the answer waits for the event loop, unless the handler doesn't want that.
      if (isError(error) || !context.callbackWaitsForEmptyEventLoop) end(error, answer);
    };
    Object.assign(context, {
      done: end,
      succeed: (answer: unknown) => end(undefined, answer),
      fail: (error: unknown) => end(error ?? "handled"),
    });

    const returned = handler(event, context, callback);
    const answered = (answer: unknown) => resolve(called ? called.answer : answer);
    if (isPromise(returned)) returned.then(answered, reject);
    else void untilEmpty().then(() => answered(returned));
  });
}

const isError = (error: unknown): boolean => error !== undefined && error !== null;

const isPromise = (value: unknown): value is PromiseLike<unknown> => typeof Object(value).then === "function";
