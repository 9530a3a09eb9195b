// Permissions on durable executions. An execution's ARN contains the number of its version, never an alias, so a grant on the ARN of an
// alias matches none. https://docs.aws.amazon.com/lambda/latest/dg/lambda-api-permissions-ref.html
import { Stack } from "aws-cdk-lib";
import { type IRole, Policy, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { CfnFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { acknowledge } from "./acknowledge.ts";
import { isLeanRole } from "./lean-logging.ts";

/** The executions of all versions of a function: an alias moves on while executions of earlier versions are still running. */
const executionsOf = (functionArn: string): string => `${functionArn}:*/durable-execution/*`;

export const isDurable = ({ node }: LambdaFunction): boolean =>
  (node.defaultChild as CfnFunction).durableConfig !== undefined;

/** `idempotentDurable` asks whether the execution that holds a key has ended. */
export function letFindItsExecutions(fn: LambdaFunction): void {
  allowOnExecutions(fn, fn.functionArn, ["lambda:GetDurableExecution"]);
}

/** CDK only grants this to a role that it creates itself, by a managed policy for all functions of the account. */
export function allowCheckpoints(fn: LambdaFunction): void {
  if (!isDurable(fn) || !isLeanRole(fn.role)) return;
  allowOnExecutions(fn, fn.functionArn, [
    "lambda:CheckpointDurableExecution",
    "lambda:GetDurableExecutionState",
  ]);
}

/** In a policy of its own: a function depends on the default policy of its role, which so can't name the function. */
export function allowOnExecutions(fn: LambdaFunction, functionArn: string, actions: string[]): Policy {
  const id = "ExecutionRights";
  const known = fn.node.tryFindChild(id) as Policy | undefined;
  const policy = known ?? new Policy(fn, id, { roles: [fn.role as IRole] });
  policy.addStatements(new PolicyStatement({ actions, resources: [executionsOf(functionArn)] }));
  // As rule packs write the ARN of a function in the same stack.
  const { "Fn::GetAtt": parts = [functionArn] } = Object(Stack.of(fn).resolve(functionArn));
  acknowledge(
    policy,
    `AwsSolutions::AwsSolutions-IAM5[Resource::${executionsOf(`<${parts.join(".")}>`)}]`,
    "the ARN of an execution contains its version, name and id, which are known only once it runs",
  );
  return policy;
}
