/** The place for faults: around each call, before the model sees it and after the model has answered. */
import type { DynamoDBOperationName } from "./operations.ts";

export interface DynamoDBCall {
  readonly operation: DynamoDBOperationName;
  /** The input of the AWS SDK's command with that name; do not change it. */
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Answers a call. Each `run()` executes the whole call immediately. It resolves to DynamoDB's response, or
 * rejects with a DynamoDBError.
 *
 * Throw without `run()` for a request that never arrived or was throttled. Throw after `run()` for a lost
 * answer; answer later for a slow call.
 */
export type Intercept = (call: DynamoDBCall, run: () => Promise<unknown>) => unknown;

/** Passes the call through all interceptors, the first one outermost. */
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
