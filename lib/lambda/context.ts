/** What a handler gets as its second argument. */
import type { Execution } from "../core/execution.ts";
import type { LambdaContext } from "../core/lambda-context.ts";

/** What onceonly adds to the context. */
export interface WithIdempotency<Write = unknown> {
  /**
   * This attempt. A request whose method is not in `methods`, such as a GET, has none: then each use of a property
   * throws InvalidOptionError (`INVALID_OPTION`).
   */
  readonly idempotency: Execution<Write>;
}

/**
 * A context of its own for each attempt: two operations that run with the same context object at once must
 * not see each other's key. Accessors stay accessors, because the runtime listens to some of them.
 */
export function withExecution<Write>(
  context: unknown,
  execution: Execution<Write>,
): LambdaContext & WithIdempotency<Write> {
  const given = context ?? {};
  const own = Object.create(Object.getPrototypeOf(given), Object.getOwnPropertyDescriptors(given));
  own.idempotency = execution;
  return own;
}
