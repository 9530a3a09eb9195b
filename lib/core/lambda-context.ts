/** The context of a Lambda invocation: a type that needs no other package, and the parts that onceonly reads. */

/** Lambda's own context object. Compatible with `Context` of `@types/aws-lambda`, whether or not that package is installed. */
export interface LambdaContext {
  /** Set `false` so that a handler with a callback can return while connections are still open. */
  callbackWaitsForEmptyEventLoop: boolean;
  functionName: string;
  functionVersion: string;
  invokedFunctionArn: string;
  memoryLimitInMB: string;
  /** Differs for each delivery of the same message, so don't use it as an idempotency key. */
  awsRequestId: string;
  logGroupName: string;
  logStreamName: string;
  /** The Cognito identity that called through the mobile SDK. */
  identity?: { cognitoIdentityId: string; cognitoIdentityPoolId: string } | undefined;
  /** The client that called through the mobile SDK. */
  clientContext?:
    | {
        client: {
          installationId: string;
          appTitle: string;
          appVersionName: string;
          appVersionCode: string;
          appPackageName: string;
        };
        custom?: unknown;
        env: { platformVersion: string; platform: string; make: string; model: string; locale: string };
      }
    | undefined;
  /** The tenant, in a function with tenant isolation. */
  tenantId?: string | undefined;
  /** In milliseconds. */
  getRemainingTimeInMillis(): number;
  /** @deprecated Return a promise. */
  done(error?: Error, result?: unknown): void;
  /** @deprecated Return a promise that is rejected. */
  fail(error: Error | string): void;
  /** @deprecated Return a promise. */
  succeed(messageOrObject: unknown, object?: unknown): void;
}

/** The part of the context that gives the remaining time. */
export type TimedContext = Partial<Pick<LambdaContext, "getRemainingTimeInMillis">>;

/** The attempt that this context belongs to, if any. */
export function executionOf(context: unknown): unknown {
  return (context as { readonly idempotency?: unknown } | null | undefined)?.idempotency;
}
