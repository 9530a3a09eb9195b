/** The context of a Lambda invocation whose time is a fake clock's. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../core/clock.ts";

/** The shape of `Context` in the types of aws-lambda, which need not be installed to read this. */
export interface FakeLambdaContext {
  callbackWaitsForEmptyEventLoop: boolean;
  functionName: string;
  functionVersion: string;
  invokedFunctionArn: string;
  memoryLimitInMB: string;
  awsRequestId: string;
  logGroupName: string;
  logStreamName: string;
  getRemainingTimeInMillis(): number;
  /** Throws, as `fail` and `succeed`: handlers return promises. */
  done(error?: Error, result?: unknown): void;
  fail(error: Error | string): void;
  succeed(messageOrObject: unknown, object?: unknown): void;
}

export interface FakeLambdaContextOptions {
  /**
   * The time that the invocation has when it starts.
   * @default 30000
   */
  readonly remainingMs?: number;
  /** Where its time comes from. */
  readonly clock: Pick<Clock, "now">;
  /**
   * Retries of one asynchronous event share it.
   * @default - a fresh UUID
   */
  readonly awsRequestId?: string;
  /** @default "fake-function" */
  readonly functionName?: string;
}

export function fakeLambdaContext(options: FakeLambdaContextOptions): FakeLambdaContext {
  const { clock, remainingMs, awsRequestId, functionName } = options;
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
