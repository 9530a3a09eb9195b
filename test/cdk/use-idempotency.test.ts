import { fileURLToPath } from "node:url";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "./unit-app.ts";

const RUNS_OPERATIONS = {
  PolicyDocument: {
    Statement: [
      {
        Action: ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
        Effect: "Allow",
        Resource: { "Fn::GetAtt": ["Table7ABB320E", "Arn"] },
      },
    ],
  },
};

describe("UseIdempotency", () => {
  it("grants a function exactly what running operations takes, and names the table to it", () => {
    const stack = unitStack();
    const fn = new LambdaFunction(stack, "Fn", {
      runtime: Runtime.NODEJS_24_X,
      handler: "index.handler",
      code: Code.fromInline("exports.handler = () => {}"),
      environment: { OTHER: "kept" },
    });

    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table")));

    const template = Template.fromStack(stack);
    template.hasResourceProperties("AWS::IAM::Policy", RUNS_OPERATIONS);
    template.hasResourceProperties("AWS::Lambda::Function", {
      Environment: { Variables: { OTHER: "kept", IDEMPOTENCY_TABLE: { Ref: "Table7ABB320E" } } },
    });
  });

  it("works on a NodejsFunction", () => {
    const stack = unitStack();
    const entry = fileURLToPath(new URL("../../functions/get-order.ts", import.meta.url));
    const fn = new NodejsFunction(stack, "Fn", { entry });

    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table")));

    const template = Template.fromStack(stack);
    template.hasResourceProperties("AWS::IAM::Policy", RUNS_OPERATIONS);
    template.hasResourceProperties("AWS::Lambda::Function", {
      Environment: { Variables: Match.objectLike({ IDEMPOTENCY_TABLE: { Ref: "Table7ABB320E" } }) },
    });
  });

  it("supports functions only, so that applied to a whole stack it finds them", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table");
    const mixin = new UseIdempotency(table);

    expect(mixin.supports(table)).toBe(false);
    expect(mixin.supports(stack)).toBe(false);
    expect(() => mixin.applyTo(table)).toThrow("Test/Table is not a Lambda function");
  });
});
