/** The context of a Lambda invocation on a fake clock. */
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../core/clock.ts";
import type { LambdaContext } from "../core/lambda-context.ts";

/** Its `done`, `fail` and `succeed` throw: handlers return promises. */
export type FakeLambdaContext = LambdaContext;

export interface FakeLambdaContextOptions {
  /**
   * The remaining time when the invocation starts, in ms.
   * @default 30000
   */
  readonly remainingMs?: number;
  /**
   * The clock of the remaining time.
   * @default - the system's clock
   */
  readonly clock?: Pick<Clock, "now">;
  /**
   * Retries of one asynchronous event share this id.
   * @default - a fresh UUID
   */
  readonly awsRequestId?: string;
  /** @default "fake-function" */
  readonly functionName?: string;
}

export function fakeLambdaContext(options: FakeLambdaContextOptions = {}): FakeLambdaContext {
  const { clock = systemClock, remainingMs, awsRequestId, functionName } = options;
  const name = functionName ?? "fake-function";
  const deadline = clock.now() + (remainingMs ?? 30_000);
  const refuseCallback = () => {
    throw new Error("the context has no callbacks: return a promise");
  };
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: name,
    functionVersion: "$LATEST",
    invokedFunctionArn: `arn:aws:lambda:eu-central-1:123456789012:function:${name}`,
    memoryLimitInMB: "128",
    awsRequestId: awsRequestId ?? randomUUID(),
    logGroupName: `/aws/lambda/${name}`,
    logStreamName: "2023/11/14/[$LATEST]0123456789abcdef0123456789abcdef",
    getRemainingTimeInMillis: () => Math.max(0, deadline - clock.now()),
    done: refuseCallback,
    fail: refuseCallback,
    succeed: refuseCallback,
  };
}
