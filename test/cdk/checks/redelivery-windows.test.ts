import { Duration, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Alias, CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { DedupQueue, IdempotencyTable, UseIdempotency, type UseIdempotencyOptions } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { MESSAGE_DEFAULTS } from "../../../lib/core/message-age.ts";
import { DEFAULTS } from "../../../lib/core/options.ts";
import { unitApp, unitStack } from "../app-given.ts";
import { aFunction, faultsOf } from "../given.ts";

const DAY = 86_400;

interface Case {
  readonly options?: UseIdempotencyOptions;
  /** Absent: the queue has no dead-letter queue. */
  readonly deadLetters?: QueueProps;
  readonly queue?: QueueProps;
}

/** A function that reads a plain queue, in a stack that knows nothing else of this package. */
function consumerOf({ options, queue, deadLetters }: Case): Stack {
  const stack = unitStack();
  const fn = aFunction(stack);
  fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), options));
  const deadLetterQueue = deadLetters && {
    queue: new Queue(stack, "Dead", deadLetters),
    maxReceiveCount: 5,
  };
  fn.addEventSource(new SqsEventSource(new Queue(stack, "Queue", { deadLetterQueue, ...queue })));
  return stack;
}

const seconds = (count: number) => Duration.seconds(count);

describe("UseIdempotency proves the retention of a queue's consumer", () => {
  // 60 s × 5 + 2 days + 7 days + 120 s
  const LONGEST = 300 + 9 * DAY + 120;
  const given = (retention: number): Case => ({
    options: { retention: seconds(retention) },
    queue: { visibilityTimeout: seconds(60), retentionPeriod: Duration.days(2) },
    deadLetters: { retentionPeriod: Duration.days(7) },
  });

  it("accepts one as long as the longest redelivery", () => {
    expect(faultsOf(consumerOf(given(LONGEST)))).toBe("");
  });

  it("refuses one a second shorter, with the inequality and its numbers", () => {
    expect(faultsOf(consumerOf(given(LONGEST - 1)))).toContain(
      "retention 778019 s < 778020 s, the longest redelivery to Test/Fn (visibility timeout 60 s × 5 receives + 172800 s in Test/Queue + 604800 s in Test/Dead + client window 120 s)",
    );
  });

  it("counts the time in for which clients repeat", () => {
    const { options, ...queues } = given(LONGEST - 120 + 3600);

    expect(
      faultsOf(consumerOf({ options: { ...options, clientWindow: Duration.hours(1) }, ...queues })),
    ).toBe("");
    expect(
      faultsOf(consumerOf({ options: { ...options, clientWindow: seconds(3601) }, ...queues })),
    ).toContain("781500 s < 781501 s");
  });

  it("uses SQS's defaults for what a queue leaves out", () => {
    const longest = 30 * 5 + 4 * DAY + 4 * DAY + 120;
    const given = (retention: number) => ({ options: { retention: seconds(retention) }, deadLetters: {} });

    expect(faultsOf(consumerOf(given(longest)))).toBe("");
    expect(faultsOf(consumerOf(given(longest - 1)))).toContain(
      "visibility timeout 30 s × 5 receives + 345600 s in Test/Queue + 345600 s in Test/Dead",
    );
  });

  it("uses only the queue's retention if nothing is given up", () => {
    const given = (retention: number) => ({ options: { retention: seconds(retention) } });

    expect(faultsOf(consumerOf(given(4 * DAY + 120)))).toBe("");
    expect(faultsOf(consumerOf(given(4 * DAY + 119)))).toContain(
      "345719 s < 345720 s, the longest redelivery to Test/Fn (345600 s in Test/Queue + client window 120 s)",
    );
  });

  it("uses the 35 days of `idempotentBatch` if no retention is given, and passes them to the function", () => {
    const longest = (kept: number) => ({
      queue: { retentionPeriod: Duration.days(14) },
      deadLetters: { retentionPeriod: Duration.days(14) },
      options: { clientWindow: seconds(35 * DAY - 30 * 5 - 28 * DAY + kept) },
    });
    const passed = (stack: Stack) => {
      const [fn] = Object.values(Template.fromStack(stack).findResources("AWS::Lambda::Function"));
      return fn?.Properties.Environment.Variables.IDEMPOTENCY_RETENTION_SECONDS;
    };

    expect(passed(consumerOf({}))).toBe(`${MESSAGE_DEFAULTS.retentionSeconds}`);
    expect(faultsOf(consumerOf(longest(0)))).toBe("");
    expect(faultsOf(consumerOf(longest(1)))).toContain("retention 3024000 s < 3024001 s");
  });

  it("uses a day for a function that no queue and no stream feeds", () => {
    const stack = unitStack();
    aFunction(stack).with(new UseIdempotency(new IdempotencyTable(stack, "Table")));

    Template.fromStack(stack).hasResourceProperties("AWS::Lambda::Function", {
      Environment: {
        Variables: Match.objectLike({ IDEMPOTENCY_RETENTION_SECONDS: `${DEFAULTS.retentionSeconds}` }),
      },
    });
  });

  it("looks at every queue, even next to one that it knows nothing about", () => {
    const stack = consumerOf({ options: { retention: Duration.days(10) } });
    const fn = stack.node.findChild("Fn") as ReturnType<typeof aFunction>;
    const foreign = Queue.fromQueueArn(stack, "Foreign", "arn:aws:sqs:eu-west-1:111111111111:other");
    for (const queue of [foreign, new Queue(stack, "Longer", { retentionPeriod: Duration.days(14) })]) {
      fn.addEventSource(new SqsEventSource(queue));
    }

    const faults = faultsOf(stack);
    expect(faults).toContain("1209600 s in Test/Longer");
    expect(faults).not.toContain("Test/Queue");
  });

  it("finds queues of aliases, of other stacks, and of event sources that are plain resources", () => {
    const app = unitApp();
    const queues = new Stack(app, "Queues");
    const stack = new Stack(app, "Functions");
    const table = new IdempotencyTable(stack, "Table");
    const [aliased, plain] = [aFunction(stack, "Aliased"), aFunction(stack, "Plain")];
    for (const fn of [aliased, plain]) fn.with(new UseIdempotency(table, { retention: Duration.days(1) }));
    const alias = new Alias(stack, "Live", { aliasName: "live", version: aliased.currentVersion });
    alias.addEventSource(new SqsEventSource(new Queue(queues, "First")));
    const eventSourceArn = new Queue(stack, "Second").queueArn;
    new CfnEventSourceMapping(stack, "Mapping", { functionName: plain.functionArn, eventSourceArn });

    const faults = faultsOf(stack);
    expect(faults).toContain("the longest redelivery to Functions/Aliased (345600 s in Queues/First");
    expect(faults).toContain("the longest redelivery to Functions/Plain (345600 s in Functions/Second");
  });

  it("ignores functions that other queues feed", () => {
    const stack = consumerOf({ options: { retention: Duration.days(5) } });
    aFunction(stack, "Other").with(new UseIdempotency(new IdempotencyTable(stack, "OtherTable")));

    expect(faultsOf(stack)).toBe("");
  });

  it("proves the consumer of a DedupQueue, whose numbers are known by default", () => {
    const stackWith = (days: number) => {
      const stack = unitStack();
      const fn = aFunction(stack);
      const retention = Duration.days(days);
      fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), { retention }));
      new DedupQueue(stack, "Queue").addConsumer(fn);
      return stack;
    };

    expect(faultsOf(stackWith(19))).toBe("");
    expect(faultsOf(stackWith(18))).toContain(
      "retention 1555200 s < 1556190 s, the longest redelivery to Test/Fn (visibility timeout 174 s × 5 receives + 345600 s in Test/Queue + 1209600 s in Test/Queue/DeadLetters + client window 120 s)",
    );
  });
});

describe("UseIdempotency proves the retention of other functions", () => {
  const stackWith = (options: UseIdempotencyOptions) => {
    const stack = unitStack();
    aFunction(stack).with(new UseIdempotency(new IdempotencyTable(stack, "Table"), options));
    return stack;
  };

  it("against the time for which their clients repeat", () => {
    expect(faultsOf(stackWith({ clientWindow: Duration.days(1) }))).toBe("");
    expect(faultsOf(stackWith({ clientWindow: Duration.days(7) }))).toContain(
      "retention 86400 s < 604800 s, the longest redelivery to Test/Fn (client window 604800 s)",
    );
  });

  it("and passes it to them", () => {
    Template.fromStack(stackWith({ retention: Duration.days(20) })).hasResourceProperties(
      "AWS::Lambda::Function",
      { Environment: { Variables: Match.objectLike({ IDEMPOTENCY_RETENTION_SECONDS: "1728000" }) } },
    );
    Template.fromStack(stackWith({})).hasResourceProperties("AWS::Lambda::Function", {
      Environment: { Variables: Match.objectLike({ IDEMPOTENCY_RETENTION_SECONDS: "86400" }) },
    });
  });
});
