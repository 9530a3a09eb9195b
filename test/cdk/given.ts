// What tests of constructs have in common: a function to grant to, and what a synthesis says.
import type { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Code, type FunctionOptions, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";

export function aFunction(stack: Stack, id = "Fn", options: FunctionOptions = {}): LambdaFunction {
  return new LambdaFunction(stack, id, {
    runtime: Runtime.NODEJS_24_X,
    handler: "index.handler",
    code: Code.fromInline("exports.handler = () => {}"),
    ...options,
  });
}

/** Why a stack cannot be synthesized, or an empty text. */
export function faultsOf(stack: Stack): string {
  try {
    Template.fromStack(stack);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}
