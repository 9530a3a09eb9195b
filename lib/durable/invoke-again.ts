/** Errors that end an invocation and not its execution: Lambda then calls the execution again. */
import { type DurableContextLike, placeOf, terminationOf } from "./context.ts";

/**
 * Marks an error in the SDK's own way, so that the invocation fails. Any other error that a durable handler throws fails the
 * execution for good. https://docs.aws.amazon.com/lambda/latest/dg/durable-execution-sdk-retries.html
 */
export function invokeAgain<E>(error: E): E {
  return Object.assign(error as object, { isUnrecoverable: true, isUnrecoverableInvocation: true }) as E;
}

/** Whether an error ends the invocation only: nothing may be concluded from it. */
export function endsInvocation(error: unknown): boolean {
  return Boolean(
    (Object(error) as { readonly isUnrecoverableInvocation?: boolean }).isUnrecoverableInvocation,
  );
}

/** A child context records any error that is thrown in it. So there the SDK has to be stopped; this then never settles. */
export async function stopIfWithin(context: DurableContextLike, error: unknown): Promise<void> {
  if (!endsInvocation(error) || placeOf(context) === "") return;
  const termination = terminationOf(context);
  if (!termination.terminate) return;
  termination.terminate({ reason: "CHECKPOINT_FAILED", message: `${error}`, error });
  await new Promise<never>(() => {});
}
