// What a dispatcher and its durable function may do, and what a synthesis says of the two.
import { Duration, Mixins, type Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import {
  Alias,
  type CfnFunction,
  type FunctionOptions,
  type Function as LambdaFunction,
  Version,
} from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  DedupQueue,
  IdempotencyTable,
  IdempotentFunction,
  UseIdempotency,
  UseStartOnce,
  type UseStartOnceOptions,
} from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { rightsOf, runsOperationsOn } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { aFunction, faultsOf } from "./given.ts";

const env = { account: "111111111111", region: "eu-west-1" };
const durableConfig = { executionTimeout: Duration.days(30), retentionPeriod: Duration.days(20) };

const durableIn = (stack: Stack, options: FunctionOptions = { durableConfig }) =>
  aFunction(stack, "Fulfil", options).addAlias("live");

function dispatcherIn(stack: Stack, options?: UseStartOnceOptions, durable = durableIn(stack)) {
  const fn = aFunction(stack, "Start", { timeout: Duration.seconds(29) });
  fn.with(new UseStartOnce(durable, options));
  return fn;
}

describe("UseStartOnce", () => {
  it("R4: grants starts on the alias, looks by name on the function, and reads on its executions, and passes the alias's ARN", () => {
    const stack = unitStack();
    dispatcherIn(stack);

    const template = Template.fromStack(stack);
    const fulfil = { "Fn::GetAtt": [Match.stringLikeRegexp("^Fulfil"), "Arn"] };
    const live = { Ref: Match.stringLikeRegexp("^FulfilAliaslive") };
    const allowed = (Action: string, Resource: object) => ({ Effect: "Allow", Action, Resource });
    template.hasResourceProperties("AWS::IAM::Policy", {
      PolicyDocument: {
        Statement: [
          allowed("lambda:InvokeFunction", live),
          allowed("lambda:ListDurableExecutionsByFunction", fulfil),
        ],
      },
    });
    template.hasResourceProperties("AWS::IAM::Policy", {
      PolicyDocument: {
        Statement: [
          allowed("lambda:GetDurableExecution", { "Fn::Join": ["", [fulfil, ":*/durable-execution/*"]] }),
        ],
      },
    });
    expect(rightsOf(template, "StartServiceRole")).toHaveLength(3);
    template.hasResource("AWS::Lambda::Function", {
      DependsOn: Match.arrayWith([Match.stringLikeRegexp("^StartExecutionRights")]),
      Properties: { Environment: { Variables: { DURABLE_FUNCTION: live } } },
    });
  });

  it("accepts a version, and an alias and a version of another app", () => {
    const stack = unitStack({ env });
    const arn = "arn:aws:lambda:eu-west-1:111111111111:function:fulfil";
    const aliasVersion = Version.fromVersionArn(stack, "Two", `${arn}:2`);
    const alias = Alias.fromAliasAttributes(stack, "Live", { aliasName: "live", aliasVersion });
    const { currentVersion } = aFunction(stack, "Fulfil", { durableConfig });
    for (const [id, target] of Object.entries({
      Own: currentVersion,
      ByVersion: aliasVersion,
      ByAlias: alias,
    })) {
      aFunction(stack, id).with(new UseStartOnce(target));
    }

    const template = Template.fromStack(stack);
    const invoked = ["Own", "ByVersion", "ByAlias"].map((id) => rightsOf(template, id)[0]?.on);
    expect(invoked).toEqual([expect.stringContaining("FulfilCurrentVersion"), `"${arn}:2"`, `"${arn}:live"`]);
    Annotations.fromStack(stack).hasInfo(
      "/Test/ByAlias",
      Match.stringLikeRegexp("this app doesn't define it"),
    );
  });

  it("refuses a function without a version, and $LATEST", () => {
    const stack = unitStack();
    const fn = aFunction(stack, "Fulfil", { durableConfig });

    expect(() => new UseStartOnce(fn as never)).toThrow(
      'Test/Fulfil has no version and no alias, and Lambda starts durable executions only so. Pass an alias, such as addAlias("live")',
    );
    expect(() => new UseStartOnce(fn.latestVersion)).toThrow("is $LATEST");
  });

  it("refuses whatever is no function, and a second durable function", () => {
    const stack = unitStack();
    const durable = durableIn(stack);
    const mixin = new UseStartOnce(durable);

    expect(() => Mixins.of(stack).apply(mixin)).toThrow("UseStartOnce is applied to Test, which isn't");
    expect(() => mixin.applyTo(durable as never)).toThrow("UseStartOnce is applied to Test/Fulfil/Aliaslive");
    const fn = aFunction(stack, "Start");
    fn.with(mixin);
    expect(() => fn.with(new UseStartOnce(durable))).toThrow("Test/Start already has UseStartOnce");
  });

  it("refuses a variable of the app's own under that name", () => {
    const stack = unitStack();
    const fn = aFunction(stack, "Start", { environment: { DURABLE_FUNCTION: "mine" } });

    expect(() => fn.with(new UseStartOnce(durableIn(stack)))).toThrow("DURABLE_FUNCTION");
  });

  it("works on a function with UseIdempotency, and as the consumer of a DedupQueue", () => {
    const stack = unitStack();
    const fn = dispatcherIn(stack);
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), { operations: ["start"] }));
    new DedupQueue(stack, "Queue").addConsumer(fn);

    expect(faultsOf(stack)).toBe("");
    Annotations.fromStack(stack).hasNoWarning("*", Match.anyValue());
  });
});

describe("a synthesis with UseStartOnce", () => {
  // 30 s × 5 receives + 4 days + 14 days + 120 s
  const fed = (days: number | undefined, change: (fn: LambdaFunction) => void = () => {}) => {
    const stack = unitStack();
    const retentionPeriod = days === undefined ? undefined : Duration.days(days);
    const durable = durableIn(stack, {
      durableConfig: { executionTimeout: Duration.days(30), ...(retentionPeriod && { retentionPeriod }) },
    });
    const fn = dispatcherIn(stack, undefined, durable);
    const deadLetterQueue = {
      queue: new Queue(stack, "Dead", { retentionPeriod: Duration.days(14) }),
      maxReceiveCount: 5,
    };
    const queue = new Queue(stack, "Queue", { deadLetterQueue });
    fn.addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    change(fn);
    return stack;
  };

  it("R4: refuses a retention period that is shorter than the longest redelivery, with the numbers", () => {
    const text =
      "retention period 1209600 s of Test/Fulfil < 1555470 s, the longest redelivery to Test/Start (visibility timeout 30 s × 5 receives + 345600 s in Test/Queue + 1209600 s in Test/Dead + client window 120 s): a later delivery would start a second execution. Set the retentionPeriod of its durableConfig to at least Duration.days(19)";

    expect(faultsOf(fed(undefined))).toContain(text);
    expect(faultsOf(fed(18))).toContain("retention period 1555200 s");
    expect(faultsOf(fed(19))).toBe("");
  });

  it("warns if Lambda can't remember for so long", () => {
    const stack = unitStack();
    dispatcherIn(stack, { clientWindow: Duration.days(91) });

    expect(faultsOf(stack)).toBe("");
    Annotations.fromStack(stack).hasWarning(
      "/Test/Start",
      Match.stringLikeRegexp("remembers executions for at most 90 days.*onceonly:execution-names"),
    );
  });

  it("refuses a function that isn't durable, and a queue that hides messages for less than the dispatcher runs", () => {
    const stack = unitStack();
    dispatcherIn(stack, undefined, durableIn(stack, {}));

    expect(faultsOf(stack)).toContain(
      "Test/Start starts executions of Test/Fulfil, which isn't a durable function: set its durableConfig",
    );
    const slow = fed(19, ({ node }) => {
      (node.defaultChild as CfnFunction).timeout = 31;
    });
    expect(faultsOf(slow)).toContain("visibility timeout 30 s of Test/Queue < timeout 31 s of Test/Start");
  });
});

describe("a durable function", () => {
  it("R4: may checkpoint its executions and read them, and nothing else's, as an IdempotentFunction", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table");
    new IdempotentFunction(stack, "Fulfil", {
      entry: `${root}/functions/get-order.ts`,
      table,
      operations: ["fulfil-order"],
      durableConfig,
    });

    const template = Template.fromStack(stack);
    const on = "Fulfil:*/durable-execution/*";
    const rights = rightsOf(template, "FulfilRole");
    expect(rights.slice(0, 1)).toMatchObject([{ on: "FulfilLogs" }]);
    expect(rights.slice(1, 3).map(({ on: table, actions }) => ({ on: table, actions }))).toEqual(
      runsOperationsOn("Table").map(({ on: table, actions }) => ({ on: table, actions })),
    );
    expect(rights.slice(3)).toEqual([
      { on, actions: ["lambda:CheckpointDurableExecution", "lambda:GetDurableExecutionState"] },
      { on, actions: ["lambda:GetDurableExecution"] },
    ]);
    template.allResourcesProperties("AWS::IAM::Role", { ManagedPolicyArns: Match.absent() });
  });

  it("keeps CDK's managed policy for checkpoints on a role that CDK creates", () => {
    const stack = unitStack();
    const fn = aFunction(stack, "Fulfil", { durableConfig });
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), { operations: ["fulfil-order"] }));

    const template = Template.fromStack(stack);
    expect(rightsOf(template, "FulfilServiceRole").at(-1)).toMatchObject({
      actions: ["lambda:GetDurableExecution"],
    });
    expect(JSON.stringify(template.findResources("AWS::IAM::Role"))).toContain(
      "AWSLambdaBasicDurableExecutionRolePolicy",
    );
  });
});
