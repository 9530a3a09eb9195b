// Warns of event sources that lose messages, or that deliver them in a way which their consumer cannot stand.
import { Annotations, Stack, Token } from "aws-cdk-lib";
import { CfnGlobalTable, CfnTable } from "aws-cdk-lib/aws-dynamodb";
import type { CfnFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import { mappingsOf, ownerPath, readsPartly, referencedResource, sourceOf } from "./event-sources.ts";
import { settingsOf } from "./queue-settings.ts";
import { resourcesOfType } from "./resources.ts";
import { warnOfRetries } from "./retries.ts";

type Warn = (id: string, text: string) => void;

/** Each can be acknowledged by its id, where it is meant. */
export function warnOfDeliveries(fn: LambdaFunction, timeoutSeconds: number | undefined): void {
  const warn = (id: string, text: string) => Annotations.of(fn).addWarningV2(`onceonly:${id}`, text);
  const concurrency = reservedConcurrencyOf(fn);
  if (concurrency === 0) {
    warn("no-concurrency", `reservedConcurrentExecutions of ${fn.node.path} is 0: no event reaches it`);
  }
  warnOfRetries(fn, timeoutSeconds, warn);
  for (const mapping of mappingsOf(fn)) {
    const queue = sourceOf(mapping, CfnQueue);
    const path = ownerPath(queue ?? mapping);
    if (readsPartly(mapping) && !reportsFailures(mapping)) {
      warn(
        "no-batch-failures",
        `${path} feeds ${fn.node.path} without ReportBatchItemFailures: Lambda takes an answer for the success of the whole batch, and loses the records that it names as failed. Set reportBatchItemFailures`,
      );
    }
    const most = maximumConcurrencyOf(mapping);
    if (concurrency && most !== undefined && most > concurrency) {
      warn(
        "throttled-source",
        `${path} feeds ${fn.node.path} by up to ${most} invocations at once, and reservedConcurrentExecutions is ${concurrency}: throttled receives count against maxReceiveCount. Lower maxConcurrency`,
      );
    }
    const retries = mapping.maximumRetryAttempts;
    if (retries !== undefined && !Token.isUnresolved(retries) && retries >= 0 && !mapping.destinationConfig) {
      warn(
        "dropped-records",
        `${path} gives up a batch after ${retries} retries and drops its records: give it an onFailure destination, or no retryAttempts`,
      );
    }
    warnOfReaders(fn, mapping, warn);
    if (queue) warnOfQueue(fn, queue, mapping, timeoutSeconds, warn);
  }
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html */
const MAX_STREAM_READERS = 2;

function warnOfReaders(fn: LambdaFunction, mapping: CfnEventSourceMapping, warn: Warn): void {
  const table = tableOf(mapping);
  if (!table) return;
  const readers = mappingsIn(fn).filter((each) => tableOf(each) === table);
  if (readers.length <= MAX_STREAM_READERS) return;
  warn(
    "stream-readers",
    `${readers.length} functions read the stream of ${ownerPath(table)}, ${fn.node.path} among them: DynamoDB throttles more than ${MAX_STREAM_READERS} of a shard, an OutboxRelay too. Feed one function, which passes the changes on`,
  );
}

const mappingsIn = (fn: LambdaFunction) =>
  resourcesOfType(fn, CfnEventSourceMapping.CFN_RESOURCE_TYPE_NAME) as readonly CfnEventSourceMapping[];

const tableOf = (mapping: CfnEventSourceMapping) =>
  sourceOf(mapping, CfnGlobalTable) ?? sourceOf(mapping, CfnTable);

function warnOfQueue(
  fn: LambdaFunction,
  queue: CfnQueue,
  mapping: CfnEventSourceMapping,
  timeoutSeconds: number | undefined,
  warn: Warn,
): void {
  const path = ownerPath(queue);
  const { visibilityTimeout, messageRetentionPeriod } = settingsOf(queue);
  const window = mapping.maximumBatchingWindowInSeconds ?? 0;
  if (window > 0 && timeoutSeconds !== undefined && visibilityTimeout < timeoutSeconds + window) {
    warn(
      "batching-window",
      `visibility timeout ${visibilityTimeout} s of ${path} < timeout ${timeoutSeconds} s of ${fn.node.path} + batching window ${window} s: messages come again while they are handled. Make it longer`,
    );
  }
  const others = mappingsIn(fn).filter((each) => each !== mapping && sourceOf(each, CfnQueue) === queue);
  if (others.length > 0) {
    warn(
      "shared-queue",
      `${path} feeds ${fn.node.path} and ${others.length} more: each message reaches one of them. Give each consumer a queue of its own, behind a topic`,
    );
  }
  if (queue.redrivePolicy === undefined) {
    if (queue.fifoQueue === true) {
      warn(
        "no-dead-letters",
        `${path} is a FIFO queue without a dead-letter queue: a message that always fails holds up its group for ${messageRetentionPeriod} s and is then lost`,
      );
    }
    return;
  }
  const { maxReceiveCount } = Object(Stack.of(queue).resolve(queue.redrivePolicy));
  if (Number(maxReceiveCount) === 1) {
    warn(
      "one-receive",
      `maxReceiveCount of ${path} is 1: one throttled or killed invocation parks a message. Make it 3 or more`,
    );
  }
  const receiving = visibilityTimeout * Number(maxReceiveCount);
  if (receiving > messageRetentionPeriod) {
    warn(
      "lost-before-dead-letters",
      `visibility timeout ${visibilityTimeout} s × ${maxReceiveCount} receives > ${messageRetentionPeriod} s, for which ${path} keeps messages: SQS deletes a message that always fails before it is a dead letter. Keep them longer`,
    );
  }
  const deadLetters = referencedResource(queue.redrivePolicy, queue, CfnQueue);
  // The age of a message in a FIFO dead-letter queue begins anew.
  if (!deadLetters || queue.fifoQueue === true) return;
  const kept = settingsOf(deadLetters).messageRetentionPeriod;
  if (kept <= messageRetentionPeriod) {
    warn(
      "short-dead-letters",
      `${ownerPath(deadLetters)} keeps messages for ${kept} s, and ${path} for ${messageRetentionPeriod} s: their age counts from the first queue on, so parked messages may be deleted at once. Keep them longer`,
    );
  }
}

function reportsFailures({ functionResponseTypes, batchSize }: CfnEventSourceMapping): boolean {
  // A batch of one fails or succeeds as a whole; a handler that throws is enough.
  return batchSize === 1 || (functionResponseTypes ?? []).includes("ReportBatchItemFailures");
}

function reservedConcurrencyOf(fn: LambdaFunction): number | undefined {
  const value = (fn.node.defaultChild as CfnFunction | undefined)?.reservedConcurrentExecutions;
  return value === undefined || Token.isUnresolved(value) ? undefined : value;
}

function maximumConcurrencyOf(mapping: CfnEventSourceMapping): number | undefined {
  const { maximumConcurrency } = Object(Stack.of(mapping).resolve(mapping.scalingConfig));
  return typeof maximumConcurrency === "number" ? maximumConcurrency : undefined;
}
