/**
 * Passes one batch from a queue to a function: receives, waits for more, invokes, and deletes the finished
 * messages. Failed messages stay in the queue until their visibility timeout ends, or move to the dead-letter
 * queue. https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
 */
import type { Clock } from "onceonly/kit";
import type { ReceivedMessage } from "../sqs/operations.ts";
import type { SqsModel } from "../sqs/sqs-model.ts";
import type { EventFilter } from "./event-filter.ts";
import { failedIds } from "./partial-batch.ts";
import { type SqsEventRecord, sqsRecord } from "./sqs-record.ts";

export interface QueueBatchOptions {
  readonly model: Pick<SqsModel, "call">;
  readonly clock: Clock;
  readonly queue: { readonly arn: string; readonly url: string };
  /** The Region of the function. */
  readonly region: string;
  readonly batchSize: number;
  /** How long a receive waits for the first message. @default 0 */
  readonly waitSeconds?: number;
  /** How long to wait for a full batch. @default 0: the first receive is the batch */
  readonly batchingWindowSeconds?: number;
  readonly reportsItemFailures: boolean;
  /** Messages that do not pass the filter are deleted. @default - all pass */
  readonly passes?: EventFilter;
  /** The function's answer as JSON; `undefined` when the function failed. */
  readonly invoke: (event: { readonly Records: readonly SqsEventRecord[] }) => Promise<string | undefined>;
}

const MAX_RECEIVE = 10;
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

/** How many messages the function got, and how many stay in the queue; `undefined` without messages. */
export async function takeQueueBatch(
  options: QueueBatchOptions,
  signal?: AbortSignal,
): Promise<{ readonly size: number; readonly failed: number } | undefined> {
  const { model, queue, region, passes = () => true, reportsItemFailures } = options;
  const remove = async ({ receiptHandle: ReceiptHandle }: SqsEventRecord): Promise<void> => {
    // After its visibility timeout another receiver may have a message: it stays in the queue.
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

/** A batch with a message is passed on, even if the signal aborts during the wait. */
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
