/** Reads from the environment whether the process ends with its invocation. No other file in `lib/core` reads the environment. */

/**
 * Lambda Managed Instances run several invocations in one process. They report a timeout, and let the code run on.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-managed-instances-execution-environment.html
 */
export function isManagedInstance({ env } = process): boolean {
  return (
    env.AWS_LAMBDA_INITIALIZATION_TYPE === "lambda-managed-instances" || "AWS_LAMBDA_MAX_CONCURRENCY" in env
  );
}

export function isLambda({ env } = process): boolean {
  return env.AWS_LAMBDA_FUNCTION_NAME !== undefined;
}
