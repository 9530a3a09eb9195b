/**
 * Gets a batch from a queue through a function: receives, fills up, invokes, and deletes what is done. What failed is left
 * alone and comes back when its visibility timeout ends, or goes to the dead-letter queue.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
 */
import type { Clock } from "../../core/clock.ts";
import type { ReceivedMessage } from "../sqs/operations.ts";
import type { SqsModel } from "../sqs/sqs-model.ts";
import type { EventFilter } from "./event-filter.ts";
import { failedIds } from "./partial-batch.ts";
import { type SqsEventRecord, sqsRecord } from "./sqs-record.ts";

export interface QueueBatchOptions {
  readonly model: Pick<SqsModel, "call">;
  readonly clock: Clock;
  readonly queue: { readonly arn: string; readonly url: string };
  /** Of the function. */
  readonly region: string;
  readonly batchSize: number;
  /** How long a receive waits for a first message. @default 0 */
  readonly waitSeconds?: number;
  /** How long a batch may be filled up. @default 0: what there is is handed on */
  readonly batchingWindowSeconds?: number;
  readonly reportsItemFailures: boolean;
  /** Messages that do not pass are deleted. @default - all pass */
  readonly passes?: EventFilter;
  /** Answers as the function did, in JSON; `undefined` where it failed. */
  readonly invoke: (event: { readonly Records: readonly SqsEventRecord[] }) => Promise<string | undefined>;
}

const MAX_RECEIVE = 10;
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

/** How many messages the function got, and how many of them stay; `undefined` where there was none for it. */
export async function takeQueueBatch(
  options: QueueBatchOptions,
  signal?: AbortSignal,
): Promise<{ readonly size: number; readonly failed: number } | undefined> {
  const { model, queue, region, passes = () => true, reportsItemFailures } = options;
  const remove = async ({ receiptHandle: ReceiptHandle }: SqsEventRecord): Promise<void> => {
    // What took longer than its visibility timeout may be somebody else's by now, and stays with them.
    await model.call("DeleteMessage", { QueueUrl: queue.url, ReceiptHandle }).catch(() => undefined);
  };
  const records = (await receiveBatch(options, signal)).map((each) => sqsRecord(each, queue.arn, region));
  const Records = records.filter(passes);
  for (const record of records) if (!Records.includes(record)) await remove(record);
  if (Records.length === 0) return undefined;
  const ids = Records.map(({ messageId }) => messageId);
  const failed = failedIds(await options.invoke({ Records }), ids, reportsItemFailures);
  for (const record of Records) if (!failed.has(record.messageId)) await remove(record);
  return { size: Records.length, failed: failed.size };
}

/** A batch that was begun is handed on, also when the signal aborts meanwhile. */
async function receiveBatch(
  { model, queue, clock, batchSize, waitSeconds = 0, batchingWindowSeconds = 0 }: QueueBatchOptions,
  signal: AbortSignal | undefined,
): Promise<readonly ReceivedMessage[]> {
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
        WaitTimeSeconds: Math.max(0, Math.min(waitSeconds, left)),
        AttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      },
      signal,
    );
    batch.push(...Messages);
    for (const { Body } of Messages) bytes += Buffer.byteLength(Body);
    if (batch.length === 0) break;
    until = Math.min(until, clock.now() + batchingWindowSeconds * 1000);
    if (signal?.aborted || clock.now() >= until) break;
  }
  return batch;
}
