// A log group of a function's own, and a role that may write only there.
import type { RemovalPolicy } from "aws-cdk-lib";
import { Grant, type IManagedPolicy, type IRole, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LoggingFormat } from "aws-cdk-lib/aws-lambda";
import { type ILogGroupRef, LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

interface LeanLoggingProps {
  readonly logRetention: RetentionDays;
  readonly logRemovalPolicy: RemovalPolicy;
  /** Replaces the log group that is made here. */
  readonly logGroup?: ILogGroupRef;
  /** Replaces the role that is made here. */
  readonly role?: IRole;
  readonly managedPolicies?: IManagedPolicy[];
}

/**
 * Properties of the function `id`, made beside it. Lambda's default role has a managed policy that allows
 * writing to every log group.
 */
export function leanLogging(scope: Construct, id: string, props: LeanLoggingProps) {
  const { logRetention, logRemovalPolicy, managedPolicies = [] } = props;
  const logGroup =
    props.logGroup ??
    new LogGroup(scope, `${id}Logs`, { retention: logRetention, removalPolicy: logRemovalPolicy });
  return { role: props.role ?? leanRole(), logGroup, loggingFormat: LoggingFormat.JSON };

  function leanRole(): Role {
    const role = new Role(scope, `${id}Role`, {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      managedPolicies,
    });
    Grant.addToPrincipal({
      grantee: role,
      actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
      resourceArns: [logGroup.logGroupRef.logGroupArn],
    });
    return role;
  }
}
