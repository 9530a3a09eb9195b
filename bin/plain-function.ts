// A function that runs no operations, and so needs no table. It is built like an IdempotentFunction, with
// its own log group and a role that may write only there.
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, LoggingFormat, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

export interface PlainFunctionProps {
  /** The file of the handler. */
  readonly entry: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What happens to its logs when the stack is deleted. */
  readonly logRemovalPolicy: RemovalPolicy;
}

export class PlainFunction extends NodejsFunction {
  constructor(scope: Construct, id: string, { entry, environment, logRemovalPolicy }: PlainFunctionProps) {
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: logRemovalPolicy,
    });
    logGroup.grantWrite(role);
    super(scope, id, {
      entry,
      environment: { ...environment },
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: Duration.seconds(5),
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
