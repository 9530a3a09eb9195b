// Feeds a function from a queue: receives, batches, invokes, and deletes what succeeded. What failed is left alone and
// comes back when its visibility timeout ends, or goes to the dead-letter queue.
// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html

import type { EventFilter } from "../../testing/event-sources/event-filter.ts";
import { failedItems } from "../../testing/event-sources/partial-batch.ts";
import { sqsRecord } from "../../testing/event-sources/sqs-record.ts";
import { outcomeOf } from "../../testing/event-sources/stream-batch.ts";
import type { ReceivedMessage } from "../../testing/sqs/operations.ts";
import type { SqsModel } from "../../testing/sqs/sqs-model.ts";
import { type EventSourceContext, type SourceSwitch, switchable } from "./event-source.ts";

export interface SqsSourceOptions extends EventSourceContext {
  readonly model: SqsModel;
  readonly queue: { readonly arn: string; readonly url: string; readonly name: string };
  readonly enabled: boolean;
  readonly batchSize: number;
  /** How long a batch may be filled up; 0 hands on what there is. */
  readonly batchingWindowSeconds: number;
  /** How many batches the function may have at once. */
  readonly maxConcurrency: number;
  readonly reportsItemFailures: boolean;
  /** Messages that do not pass are deleted. */
  readonly passes: EventFilter;
}

const MAX_RECEIVE = 10;
const WAIT_SECONDS = 20;
const AFTER_ERROR_MS = 1000;
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

export function startSqsSource(options: SqsSourceOptions): SourceSwitch {
  // Each poller has one batch at a time. The queue itself keeps the groups of FIFO queues apart.
  return switchable(async (signal) => {
    await Promise.all(Array.from({ length: options.maxConcurrency }, () => poll(options, signal)));
  }, options.enabled);
}

async function poll(options: SqsSourceOptions, signal: AbortSignal): Promise<void> {
  const { clock, label, log } = options;
  while (!signal.aborted) {
    try {
      const messages = await wanted(options, await collectBatch(options, signal));
      if (messages.length > 0) await process(options, messages);
    } catch (error) {
      if (signal.aborted) return;
      log(`${label}: ${String(error)}; tried again in ${AFTER_ERROR_MS / 1000} s`);
      await clock.sleep(AFTER_ERROR_MS, signal);
    }
  }
}

/** A batch that was begun is handed on, whole or not, also when the source is disabled meanwhile. */
async function collectBatch(
  { model, queue, clock, batchSize, batchingWindowSeconds }: SqsSourceOptions,
  signal: AbortSignal,
): Promise<ReceivedMessage[]> {
  const batch: ReceivedMessage[] = [];
  let bytes = 0;
  let until = Number.POSITIVE_INFINITY;
  while (batch.length < batchSize && bytes < MAX_PAYLOAD_BYTES) {
    const left = Math.ceil((until - clock.now()) / 1000);
    const { Messages = [] } = await model.call(
      "ReceiveMessage",
      {
        QueueUrl: queue.url,
        MaxNumberOfMessages: Math.min(MAX_RECEIVE, batchSize - batch.length),
        WaitTimeSeconds: Math.max(0, Math.min(WAIT_SECONDS, left)),
        AttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      },
      signal,
    );
    batch.push(...Messages);
    for (const { Body } of Messages) bytes += Buffer.byteLength(Body);
    if (batch.length === 0) return batch;
    until = Math.min(until, clock.now() + batchingWindowSeconds * 1000);
    if (signal.aborted || clock.now() >= until) break;
  }
  return batch;
}

async function wanted(
  options: SqsSourceOptions,
  messages: readonly ReceivedMessage[],
): Promise<ReceivedMessage[]> {
  const passing = messages.filter((message) => options.passes(recordOf(options, message)));
  await remove(
    options,
    messages.filter((message) => !passing.includes(message)),
  );
  return passing;
}

async function process(options: SqsSourceOptions, messages: readonly ReceivedMessage[]): Promise<void> {
  const { clock, label, log } = options;
  const startedAtMs = clock.now();
  const payload = JSON.stringify({ Records: messages.map((message) => recordOf(options, message)) });
  const result = await options.invoke(payload);
  const ids = new Set(messages.map(({ MessageId }) => MessageId));
  const failed =
    result.outcome !== "ok"
      ? "all"
      : options.reportsItemFailures
        ? failedItems(result.payload, ids)
        : new Set();
  const done = failed === "all" ? [] : messages.filter(({ MessageId }) => !failed.has(MessageId));
  await remove(options, done);

  const count = messages.length - done.length;
  const failures = count > 0 ? `, ${count} failed` : "";
  const took = clock.now() - startedAtMs;
  log(`${label}: batch of ${messages.length} ${outcomeOf(result)}${failures} ${took} ms`);
}

async function remove(
  { model, queue }: SqsSourceOptions,
  messages: readonly ReceivedMessage[],
): Promise<void> {
  for (const { ReceiptHandle } of messages) {
    // What took longer than its visibility timeout may be somebody else's by now, and stays with them.
    await model.call("DeleteMessage", { QueueUrl: queue.url, ReceiptHandle }).catch(() => undefined);
  }
}

function recordOf({ queue, region }: SqsSourceOptions, message: ReceivedMessage): object {
  return sqsRecord(message, queue.arn, region);
}
