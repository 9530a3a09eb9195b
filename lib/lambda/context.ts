/** What a handler gets as its second argument. */
import type { Execution } from "../core/execution.ts";
import type { MiddlewareObj } from "./middy/request.ts";

/** Lambda's own context object, as Middy types it. */
export type LambdaContext = Parameters<NonNullable<MiddlewareObj["before"]>>[0]["context"];

/** What onceonly adds to the context. */
export interface WithIdempotency<Write = unknown> {
  /** This attempt. `undefined` at run time where the event passed without a record, such as a GET. */
  readonly idempotency: Execution<Write>;
}

/**
 * A context of its own for each attempt: two operations that run with the same context object at once must
 * not see each other's key. Accessors stay accessors, because the runtime listens to some of them.
 */
export function withExecution<Write>(
  context: unknown,
  execution: Execution<Write> | undefined,
): LambdaContext & WithIdempotency<Write> {
  const given = context ?? {};
  const own = Object.create(Object.getPrototypeOf(given), Object.getOwnPropertyDescriptors(given));
  own.idempotency = execution;
  return own;
}

/** The attempt whose context this is, if it is that of one. */
export function executionOf(context: unknown): unknown {
  return (context as Partial<WithIdempotency> | null | undefined)?.idempotency;
}

/** What is left of the invocation in ms, where the context can tell. */
export function remainingMsOf(context: unknown): number | undefined {
  return (context as Partial<LambdaContext> | undefined)?.getRemainingTimeInMillis?.();
}
