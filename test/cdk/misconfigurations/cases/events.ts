import { Duration, type Stack } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as FunctionTarget, SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { Key } from "aws-cdk-lib/aws-kms";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Schedule as Scheduled, ScheduleExpression } from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import { type CfnQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { type Misconfiguration, runner, warned } from "../given.ts";

const hourly = Schedule.rate(Duration.hours(1));
const RETENTION = Duration.days(14);
const reliable = (stack: Stack, id: string, props = {}) => {
  const queue = new Queue(stack, `${id}Dead`, { retentionPeriod: RETENTION });
  return new Queue(stack, id, { deadLetterQueue: { queue, maxReceiveCount: 5 }, ...props });
};

export const EVENTS: readonly Misconfiguration[] = [
  warned("a rule without retries or a dead-letter queue", "onceonly:dropped-events", (stack) => {
    const target = new FunctionTarget(runner(stack), { retryAttempts: 0 });
    new Rule(stack, "Rule", { schedule: hourly, targets: [target] });
  }),
  warned("a schedule without retries or a dead-letter queue", "onceonly:dropped-events", (stack) => {
    const target = new LambdaInvoke(runner(stack), { retryAttempts: 0 });
    new Scheduled(stack, "Schedule", { schedule: ScheduleExpression.rate(Duration.hours(1)), target });
  }),
  warned("a rule without retries that feeds the queue of a consumer", "onceonly:dropped-events", (stack) => {
    const queue = reliable(stack, "Queue");
    runner(stack).addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    new Rule(stack, "Rule", { schedule: hourly, targets: [new SqsQueue(queue, { retryAttempts: 0 })] });
  }),
  warned(
    "a rule to a queue that is encrypted with SQS's AWS managed key",
    "onceonly:undelivered-events",
    (stack) => {
      const queue = reliable(stack, "Queue", { encryption: QueueEncryption.KMS_MANAGED });
      runner(stack).addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
      new Rule(stack, "Rule", { schedule: hourly, targets: [new SqsQueue(queue)] });
    },
  ),
  warned(
    "a rule to a queue that is encrypted with a key that EventBridge can't use",
    "onceonly:undelivered-events",
    (stack) => {
      const queue = reliable(stack, "Queue");
      (queue.node.defaultChild as CfnQueue).kmsMasterKeyId = new Key(stack, "Key").keyArn;
      runner(stack).addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
      new Rule(stack, "Rule", { schedule: hourly, targets: [new SqsQueue(queue)] });
    },
  ),
  warned("more provisioned pollers than the reserved concurrency", "onceonly:throttled-source", (stack) => {
    const provisionedPollerConfig = { minimumPollers: 2, maximumPollers: 50 };
    const source = new SqsEventSource(reliable(stack, "Queue"), {
      reportBatchItemFailures: true,
      provisionedPollerConfig,
    });
    runner(stack, { fn: { reservedConcurrentExecutions: 10 } }).addEventSource(source);
  }),
  warned(
    "a dead-letter queue on a function, but none on the queue that it consumes",
    "onceonly:unused-dead-letters",
    (stack) => {
      const queue = new Queue(stack, "Queue");
      const fn = runner(stack, { fn: { deadLetterQueueEnabled: true } });
      fn.addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    },
  ),
];
