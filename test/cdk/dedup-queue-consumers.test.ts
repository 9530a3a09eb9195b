import { CfnParameter, Duration, Token } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { Key } from "aws-cdk-lib/aws-kms";
import { Alias, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { DedupQueue, type DedupQueueConsumerOptions, IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { RECEIVING, rightsOf } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { aFunction } from "./given.ts";

function consumed(options?: DedupQueueConsumerOptions): Template {
  const stack = unitStack();
  new DedupQueue(stack, "Queue").addConsumer(aFunction(stack), options);
  return Template.fromStack(stack);
}

const QUEUE_ID = Match.stringLikeRegexp("^Queue[0-9A-F]{8}$");

describe("DedupQueue.addConsumer", () => {
  it("makes the function report its failed messages", () => {
    consumed().hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      BatchSize: 10,
      Enabled: true,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      ScalingConfig: Match.absent(),
      EventSourceArn: { "Fn::GetAtt": [QUEUE_ID, "Arn"] },
    });
  });

  it("accepts a batch size, a limit of invocations, and the switch", () => {
    consumed({ batchSize: 1, maxConcurrency: 7, enabled: false }).hasResourceProperties(
      "AWS::Lambda::EventSourceMapping",
      { BatchSize: 1, Enabled: false, ScalingConfig: { MaximumConcurrency: 7 } },
    );
  });

  it.each<[string, DedupQueueConsumerOptions, string]>([
    ["a batch of 11", { batchSize: 11 }, "between 1 and 10"],
    ["one invocation at once", { maxConcurrency: 1 }, "between 2 and 1000"],
  ])("rejects %s, which SQS doesn't accept", (_, options, message) => {
    expect(() => consumed(options)).toThrow(message);
  });

  it("lets the function receive, and nothing else", () => {
    expect(rightsOf(consumed(), "FnServiceRole")).toEqual([
      {
        on: "Queue",
        actions: RECEIVING,
      },
    ]);
  });

  it("lets the function use a customer managed key to read", () => {
    const stack = unitStack();
    new DedupQueue(stack, "Queue", { encryptionKey: new Key(stack, "Key") }).addConsumer(aFunction(stack));

    const [, ofKey] = rightsOf(Template.fromStack(stack), "FnServiceRole");
    expect(ofKey).toEqual({ on: "Key", actions: ["kms:Decrypt"] });
  });

  it("rejects a function that may run longer than a sixth of the visibility timeout", () => {
    const stack = unitStack();
    const queue = new DedupQueue(stack, "Queue", { visibilityTimeout: Duration.seconds(60) });

    expect(() => queue.addConsumer(aFunction(stack, "Slow", { timeout: Duration.seconds(11) }))).toThrow(
      "visibilityTimeout 60 s of Test/Queue < 66 s, 6 × timeout 11 s of its consumer Test/Slow",
    );
    expect(() =>
      queue.addConsumer(aFunction(stack, "Quick", { timeout: Duration.seconds(10) })),
    ).not.toThrow();
  });

  it("feeds an alias or a version, and knows its function's timeout", () => {
    const stack = unitStack();
    const fn = aFunction(stack, "Fn", { timeout: Duration.seconds(11) });
    const live = new Alias(stack, "Live", { aliasName: "live", version: fn.currentVersion });
    const queue = new DedupQueue(stack, "Queue");
    const short = new DedupQueue(stack, "Short", { visibilityTimeout: Duration.seconds(60) });

    queue.addConsumer(live);

    for (const consumer of [live, fn.currentVersion]) {
      expect(() => short.addConsumer(consumer)).toThrow("< 66 s, 6 × timeout 11 s of its consumer Test/Fn");
    }
    Template.fromStack(stack).hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      FunctionName: { "Fn::Join": ["", Match.arrayWith([":live"])] },
      FunctionResponseTypes: ["ReportBatchItemFailures"],
    });
  });

  it("warns about an alias as about its function", () => {
    const stack = unitStack();
    const fn = aFunction(stack);
    const retention = Duration.days(40);
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), { retention }));
    new DedupQueue(stack, "Queue").addConsumer(fn.currentVersion);
    const bare = aFunction(stack, "Bare");
    new DedupQueue(stack, "Other").addConsumer(
      new Alias(stack, "Live", { aliasName: "live", version: bare.currentVersion }),
    );

    const warningsAt = (path: string) => Annotations.fromStack(stack).findWarning(path, Match.anyValue());
    expect(warningsAt("/Test/Queue")).toEqual([]);
    expect(JSON.stringify(warningsAt("/Test/Other"))).toContain(
      "Test/Bare consumes Test/Other without UseIdempotency",
    );
  });

  it("notes that nothing is known of the timeout of an imported function", () => {
    const stack = unitStack();
    const functionArn = "arn:aws:lambda:us-east-1:123456789012:function:imported";
    const attributes = { functionArn, sameEnvironment: true };
    new DedupQueue(stack, "Queue").addConsumer(
      LambdaFunction.fromFunctionAttributes(stack, "Imported", attributes),
    );

    Annotations.fromStack(stack).hasInfo(
      "/Test/Queue",
      Match.stringLikeRegexp("can't check whether Test/Imported has time to finish"),
    );
  });

  it("assumes Lambda's 3 seconds for a function that sets no timeout", () => {
    const stack = unitStack();
    const queue = (id: string, seconds: number) =>
      new DedupQueue(stack, id, { visibilityTimeout: Duration.seconds(seconds) });

    expect(() => queue("Short", 17).addConsumer(aFunction(stack))).toThrow("< 18 s, 6 × timeout 3 s");
    expect(() => queue("Right", 18).addConsumer(aFunction(stack, "Other"))).not.toThrow();
  });

  it("warns of a function of whose retention nothing is known, and of no other", () => {
    const stackWith = (isKnown: boolean) => {
      const stack = unitStack();
      const fn = aFunction(stack);
      new DedupQueue(stack, "Queue").addConsumer(fn);
      const retention = Duration.days(40);
      if (isKnown) fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), { retention }));
      return stack;
    };
    const warningsOf = (stack: ReturnType<typeof unitStack>) =>
      Annotations.fromStack(stack).findWarning("/Test/Queue", Match.anyValue());

    expect(warningsOf(stackWith(true))).toEqual([]);
    expect(JSON.stringify(warningsOf(stackWith(false)))).toContain(
      "Test/Fn consumes Test/Queue without UseIdempotency",
    );
  });

  it("notes a timeout that is only known at deployment", () => {
    const stack = unitStack();
    const parameter = new CfnParameter(stack, "Seconds", { type: "Number" });
    const visibilityTimeout = Duration.seconds(parameter.valueAsNumber);
    new DedupQueue(stack, "Queue", { visibilityTimeout }).addConsumer(aFunction(stack));

    Annotations.fromStack(stack).hasInfo(
      "/Test/Queue",
      Match.stringLikeRegexp("can't check whether Test/Fn has time to finish"),
    );
  });
});

describe("DedupQueue.fromQueueArn", () => {
  const arn = "arn:aws:sqs:eu-west-1:111111111111:payments.fifo";

  it("connects consumers and producers to an existing queue, and notes what is not checked", () => {
    const stack = unitStack();
    const encryptionKey = Key.fromKeyArn(stack, "Key", "arn:aws:kms:eu-west-1:111111111111:key/a");
    const queue = DedupQueue.fromQueueArn(stack, "Queue", arn, encryptionKey);
    const fn = aFunction(stack);
    queue.addConsumer(fn);
    queue.grantProduce(fn);
    queue.grantChangeVisibility(fn);

    expect(queue.env).toEqual({ account: "111111111111", region: "eu-west-1" });
    expect(queue.queue.fifo).toBe(true);
    expect(queue.metricApproximateAgeOfOldestMessage().dimensions).toEqual({ QueueName: "payments.fifo" });
    const template = Template.fromStack(stack);
    template.resourceCountIs("AWS::SQS::Queue", 0);
    template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      EventSourceArn: arn,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
    });
    expect(JSON.stringify(template.toJSON())).toContain('"Action":"sqs:SendMessage"');
    expect(JSON.stringify(template.toJSON())).toContain('"Action":["kms:Decrypt","kms:GenerateDataKey"]');
    const notes = Annotations.fromStack(stack).findInfo("/Test/Queue", Match.anyValue());
    expect(JSON.stringify(notes)).toContain("onceonly:visibility-unknown");
  });

  it("rejects a standard queue, and accepts an ARN that is only known at deployment", () => {
    expect(() => DedupQueue.fromQueueArn(unitStack(), "Queue", arn.replace(".fifo", ""))).toThrow(
      "a standard queue, which neither deduplicates nor keeps order",
    );
    const unknown = Token.asString({ "Fn::ImportValue": "queue" });
    expect(DedupQueue.fromQueueArn(unitStack(), "Queue", unknown).queue.fifo).toBe(true);
  });
});
