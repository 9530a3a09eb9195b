/** Where faults come in: around each call, before the model has seen it and after it has answered. */
import type { DynamoDBOperationName } from "./operations.ts";

export interface DynamoDBCall {
  readonly operation: DynamoDBOperationName;
  /** As the AWS SDK's command of that name has it; not to be changed. */
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Answers a call. `run` does it, wholly and at once, each time it is called, and resolves to what DynamoDB would answer
 * or rejects with the DynamoDBError it would refuse with. To throw without it is a request that never arrived, or that was
 * throttled; to throw after it is an answer that was lost; to answer later is a slow call.
 */
export type Intercept = (call: DynamoDBCall, run: () => Promise<unknown>) => unknown;

/** Does the call through all of them, the first one outermost. */
export async function intercepted(
  intercepts: readonly (Intercept | undefined)[],
  call: DynamoDBCall,
  run: () => unknown,
): Promise<unknown> {
  const [first, ...others] = intercepts;
  if (intercepts.length === 0) return run();
  const runRest = () => intercepted(others, call, run);
  return first === undefined ? runRest() : first(call, runRest);
}
