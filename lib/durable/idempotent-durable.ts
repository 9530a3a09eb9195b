/** Wraps the handler of a durable function. */
import { InvalidOptionError } from "../core/errors.ts";
import type { WithIdempotency } from "../lambda/context.ts";
import { named } from "../lambda/wrapper.ts";
import { attach, type DurableContextLike } from "./context.ts";
import { wholeResult } from "./ended-execution.ts";
import { durableOperation } from "./operation.ts";
import type { DurableIdempotencyOptions } from "./options.ts";

/**
 * Wraps the whole handler of a durable function so that one execution runs per operation, scope and key:
 * `withDurableExecution(idempotentDurable(handler, options))`. Each invocation of that execution goes on under the claim of
 * the previous one, however long it was suspended. Any other execution with the key gets the recorded result, or
 * ExecutionInProgressError until there is one.
 *
 * The handler gets the SDK's own context (annotate it as `DurableContext & WithIdempotency`), with `context.idempotency` on it. An invocation that is suspended records nothing.
 * If the handler throws, the key is released, and the next delivery starts over in a new execution; a PermanentError is
 * recorded and replayed. If the store can't be reached, the invocation fails and Lambda calls the execution again.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately, and on events for a context that isn't a durable one. On events also
 * IdempotencyKeyMissingError (`IDEMPOTENCY_KEY_MISSING`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`),
 * ScopeMissingError (`SCOPE_MISSING`), ExecutionInProgressError (`EXECUTION_IN_PROGRESS`), FingerprintMismatchError
 * (`FINGERPRINT_MISMATCH`), StoreUnavailableError (`STORE_UNAVAILABLE`), and the others in docs/reference/errors.md.
 */
export function idempotentDurable<
  Result,
  Event = unknown,
  Write = unknown,
  Context extends DurableContextLike & WithIdempotency<Write> = DurableContextLike & WithIdempotency<Write>,
>(
  handler: (event: Event, context: Context) => Promise<Result>,
  options: DurableIdempotencyOptions<Event, Write>,
): (event: Event, context: Omit<Context, keyof WithIdempotency>) => Promise<Result> {
  if (typeof handler !== "function")
    throw new InvalidOptionError("handler", "must be a function, and comes before the options", handler);
  const operation = durableOperation(options, wholeResult);
  return named(options, async (event: Event, context: Omit<Context, keyof WithIdempotency>) => {
    const run = operation(event, context);
    return (await run((attempt) => handler(event, attach(context, attempt) as Context))) as Result;
  });
}
