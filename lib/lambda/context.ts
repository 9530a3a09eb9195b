/** The handler's second argument. */
import type { Execution } from "../core/execution.ts";
import type { LambdaContext } from "../core/lambda-context.ts";

/** The fields that onceonly adds to the context. */
export interface WithIdempotency<Write = unknown> {
  /**
   * This attempt. A request whose method isn't in `methods`, such as a GET, has none: any use of its properties throws
   * InvalidOptionError (`INVALID_OPTION`).
   */
  readonly idempotency: Execution<Write>;
}

/**
 * A separate context for each attempt: two operations running with the same context object must not see each other's key.
 * Accessors stay accessors, because the runtime listens to some of them.
 */
export function withExecution<Write>(
  context: unknown,
  execution: Execution<Write>,
): LambdaContext & WithIdempotency<Write> {
  const given = Object(context ?? {});
  const own = Object.create(Object.getPrototypeOf(given));
  // Copied one by one: from a list of descriptors V8 makes a slow object, at a fifth of the engine's time for a call.
  for (const name of Reflect.ownKeys(given)) {
    const property = Reflect.getOwnPropertyDescriptor(given, name) as PropertyDescriptor;
    if (property.writable && property.enumerable && !(name in own)) own[name] = property.value;
    else Object.defineProperty(own, name, property);
  }
  own.idempotency = execution;
  return own;
}
