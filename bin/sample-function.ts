// What all functions of the sample have in common: how they are built, and where their logs go.
import { fileURLToPath } from "node:url";
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { Architecture, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

export interface SampleFunctionProps {
  /** The name of its file in functions/, without the ending. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
  /** @default 5 seconds */
  readonly timeout?: Duration;
  /** What happens to its logs when the stack goes. */
  readonly removalPolicy: RemovalPolicy;
}

export class SampleFunction extends NodejsFunction {
  constructor(scope: Construct, id: string, props: SampleFunctionProps) {
    super(scope, id, {
      entry: fileURLToPath(new URL(`../functions/${props.file}.ts`, import.meta.url)),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: props.timeout ?? Duration.seconds(5),
      environment: { ...props.environment },
      logGroup: new LogGroup(scope, `${id}Logs`, {
        retention: RetentionDays.ONE_MONTH,
        removalPolicy: props.removalPolicy,
      }),
      bundling: {
        format: OutputFormat.ESM,
        target: "node22",
        minify: true,
        mainFields: ["module", "main"],
        bundleAwsSDK: true,
      },
    });
  }
}
