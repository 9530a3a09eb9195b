/** Wraps a Middy stack: everything used after this middleware runs once per key, like the handler. */
import { refuseDurable } from "../../core/durable.ts";
import { InvalidOptionError } from "../../core/errors.ts";
import { executionOf, type LambdaContext } from "../../core/lambda-context.ts";
import type { Adapter } from "../adapter.ts";
import type { WithIdempotency } from "../context.ts";
import { reportingHandler, reportTo } from "./reporting-handler.ts";
import type { MiddyRequest } from "./request.ts";
import { beginWork, MiddyRun, type PassOn } from "./run.ts";

/** Middy's third argument for handlers, after event and context. */
interface MiddyHandlerOptions {
  readonly signal: AbortSignal;
}

/** A hook in Middy's form. `internal` states that the hook adds nothing there. */
type MiddyHook<Event, Write> = (
  request: MiddyRequest<Event, LambdaContext & WithIdempotency<Write>> & {
    readonly internal: Readonly<Record<never, never>>;
  },
) => Promise<void>;

/** A middleware for Middy 6 and 7 that gives handlers `context.idempotency`. Its type doesn't need Middy's types. */
export interface IdempotencyMiddleware<Event, Write> {
  readonly before: MiddyHook<Event, Write>;
  readonly after: MiddyHook<Event, Write>;
  readonly onError: MiddyHook<Event, Write>;
  /**
   * Wraps the stack's handler, so that the middleware sees when it begins and ends, which Middy doesn't report:
   * `middy().use(once).handler(once.handler(async (event, context) => ...))`. An early timeout that returns a value or
   * throws its own error is then not mistaken for the handler's end. The handler's end after an early timeout is
   * recorded, and its errors are recorded before any error hook sees them.
   *
   * @throws InvalidOptionError (`INVALID_OPTION`) on events, if the stack doesn't `use` the middleware.
   */
  handler<HandlerEvent = Event, Context = LambdaContext & WithIdempotency<Write>, Result = unknown>(
    handler: (
      event: HandlerEvent,
      context: Context,
      options: MiddyHandlerOptions,
    ) => Result | Promise<Result>,
  ): (event: HandlerEvent, context: Context, options: MiddyHandlerOptions) => Promise<Result>;
}

/** @param passOn gives the handler its attempt. Absent for Lambda's own context, which every attempt gets a copy of. */
export function middlewareFor<Event, Write>(
  adapter: Adapter<Write>,
  passOn?: PassOn<Write>,
): IdempotencyMiddleware<Event, Write> {
  const runs = new WeakMap<MiddyRequest, MiddyRun<Write>>();

  async function idempotencyBefore(request: MiddyRequest): Promise<void> {
    const { context } = request;
    if (!passOn) refuseDurable("handler", request.event, context);
    const run = adapter(request.event, context);
    if (typeof run !== "function") {
      request.context = run.context;
      return;
    }
    const work = await beginWork(run);
    if ("early" in work) {
      request.earlyResponse = work.early;
      return;
    }
    // The context may be the same object afterwards.
    const outer = executionOf(context);
    const stackRun = new MiddyRun(request, work, passOn);
    reportTo(stackRun, work.attempt, outer);
    runs.set(request, stackRun);
  }

  async function idempotencyAfter(request: MiddyRequest): Promise<void> {
    const run = runs.get(request);
    if (run) request.response = await run.end(request.response);
  }

  /** Also called for errors before our hook, after it, and in replays: then there is no open run. */
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

  const middleware = {
    before: idempotencyBefore,
    after: idempotencyAfter,
    onError: idempotencyOnError,
    handler: reportingHandler,
  };
  // Middy copies its plugin object and ignores a middleware's hooks there, so the handler would run unprotected.
  return Object.defineProperty(middleware, "beforePrefetch", {
    enumerable: true,
    get(): never {
      throw new InvalidOptionError(
        "plugin",
        "of middy() must not be this middleware: add it with `middy().use(middleware)`",
        this,
      );
    },
  });
}
