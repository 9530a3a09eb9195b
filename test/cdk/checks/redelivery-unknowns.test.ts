import { CfnParameter, Duration, Fn, Lazy, type Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { CfnQueue, Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyTable, UseIdempotency, type UseIdempotencyOptions } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "../app-given.ts";
import { aFunction, faultsOf } from "../given.ts";

const seconds = (count: number) => Duration.seconds(count);

describe("UseIdempotency does not guess", () => {
  const noteOf = (stack: Stack, text: string) =>
    Annotations.fromStack(stack).findInfo("/Test/Fn", Match.stringLikeRegexp(text));
  const parameterIn = (stack: Stack) =>
    seconds(new CfnParameter(stack, "Seconds", { type: "Number" }).valueAsNumber);

  function stackWith(change: (stack: Stack) => { options?: UseIdempotencyOptions; queue: Queue | string }) {
    const stack = unitStack();
    const fn = aFunction(stack);
    const { options, queue } = change(stack);
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), options));
    const eventSourceArn = typeof queue === "string" ? queue : queue.queueArn;
    new CfnEventSourceMapping(stack, "Mapping", { functionName: fn.functionName, eventSourceArn });
    return stack;
  }

  it("a retention that is only known at deployment, and notes it", () => {
    const stack = stackWith((stack) => ({
      options: { retention: parameterIn(stack) },
      queue: new Queue(stack, "Queue"),
    }));

    expect(faultsOf(stack)).toBe("");
    expect(noteOf(stack, "can't check whether the retention of Test/Fn is long enough")).toHaveLength(1);
    Template.fromStack(stack).hasResourceProperties("AWS::Lambda::Function", {
      Environment: { Variables: Match.objectLike({ IDEMPOTENCY_RETENTION_SECONDS: { Ref: "Seconds" } }) },
    });
  });

  it("a queue whose number is only known at deployment, and notes it", () => {
    const stack = stackWith((stack) => ({
      queue: new Queue(stack, "Queue", {
        visibilityTimeout: parameterIn(stack),
        deadLetterQueue: {
          queue: new Queue(stack, "Dead"),
          maxReceiveCount: 3,
        },
      }),
    }));

    expect(faultsOf(stack)).toBe("");
    expect(noteOf(stack, "a number of Test/Queue or of its dead-letter queue is only known")).toHaveLength(1);
    expect(noteOf(stack, "whether Test/Queue hides messages for as long as Test/Fn runs")).toHaveLength(1);
  });

  it("a dead-letter queue or a queue of another app, and notes it", () => {
    const arn = "arn:aws:sqs:eu-west-1:111111111111:other";
    const withDeadLetters = stackWith((stack) => ({
      queue: new Queue(stack, "Queue", {
        deadLetterQueue: { queue: Queue.fromQueueArn(stack, "Dead", arn), maxReceiveCount: 3 },
      }),
    }));
    const withQueue = stackWith(() => ({ queue: arn }));

    expect([faultsOf(withDeadLetters), faultsOf(withQueue)]).toEqual(["", ""]);
    expect(
      noteOf(withDeadLetters, "the dead-letter queue of Test/Queue isn't defined in this app"),
    ).toHaveLength(1);
    expect(noteOf(withQueue, "the queue that Test/Mapping reads isn't defined in this app")).toHaveLength(1);
  });

  it.each<[string, (stack: Stack) => string]>([
    ["an export", () => Fn.importValue("QueueArn")],
    ["a parameter", (stack) => new CfnParameter(stack, "QueueArn").valueAsString],
    ["a name", (stack) => stack.formatArn({ service: "sqs", resource: "other" })],
  ])("a queue of another app that is given by %s, and notes it", (_, arnIn) => {
    const stack = stackWith((stack) => ({ queue: arnIn(stack) }));

    expect(faultsOf(stack)).toBe("");
    expect(noteOf(stack, "the queue that Test/Mapping reads isn't defined in this app")).toHaveLength(1);
  });

  it.each([
    [
      "stream",
      { startingPosition: "LATEST" },
      "this app doesn't say how long the source of Test/Mapping keeps records",
    ],
    [
      "broker",
      { queues: ["orders"] },
      "the broker that Test/Mapping reads decides how long it keeps messages",
    ],
  ])(
    "doesn't mistake %s for a queue, although its ARN reveals as little, and notes it",
    (_, settings, text) => {
      const stack = unitStack();
      const fn = aFunction(stack);
      fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table")));
      const { functionName } = fn;
      const eventSourceArn = Fn.importValue("SourceArn");
      new CfnEventSourceMapping(stack, "Mapping", { functionName, eventSourceArn, ...settings });

      expect(faultsOf(stack)).toBe("");
      expect(noteOf(stack, ".*")).toHaveLength(1);
      expect(noteOf(stack, text)).toHaveLength(1);
    },
  );

  it("a redrive policy that is made late: it is read", () => {
    const stack = unitStack();
    const fn = aFunction(stack);
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), { retention: Duration.days(1) }));
    const deadLetterTargetArn = new Queue(stack, "Dead").queueArn;
    const redrivePolicy = Lazy.any({ produce: () => ({ deadLetterTargetArn, maxReceiveCount: 3 }) });
    const eventSourceArn = new CfnQueue(stack, "Queue", { redrivePolicy }).attrArn;
    new CfnEventSourceMapping(stack, "Mapping", { functionName: fn.functionName, eventSourceArn });

    expect(faultsOf(stack)).toContain(
      "(visibility timeout 30 s × 3 receives + 345600 s in Test/Queue + 345600 s in Test/Dead + client window 120 s)",
    );
  });

  it("a number of receives that is only known at deployment, and notes it", () => {
    const stack = stackWith((stack) => {
      const maxReceiveCount = new CfnParameter(stack, "Receives", { type: "Number" }).valueAsNumber;
      const deadLetterQueue = { queue: new Queue(stack, "Dead"), maxReceiveCount };
      return { queue: new Queue(stack, "Queue", { deadLetterQueue }) };
    });

    expect(faultsOf(stack)).toBe("");
    expect(noteOf(stack, "a number of Test/Queue or of its dead-letter queue is only known")).toHaveLength(1);
  });
});
