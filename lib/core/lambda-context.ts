/** The context of a Lambda invocation: a type that needs no other package, and the parts that onceonly reads. */

/**
 * Lambda's own context object. `Context` of `@types/aws-lambda` and this type fit each other, whether that package is
 * installed or not.
 */
export interface LambdaContext {
  /** `false` lets a handler that answers by a callback leave open connections behind. */
  callbackWaitsForEmptyEventLoop: boolean;
  functionName: string;
  functionVersion: string;
  invokedFunctionArn: string;
  memoryLimitInMB: string;
  /** Differs in each delivery of one message: it is no idempotency key. */
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

/** The part of the context that tells the time. */
export type TimedContext = Partial<Pick<LambdaContext, "getRemainingTimeInMillis">>;

/** The attempt whose context this is, if it is that of one. */
export function executionOf(context: unknown): unknown {
  return (context as { readonly idempotency?: unknown } | null | undefined)?.idempotency;
}
