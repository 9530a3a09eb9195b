/** Wraps a Middy stack: everything that is used after this middleware runs once per key, like the handler. */
import { refuseDurable } from "../../core/durable.ts";
import { InvalidOptionError } from "../../core/errors.ts";
import { executionOf, type LambdaContext } from "../../core/lambda-context.ts";
import type { WithIdempotency } from "../context.ts";
import type { Face } from "../face.ts";
import type { MiddyRequest } from "./request.ts";
import { beginWork, MiddyRun } from "./run.ts";
import { tellTo, toldHandler } from "./told-handler.ts";

/** What Middy gives to handlers beside event and context. */
interface MiddyHandlerOptions {
  readonly signal: AbortSignal;
}

/** A hook, in the form that Middy calls it. `internal` says that it adds nothing there. */
type MiddyHook<Event, Write> = (
  request: MiddyRequest<Event, LambdaContext & WithIdempotency<Write>> & {
    readonly internal: Readonly<Record<never, never>>;
  },
) => Promise<void>;

/** A middleware for Middy 6 and 7 that gives handlers `context.idempotency`. Its type needs no types of Middy. */
export interface IdempotencyMiddleware<Event, Write> {
  readonly before: MiddyHook<Event, Write>;
  readonly after: MiddyHook<Event, Write>;
  readonly onError: MiddyHook<Event, Write>;
  /**
   * Wraps the handler of the stack, so that the middleware is told when it begins and ends, which Middy does not tell:
   * `middy().use(once).handler(once.handler(async (event, context) => ...))`. Then an early timeout
   * with a value or an error of its own is not taken for the handler's end. The end of the handler after an early
   * timeout is recorded. The handler's errors are recorded before any error hook sees them.
   *
   * @throws InvalidOptionError (`INVALID_OPTION`) on events, where the stack does not `use` the middleware.
   */
  handler<HandlerEvent = Event, Context = LambdaContext & WithIdempotency<Write>, Result = unknown>(
    handler: (
      event: HandlerEvent,
      context: Context,
      options: MiddyHandlerOptions,
    ) => Result | Promise<Result>,
  ): (event: HandlerEvent, context: Context, options: MiddyHandlerOptions) => Promise<Result>;
}

export function middlewareFor<Event, Write>(face: Face<Write>): IdempotencyMiddleware<Event, Write> {
  const runs = new WeakMap<MiddyRequest, MiddyRun<Write>>();

  async function idempotencyBefore(request: MiddyRequest): Promise<void> {
    const { context } = request;
    refuseDurable("handler", request.event, context);
    const run = face(request.event, context);
    if (typeof run !== "function") {
      request.context = run.context;
      return;
    }
    const work = await beginWork(run);
    if ("early" in work) {
      request.earlyResponse = work.early;
      return;
    }
    const stackRun = new MiddyRun(request, work);
    tellTo(stackRun, work.attempt, executionOf(context));
    runs.set(request, stackRun);
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

  const middleware = {
    before: idempotencyBefore,
    after: idempotencyAfter,
    onError: idempotencyOnError,
    handler: toldHandler,
  };
  // Middy copies what it is given as its plugin, and ignores the hooks of a middleware there: the handler would run unprotected.
  return Object.defineProperty(middleware, "beforePrefetch", {
    enumerable: true,
    get(): never {
      throw new InvalidOptionError(
        "plugin",
        "of middy() must not be this middleware: use it, as in `middy().use(middleware)`",
        this,
      );
    },
  });
}
