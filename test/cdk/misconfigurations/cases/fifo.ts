import { Duration, type Stack } from "aws-cdk-lib";
import { AttributeType, StreamViewType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Rule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as FunctionTarget, SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { StartingPosition } from "aws-cdk-lib/aws-lambda";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import { DynamoEventSource, SqsDlq, SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { CfnPipe } from "aws-cdk-lib/aws-pipes";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { SqsDestination as Notified } from "aws-cdk-lib/aws-s3-notifications";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import { Topic } from "aws-cdk-lib/aws-sns";
import { SqsSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { type IQueue, Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue } from "onceonly/cdk";
import { type Misconfiguration, refused, runner } from "../given.ts";

const roleArn = "arn:aws:iam::111111111111:role/any";
const eventPattern = { source: ["shop"] };
const into = (build: (stack: Stack, queue: IQueue) => unknown) => (stack: Stack) => {
  const queue = new DedupQueue(stack, "Queue");
  queue.addConsumer(runner(stack));
  build(stack, queue.queue);
};
const fifo = (stack: Stack, id = "Given") => new Queue(stack, id, { fifo: true });

export const FIFO_QUEUES: readonly Misconfiguration[] = [
  refused(
    "a schedule without a message group",
    "the schedule Test/Schedule feeds the FIFO queue Test/Queue without a messageGroupId",
    into((stack, { queueArn: arn }) => {
      const flexibleTimeWindow = { mode: "OFF" };
      const target = { arn, roleArn };
      new CfnSchedule(stack, "Schedule", { flexibleTimeWindow, scheduleExpression: "rate(1 hour)", target });
    }),
  ),
  refused(
    "a pipe without a message group",
    "the pipe Test/Pipe feeds the FIFO queue Test/Queue without a messageGroupId",
    into((stack, { queueArn: target }) => {
      new CfnPipe(stack, "Pipe", { roleArn, source: new Queue(stack, "From").queueArn, target });
    }),
  ),
  refused(
    "a standard topic that feeds it",
    "SNS only delivers to FIFO queues from FIFO topics",
    into((stack, queue) => new Topic(stack, "Topic").addSubscription(new SqsSubscription(queue))),
  ),
  refused(
    "a bucket that feeds it",
    "S3 can't send to a FIFO queue",
    into((stack, queue) => new Bucket(stack, "Bucket").addObjectCreatedNotification(new Notified(queue))),
  ),
  refused(
    "it's the dead-letter queue of a function",
    "the dead-letter queue of Test/Fn is the FIFO queue Test/Given: Lambda doesn't accept a FIFO queue there",
    (stack) => runner(stack, { fn: { deadLetterQueue: fifo(stack) } }),
  ),
  refused(
    "it's a destination of asynchronous invocations",
    "Lambda doesn't accept a FIFO queue there",
    (stack) =>
      runner(stack).configureAsyncInvoke({
        onFailure: new SqsDestination(new DedupQueue(stack, "Queue").queue),
      }),
  ),
  refused(
    "it's the destination for a stream's failures",
    "Lambda doesn't accept a FIFO queue there",
    (stack) => {
      const partitionKey = { name: "pk", type: AttributeType.STRING };
      const rows = new TableV2(stack, "Rows", { partitionKey, dynamoStream: StreamViewType.NEW_IMAGE });
      const source = new DynamoEventSource(rows, {
        startingPosition: StartingPosition.LATEST,
        reportBatchItemFailures: true,
        onFailure: new SqsDlq(fifo(stack)),
      });
      runner(stack).addEventSource(source);
    },
  ),
  refused(
    "it's the dead-letter queue of a rule",
    "EventBridge doesn't accept a FIFO queue there",
    (stack) => {
      const { queue: deadLetterQueue } = new DedupQueue(stack, "Queue");
      new Rule(stack, "Rule", { eventPattern }).addTarget(
        new FunctionTarget(runner(stack), { deadLetterQueue }),
      );
    },
  ),
  refused(
    "a rule that feeds a plain FIFO queue, without deduplication",
    "EventBridge doesn't send deduplication ids",
    (stack) => {
      const queue = fifo(stack);
      runner(stack).addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
      new Rule(stack, "Rule", { eventPattern }).addTarget(new SqsQueue(queue, { messageGroupId: "orders" }));
    },
  ),
  refused("a rule that feeds another app's queue, without a group", "without a messageGroupId", (stack) => {
    const arn = "arn:aws:sqs:eu-west-1:111111111111:orders.fifo";
    const { queue } = DedupQueue.fromQueueArn(stack, "Queue", arn);
    new Rule(stack, "Rule", { eventPattern }).addTarget(new SqsQueue(queue));
  }),
  refused(
    "the queue of another `DedupQueue` as the dead-letter queue",
    "whose redriveAllowPolicy doesn't allow it",
    (stack) => {
      const { queue: deadLetterQueue } = new DedupQueue(stack, "Other");
      new DedupQueue(stack, "Queue", { deadLetterQueue });
    },
  ),
  refused(
    "the dead-letter queue of another `DedupQueue`, which has a name",
    "whose redriveAllowPolicy doesn't allow it",
    (stack) => {
      const { deadLetterQueue } = new DedupQueue(stack, "Other", { queueName: "other.fifo" });
      new DedupQueue(stack, "Queue", { deadLetterQueue });
    },
  ),
  refused(
    "a `maxReceiveCount` with a fraction",
    "maxReceiveCount of Test/Queue is 2.5",
    (stack) => new DedupQueue(stack, "Queue", { maxReceiveCount: 2.5 }),
  ),
  refused(
    "a `maxReceiveCount` above 1000",
    "maxReceiveCount of Test/Queue is 1001",
    (stack) => new DedupQueue(stack, "Queue", { maxReceiveCount: 1001 }),
  ),
  refused("a retention of 0 days, and no client window", "< 1 s, which the handler rejects", (stack) =>
    runner(stack, { retention: Duration.days(0), clientWindow: Duration.days(0) }),
  ),
];
