/** Middy middleware for the handler of a durable function. */
import { type IdempotencyMiddleware, middlewareFor } from "../lambda/middy/middleware.ts";
import { attach } from "./context.ts";
import { durableOperation } from "./operation.ts";
import type { DurableIdempotencyOptions } from "./options.ts";

/**
 * `idempotentDurable` as Middy middleware, for stacks in a durable function: Middy 7's durable mode, or
 * `withDurableExecution(middy(handler).use(durableIdempotency(options)))`. The handler, and every middleware used after this one,
 * belong to the one execution that runs per operation, scope and key. All hooks run again in each of its invocations.
 *
 * A key whose execution succeeded without recording its result counts as done, but the result isn't kept: hooks may have
 * changed what the execution returned.
 *
 * @throws as `idempotentDurable`.
 */
export function durableIdempotency<Event = unknown, Write = unknown>(
  options: DurableIdempotencyOptions<Event, Write>,
): IdempotencyMiddleware<Event, Write> {
  return middlewareFor(durableOperation(options, undefined), (context, attempt) =>
    attach(context as object, attempt),
  );
}
