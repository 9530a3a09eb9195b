import { CfnParameter, Duration, Fn, type Stack } from "aws-cdk-lib";
import { EventBus, Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { Stream } from "aws-cdk-lib/aws-kinesis";
import {
  CfnEventSourceMapping,
  type FunctionOptions,
  Function as LambdaFunction,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import {
  DynamoEventSource,
  KinesisEventSource,
  type KinesisEventSourceProps,
  SqsEventSource,
  type SqsEventSourceProps,
} from "aws-cdk-lib/aws-lambda-event-sources";
import { CfnQueue, DeduplicationScope, Queue, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { DedupQueue, type DedupQueueConsumerOptions, type DedupQueueProps, OutboxRelay } from "onceonly/cdk";
import { aFunction } from "../../given.ts";
import {
  accepted,
  type Misconfiguration,
  noted,
  refused,
  refusedByCdk,
  runner,
  tableIn,
  warned,
} from "../given.ts";

const seconds = (count: number) => Duration.seconds(count);
const days = (count: number) => Duration.days(count);
const dedup =
  (props: DedupQueueProps = {}, options: DedupQueueConsumerOptions = {}) =>
  (stack: Stack) =>
    new DedupQueue(stack, "Queue", props).addConsumer(runner(stack), options);
const ruleInto = (messageGroupId: string | undefined, props: DedupQueueProps) => (stack: Stack) => {
  const { queue } = new DedupQueue(stack, "Queue", props);
  const eventBus = new EventBus(stack, "Bus");
  const targets = [new SqsQueue(queue, messageGroupId === undefined ? {} : { messageGroupId })];
  new Rule(stack, "Rule", { eventBus, eventPattern: { source: ["shop"] }, targets });
};

export const DEDUP_QUEUES: readonly Misconfiguration[] = [
  refused("two queues with the same name", "are both named orders.fifo", (stack) => {
    new DedupQueue(stack, "Queue", { queueName: "orders.fifo" });
    new DedupQueue(stack, "Other", { queueName: "orders.fifo" });
  }),
  refused(
    "throughput per message group, and deduplication per queue",
    "SQS accepts that limit only with messageGroup",
    dedup({ deduplicationScope: DeduplicationScope.QUEUE }),
  ),
  refused(
    "a standard queue as the dead-letter queue",
    "the dead-letter queue of a FIFO queue must be FIFO too",
    (stack) => new DedupQueue(stack, "Queue", { deadLetterQueue: new Queue(stack, "Parked") }),
  ),
  noted("a dead-letter queue that is only known as a token", "onceonly:dead-letters-unknown", (stack) => {
    const deadLetterQueue = Queue.fromQueueArn(stack, "Given", Fn.importValue("parked"));
    new DedupQueue(stack, "Queue", { deadLetterQueue });
  }),
  refused(
    "a visibility timeout of less than six function timeouts",
    "6 × timeout 3 s of its consumer",
    dedup({ visibilityTimeout: seconds(17) }),
  ),
  noted("a visibility timeout that is only known at deployment", "onceonly:visibility-unknown", (stack) => {
    const number = new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber;
    dedup({ visibilityTimeout: seconds(number) })(stack);
  }),
  warned("a consumer of another app", "onceonly:consumer-unchecked", (stack) => {
    const arn = "arn:aws:lambda:eu-west-1:111111111111:function:pay";
    const attributes = { functionArn: arn, sameEnvironment: true };
    const fn = LambdaFunction.fromFunctionAttributes(stack, "Fn", attributes);
    new DedupQueue(stack, "Queue").addConsumer(fn);
  }),
  warned("a consumer without `UseIdempotency`", "onceonly:consumer-unchecked", (stack) =>
    new DedupQueue(stack, "Queue").addConsumer(aFunction(stack)),
  ),
  refused(
    "a rule, and no deduplication by content",
    "EventBridge doesn't send deduplication ids",
    ruleInto("orders", {}),
  ),
  refused(
    "a rule without a message group",
    "without a messageGroupId",
    ruleInto(undefined, { contentBasedDeduplication: true }),
  ),
  refusedByCdk("a name without `.fifo`", "must end in", dedup({ queueName: "orders" })),
  refusedByCdk("a retention of 15 days", "message retention period", dedup({ retentionPeriod: days(15) })),
  refusedByCdk(
    "a visibility timeout of 13 hours",
    "visibility timeout",
    dedup({ visibilityTimeout: Duration.hours(13) }),
  ),
  refusedByCdk("a batch of 11", "Maximum batch size", dedup({}, { batchSize: 11 })),
  refusedByCdk("at most one invocation at a time", "maxConcurrency", dedup({}, { maxConcurrency: 1 })),
  refusedByCdk("2000 invocations at a time", "maxConcurrency", dedup({}, { maxConcurrency: 2000 })),
  warned(
    "a consumer whose messages are parked after one receive",
    "onceonly:one-receive",
    dedup({ maxReceiveCount: 1 }),
  ),
  warned("two consumers", "onceonly:shared-queue", (stack) => {
    const queue = new DedupQueue(stack, "Queue");
    queue.addConsumer(runner(stack, { id: "One" }));
    queue.addConsumer(runner(stack, { id: "Two" }));
  }),
  accepted(
    "deduplication by content without a rule",
    "it is off by default, and its TSDoc says which messages are dropped",
    dedup({ contentBasedDeduplication: true }),
  ),
  accepted(
    "a consumer that is switched off",
    "messages wait, as its name says",
    dedup({}, { enabled: false }),
  ),
];

interface Given extends SqsEventSourceProps {
  readonly queue?: QueueProps;
  readonly receives?: number;
  readonly parked?: QueueProps;
  readonly fn?: FunctionOptions;
}

const plain =
  ({ queue = {}, receives = 3, parked = {}, fn, ...source }: Given) =>
  (stack: Stack) => {
    const fifo = queue.fifo === undefined ? {} : { fifo: queue.fifo };
    const deadLetters = new Queue(stack, "Parked", { retentionPeriod: days(14), ...fifo, ...parked });
    const deadLetterQueue = { queue: deadLetters, maxReceiveCount: receives };
    const events = new SqsEventSource(new Queue(stack, "Queue", { deadLetterQueue, ...queue }), {
      reportBatchItemFailures: true,
      ...source,
    });
    runner(stack, fn ? { fn } : {}).addEventSource(events);
  };

const streamed =
  (source: Partial<KinesisEventSourceProps>, fn: FunctionOptions = {}) =>
  (stack: Stack) =>
    runner(stack, { fn }).addEventSource(
      new KinesisEventSource(new Stream(stack, "Stream"), {
        startingPosition: StartingPosition.TRIM_HORIZON,
        reportBatchItemFailures: true,
        ...source,
      }),
    );

export const DELIVERIES: readonly Misconfiguration[] = [
  refused(
    "a visibility timeout that is shorter than the function's timeout",
    "visibility timeout 30 s of Test/Queue < timeout 60 s of Test/Fn",
    plain({ fn: { timeout: seconds(60) } }),
  ),
  noted("a visibility timeout that is only known at deployment", "onceonly:visibility-unknown", (stack) => {
    const number = new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber;
    plain({ queue: { visibilityTimeout: seconds(number) } })(stack);
  }),
  noted("a timeout that is only known at deployment", "onceonly:visibility-unknown", (stack) => {
    const number = new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber;
    plain({ fn: { timeout: seconds(number) } })(stack);
  }),
  refused(
    "a plain FIFO queue with throughput per message group, and deduplication per queue",
    "SQS accepts that limit only with messageGroup",
    (stack) => {
      const { attrArn: eventSourceArn } = new CfnQueue(stack, "Queue", {
        fifoQueue: true,
        fifoThroughputLimit: "perMessageGroupId",
      });
      const { functionName } = runner(stack);
      new CfnEventSourceMapping(stack, "Mapping", { eventSourceArn, functionName });
    },
  ),
  warned(
    "a queue without `ReportBatchItemFailures`",
    "onceonly:no-batch-failures",
    plain({ reportBatchItemFailures: false }),
  ),
  warned(
    "a stream without `ReportBatchItemFailures`",
    "onceonly:no-batch-failures",
    streamed({ reportBatchItemFailures: false }),
  ),
  warned(
    "a batching window that leaves too little of the visibility timeout",
    "onceonly:batching-window",
    plain({ maxBatchingWindow: seconds(28) }),
  ),
  refusedByCdk(
    "a batching window of a FIFO queue",
    "Batching window is not supported for FIFO queues",
    plain({ queue: { fifo: true }, maxBatchingWindow: seconds(5) }),
  ),
  warned("a queue with two consuming functions", "onceonly:shared-queue", (stack) => {
    const queue = new Queue(stack, "Queue");
    for (const id of ["One", "Two"]) {
      runner(stack, { id }).addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    }
  }),
  warned("a FIFO queue without dead letters", "onceonly:no-dead-letters", (stack) =>
    runner(stack).addEventSource(
      new SqsEventSource(new Queue(stack, "Queue", { fifo: true }), { reportBatchItemFailures: true }),
    ),
  ),
  accepted(
    "a standard queue without dead letters",
    "its messages are redelivered until its retention ends",
    (stack) =>
      runner(stack).addEventSource(
        new SqsEventSource(new Queue(stack, "Queue"), { reportBatchItemFailures: true }),
      ),
  ),
  warned("a `maxReceiveCount` of 1", "onceonly:one-receive", plain({ receives: 1 })),
  warned(
    "dead letters that are kept no longer than their queue's messages",
    "onceonly:short-dead-letters",
    plain({ parked: { retentionPeriod: days(4) } }),
  ),
  noted("dead letters whose retention is only known at deployment", "onceonly:retention-unknown", (stack) => {
    const number = new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber;
    plain({ parked: { retentionPeriod: seconds(number) } })(stack);
  }),
  noted(
    "a batching window, and a visibility timeout that is only known at deployment",
    "onceonly:visibility-unknown",
    (stack) => {
      const number = new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber;
      plain({ queue: { visibilityTimeout: seconds(number) }, maxBatchingWindow: seconds(20) })(stack);
    },
  ),
  warned(
    "messages that expire before they reach the dead-letter queue",
    "onceonly:lost-before-dead-letters",
    plain({ queue: { retentionPeriod: Duration.hours(1), visibilityTimeout: Duration.hours(1) } }),
  ),
  warned("three readers of a table's stream", "onceonly:stream-readers", (stack) => {
    const table = tableIn(stack, { outbox: true });
    new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
    for (const id of ["One", "Two"]) {
      const source = { startingPosition: StartingPosition.LATEST, reportBatchItemFailures: true };
      runner(stack, { id }).addEventSource(new DynamoEventSource(table.table, source));
    }
  }),
  warned(
    "receives that run out before the lease of an attempt that died",
    "onceonly:retries-within-lease",
    plain({ queue: { visibilityTimeout: seconds(3) }, receives: 2 }),
  ),
  warned(
    "more simultaneous invocations than the reserved concurrency",
    "onceonly:throttled-source",
    plain({ maxConcurrency: 10, fn: { reservedConcurrentExecutions: 5 } }),
  ),
  warned(
    "a queue that feeds a function without concurrency",
    "onceonly:no-concurrency",
    plain({ fn: { reservedConcurrentExecutions: 0 } }),
  ),
  warned(
    "finite retries for a stream, and no destination",
    "onceonly:dropped-records",
    streamed({ retryAttempts: 3 }),
  ),
  warned(
    "retries for a stream that run out before the lease ends",
    "onceonly:retries-within-lease",
    streamed({ retryAttempts: 1 }, { timeout: seconds(10) }),
  ),
  warned(
    "a maximum record age that is shorter than the lease",
    "onceonly:retries-within-lease",
    streamed({ maxRecordAge: seconds(60) }, { timeout: seconds(300) }),
  ),
  warned(
    "several batches of one shard at the same time",
    "onceonly:parallel-shard",
    streamed({ parallelizationFactor: 10 }),
  ),
  refusedByCdk(
    "eleven batches of one shard at the same time",
    "parallelizationFactor",
    streamed({ parallelizationFactor: 11 }),
  ),
  warned(
    "asynchronous retries that run out before the lease ends",
    "onceonly:retries-within-lease",
    (stack) => runner(stack, { fn: { timeout: seconds(900) } }).configureAsyncInvoke({ retryAttempts: 1 }),
  ),
  accepted(
    "a stream that is read from its newest record",
    "records from before the deployment aren't meant for this function",
    streamed({ startingPosition: StartingPosition.LATEST }),
  ),
  accepted(
    "a filter on a queue, which deletes the messages that it excludes",
    "that's what a filter is for",
    plain({ filters: [{ pattern: '{"body":{"kind":["order"]}}' }] }),
  ),
];
