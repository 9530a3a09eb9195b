// The properties of an IdempotentFunction.
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Architecture, Runtime } from "aws-cdk-lib/aws-lambda";
import { type BundlingOptions, type NodejsFunctionProps, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IIdempotencyTable } from "./idempotency-table-interface.ts";
import type { UseIdempotencyOptions } from "./use-idempotency-options.ts";

/** Properties of an {@link IdempotentFunction}: those of `NodejsFunction`, some with other defaults, and `UseIdempotency`'s. */
export interface IdempotentFunctionProps extends NodejsFunctionProps, UseIdempotencyOptions {
  /** The path of the handler's file. */
  readonly entry: string;

  /** The table that holds the records. */
  readonly table: IIdempotencyTable;

  /**
   * The Node.js runtime of the function.
   *
   * @default Runtime.NODEJS_24_X
   */
  readonly runtime?: Runtime;

  /**
   * The processor architecture of the function.
   *
   * @default Architecture.ARM_64
   */
  readonly architecture?: Architecture;

  /**
   * The function's timeout. The default is slightly shorter than an HTTP API waits.
   * @default Duration.seconds(29)
   */
  readonly timeout?: Duration;

  /**
   * The function's memory, in MiB.
   *
   * @default 512
   */
  readonly memorySize?: number;

  /**
   * How the handler is bundled: each setting that you pass replaces its default. An ES module also gets a `require` in
   * front of your `banner`, because CommonJS packages use it to load Node's built-in modules.
   * @default { format: OutputFormat.ESM, minify: true, mainFields: ["module", "main"], bundleAwsSDK: true }
   */
  readonly bundling?: BundlingOptions;

  /**
   * How long the function's own log group keeps logs.
   *
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;

  /**
   * What happens to the logs when the function is removed from the stack.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly logRemovalPolicy?: RemovalPolicy;
}

export const FUNCTION_DEFAULTS = {
  runtime: Runtime.NODEJS_24_X,
  architecture: Architecture.ARM_64,
  timeout: Duration.seconds(29),
  memorySize: 512,
  bundling: {
    format: OutputFormat.ESM,
    minify: true,
    mainFields: ["module", "main"],
    bundleAwsSDK: true,
  },
  logRetention: RetentionDays.ONE_MONTH,
  logRemovalPolicy: RemovalPolicy.RETAIN,
};
