// A log group for one function, and a role that may write only there.
import { type RemovalPolicy, Stack } from "aws-cdk-lib";
import {
  Grant,
  type IRole,
  ManagedPolicy,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { type Function as LambdaFunction, LoggingFormat } from "aws-cdk-lib/aws-lambda";
import { type ILogGroupRef, LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { acknowledge } from "./acknowledge.ts";

const VPC_POLICY = "service-role/AWSLambdaVPCAccessExecutionRole";

/** Roles that were created here. A role that the app passed isn't changed. */
const leanRoles = new WeakSet<IRole>();

export const isLeanRole = (role: IRole | undefined): boolean => role !== undefined && leanRoles.has(role);

interface LeanLoggingProps {
  readonly logRetention: RetentionDays;
  readonly logRemovalPolicy: RemovalPolicy;
  /** Used instead of the log group that is created here. */
  readonly logGroup?: ILogGroupRef;
  /** Used instead of the role that is created here. */
  readonly role?: IRole;
  /** Encrypts the log group that is created here. */
  readonly logEncryptionKey?: IKey;
}

/**
 * Logging properties for the function `id`; creates the log group and role next to it. Lambda's default role has a managed
 * policy that allows writing to every log group.
 */
export function leanLogging(scope: Construct, id: string, props: LeanLoggingProps) {
  const { logRetention, logRemovalPolicy, logEncryptionKey } = props;
  const logGroup =
    props.logGroup ??
    new LogGroup(scope, `${id}Logs`, {
      retention: logRetention,
      removalPolicy: logRemovalPolicy,
      ...(logEncryptionKey && { encryptionKey: logEncryptionKey }),
    });
  if (!props.logGroup && logEncryptionKey) letLogsUse(logEncryptionKey, scope);
  return { role: props.role ?? leanRole(), logGroup, loggingFormat: LoggingFormat.JSON };

  function leanRole(): Role {
    const role = new Role(scope, `${id}Role`, {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
    });
    Grant.addToPrincipal({
      grantee: role,
      actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
      resourceArns: [logGroup.logGroupRef.logGroupArn],
    });
    for (const pack of ["HIPAA.Security", "NIST.800.53.R4", "NIST.800.53.R5", "PCI.DSS.321"]) {
      acknowledge(
        role,
        `${pack}::${pack}-IAMNoInlinePolicy`,
        "these permissions belong to one function, and a managed policy could be attached to others",
      );
    }
    leanRoles.add(role);
    return role;
  }
}

/** Adds the permissions of a function in a VPC to its role. The VPC may come from a property injector of the app. */
export function allowNetworkInterfaces({ role, isBoundToVpc }: LambdaFunction): void {
  if (!isBoundToVpc || !role || !isLeanRole(role)) return;
  role.addManagedPolicy(ManagedPolicy.fromAwsManagedPolicyName(VPC_POLICY));
  acknowledge(
    role,
    `AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${VPC_POLICY}]`,
    "network interfaces can't be granted one by one, and AWS maintains this policy for them",
  );
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html */
function letLogsUse(key: IKey, scope: Construct): void {
  const stack = Stack.of(scope);
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${stack.region}.amazonaws.com`)],
      actions: ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"],
      resources: ["*"],
      conditions: {
        ArnLike: {
          "kms:EncryptionContext:aws:logs:arn": stack.formatArn({ service: "logs", resource: "*" }),
        },
      },
    }),
  );
}
