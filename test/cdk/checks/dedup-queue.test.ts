import { Duration, Fn } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { DeduplicationScope, FifoThroughputLimit, Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue, type DedupQueueProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "../app-given.ts";

const queueWith = (props: DedupQueueProps) => new DedupQueue(unitStack(), "Queue", props);

describe("DedupQueue", () => {
  it("refuses throughput per message group without deduplication per message group", () => {
    expect(() => queueWith({ deduplicationScope: DeduplicationScope.QUEUE })).toThrow(
      "fifoThroughputLimit of Test/Queue is perMessageGroupId, but its deduplicationScope is queue",
    );
    expect(() =>
      queueWith({
        deduplicationScope: DeduplicationScope.QUEUE,
        fifoThroughputLimit: FifoThroughputLimit.PER_QUEUE,
      }),
    ).not.toThrow();
  });

  it("refuses a standard queue for its dead letters", () => {
    const stack = unitStack();

    expect(() => new DedupQueue(stack, "Queue", { deadLetterQueue: new Queue(stack, "Dead") })).toThrow(
      "deadLetterQueue of Test/Queue is Test/Dead, a standard queue: the dead-letter queue of a FIFO queue must be FIFO too",
    );
  });

  it.each<[string, string, boolean]>([
    ["refuses a standard queue of another app", "arn:aws:sqs:eu-west-1:111111111111:dead", true],
    ["takes a FIFO queue of another app", "arn:aws:sqs:eu-west-1:111111111111:dead.fifo", false],
  ])("%s for its dead letters", (_, arn, isRefused) => {
    const stack = unitStack();
    const deadLetterQueue = Queue.fromQueueArn(stack, "Dead", arn);
    const make = () => new DedupQueue(stack, "Queue", { deadLetterQueue });

    if (isRefused) expect(make).toThrow("Test/Dead, a standard queue");
    else expect(make).not.toThrow();
  });

  it("does not guess of which kind a queue is whose ARN is only known at deployment, and notes it", () => {
    const stack = unitStack();
    const deadLetterQueue = Queue.fromQueueArn(stack, "Dead", Fn.importValue("DeadLetters"));
    new DedupQueue(stack, "Queue", { deadLetterQueue });

    Annotations.fromStack(stack).hasInfo(
      "/Test/Queue",
      Match.stringLikeRegexp("whether Test/Dead, the dead-letter queue of Test/Queue, is a FIFO queue"),
    );
  });

  it.each<[string, DedupQueueProps]>([
    ["a name that does not end in .fifo", { queueName: "payments" }],
    ["a retention of more than 14 days", { retentionPeriod: Duration.days(15) }],
    ["no receives", { maxReceiveCount: 0 }],
  ])("refuses %s, by CDK", (_, props) => {
    expect(() => queueWith(props)).toThrow();
  });
});
