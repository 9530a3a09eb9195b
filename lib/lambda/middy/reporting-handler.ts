/** Handlers of Middy stacks that report when they begin and end, so that nothing must be inferred from the hooks. */
import { shared } from "../../core/copies.ts";
import { InvalidOptionError } from "../../core/errors.ts";
import { executionOf } from "../../core/lambda-context.ts";

interface StackRun {
  readonly handle: <T>(handler: () => T | Promise<T>) => Promise<T>;
}

interface Enclosed {
  readonly run: StackRun;
  /** The execution of an outer middleware. */
  readonly outer: unknown;
}

const runs = shared("stacks", () => new WeakMap<object, Enclosed>());

export function reportTo(run: StackRun, execution: object, outer: unknown): void {
  runs.set(execution, { run, outer });
}

/** @throws InvalidOptionError (`INVALID_OPTION`) if none of our middlewares ran before. */
export function reportingHandler<Event, Context, Rest extends readonly unknown[], Result>(
  handler: (event: Event, context: Context, ...rest: Rest) => Result | Promise<Result>,
): (event: Event, context: Context, ...rest: Rest) => Promise<Result> {
  return async function handlerOfStack(event, context, ...rest) {
    // Without its middleware, it would run on every call.
    if (!("idempotency" in ((context ?? {}) as object)))
      throw new InvalidOptionError(
        "handler",
        "needs its middleware in the same stack: add the middleware with `use` too",
        context,
      );
    return callWithin(executionOf(context), () => handler(event, context, ...rest));
  };
}

function callWithin<T>(execution: unknown, handler: () => T | Promise<T>): T | Promise<T> {
  const enclosed = runs.get(execution as object);
  return enclosed ? callWithin(enclosed.outer, () => enclosed.run.handle(handler)) : handler();
}
