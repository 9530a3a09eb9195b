// The properties of an IdempotentFunction.
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Architecture, Runtime } from "aws-cdk-lib/aws-lambda";
import { type BundlingOptions, type NodejsFunctionProps, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IIdempotencyTable } from "./idempotency-table-interface.ts";
import type { UseIdempotencyOptions } from "./use-idempotency-options.ts";

/** Properties of an {@link IdempotentFunction}: those of a `NodejsFunction`, some with other defaults, and the table's. */
export interface IdempotentFunctionProps extends NodejsFunctionProps, UseIdempotencyOptions {
  /** The file of the handler. */
  readonly entry: string;

  /** The table that holds the records. */
  readonly table: IIdempotencyTable;

  /**
   * The Node.js that runs it.
   *
   * @default Runtime.NODEJS_24_X
   */
  readonly runtime?: Runtime;

  /**
   * The processor that runs it.
   *
   * @default Architecture.ARM_64
   */
  readonly architecture?: Architecture;

  /**
   * Slightly shorter than an HTTP API waits.
   * @default Duration.seconds(29)
   */
  readonly timeout?: Duration;

  /**
   * In MiB.
   *
   * @default 512
   */
  readonly memorySize?: number;

  /**
   * How the handler is bundled: each given setting replaces that setting of the default. An ES module also gets a
   * `require` in front of the given `banner`, since CommonJS packages load Node's own modules by it.
   * @default { format: OutputFormat.ESM, minify: true, mainFields: ["module", "main"], bundleAwsSDK: true }
   */
  readonly bundling?: BundlingOptions;

  /**
   * How long logs are kept, in a log group of the function's own.
   *
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;

  /**
   * What happens to the logs when the function leaves the stack.
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
