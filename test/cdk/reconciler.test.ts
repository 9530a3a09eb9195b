// The schedule and the rights of a reconciler, whose code is the app's.
import { Duration } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { type FunctionOptions, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { IdempotencyTable, Reconciler, type ReconcilerProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "./app-given.ts";
import { aFunction } from "./given.ts";

function reconcilerIn(
  options: FunctionOptions = {},
  more: Partial<ReconcilerProps> = {},
  unknownOutcomes = true,
) {
  const stack = unitStack();
  const table = new IdempotencyTable(stack, "Table", { unknownOutcomes });
  const handler = aFunction(stack, "Settle", { timeout: Duration.minutes(1), ...options });
  const made = new Reconciler(stack, "Reconciler", { table, handler, ...more });
  return { stack, made, template: () => Template.fromStack(stack) };
}

const warningsIn = ({ stack }: ReturnType<typeof reconcilerIn>) =>
  Annotations.fromStack(stack)
    .findWarning("*", Match.stringLikeRegexp("onceonly:reconciler-timeout"))
    .map(({ entry }) => entry.data);

describe("Reconciler", () => {
  it("runs the function every minute, or as often as configured, and exposes the schedule", () => {
    const { made, template } = reconcilerIn();

    template().hasResourceProperties("AWS::Events::Rule", {
      ScheduleExpression: "rate(1 minute)",
      Targets: [Match.objectLike({ Arn: { "Fn::GetAtt": [Match.stringLikeRegexp("^Settle"), "Arn"] } })],
    });
    expect(made.reconciling.node.path).toBe("Test/Reconciler/Resource");
    reconcilerIn({}, { interval: Duration.minutes(15) })
      .template()
      .hasResourceProperties("AWS::Events::Rule", { ScheduleExpression: "rate(15 minutes)" });
  });

  it("lets it list and resolve unknown outcomes, names the table, and reserves no concurrency", () => {
    const template = reconcilerIn().template();

    template.hasResourceProperties("AWS::IAM::Policy", {
      PolicyDocument: Match.objectLike({
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: "dynamodb:Query",
            Resource: { "Fn::Join": ["", [Match.anyValue(), "/index/unsettled"]] },
          }),
        ]),
      }),
    });
    template.hasResourceProperties("AWS::Lambda::Function", {
      Environment: { Variables: { IDEMPOTENCY_TABLE: { Ref: Match.stringLikeRegexp("^Table") } } },
      ReservedConcurrentExecutions: Match.absent(),
    });
  });

  it("refuses a table without the index", () => {
    expect(() => reconcilerIn({}, {}, false)).toThrow(
      "unknownOutcomes of Test/Table is off, so unknown outcomes can't be listed: set it to true",
    );
  });

  it.each([
    ["3 s by default", undefined, [expect.stringContaining("is 3 s, which leaves verify 1.5 s to answer")]],
    [
      "19 s",
      Duration.seconds(19),
      [expect.stringContaining("leaves verify 9.5 s to answer instead of 10 s: make it 20 s")],
    ],
    ["20 s", Duration.seconds(20), []],
  ])("warns of a function that has too little time for an answer: %s", (_, timeout, warnings) => {
    expect(warningsIn(reconcilerIn({ timeout }))).toEqual(warnings);
  });

  it("accepts an imported function, whose environment is set elsewhere", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table", { unknownOutcomes: true });
    const arn = "arn:aws:lambda:eu-west-1:123456789012:function:settle";
    const handler = LambdaFunction.fromFunctionArn(stack, "Settle", arn);

    new Reconciler(stack, "Reconciler", { table, handler });

    Template.fromStack(stack).hasResourceProperties("AWS::Events::Rule", {
      Targets: [Match.objectLike({ Arn: arn })],
    });
  });
});
