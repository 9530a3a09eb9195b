// A log group of a function's own, and a role that may write only there.
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

/** Roles that are made here: a role that was given stays as it is. */
const leanRoles = new WeakSet<IRole>();

interface LeanLoggingProps {
  readonly logRetention: RetentionDays;
  readonly logRemovalPolicy: RemovalPolicy;
  /** Replaces the log group that is made here. */
  readonly logGroup?: ILogGroupRef;
  /** Replaces the role that is made here. */
  readonly role?: IRole;
  /** Encrypts the log group that is made here. */
  readonly logEncryptionKey?: IKey;
}

/**
 * Properties of the function `id`, made beside it. Lambda's default role has a managed policy that allows
 * writing to every log group.
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
        "these are the rights of one function, and a policy that stands alone could be given to others",
      );
    }
    leanRoles.add(role);
    return role;
  }
}

/** Adds the rights that a function in a VPC needs to its role. The VPC may come from a property injector of the app. */
export function allowNetworkInterfaces({ role, isBoundToVpc }: LambdaFunction): void {
  if (!isBoundToVpc || !role || !leanRoles.has(role)) return;
  role.addManagedPolicy(ManagedPolicy.fromAwsManagedPolicyName(VPC_POLICY));
  acknowledge(
    role,
    `AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${VPC_POLICY}]`,
    "network interfaces cannot be granted one by one, and this is the policy that AWS keeps for them",
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
