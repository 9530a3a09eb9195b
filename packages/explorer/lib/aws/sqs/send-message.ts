/** SendMessage and SendMessageBatch. */
import { acceptMessage } from "./accept-message.ts";
import { checkBatch, eachEntry } from "./batch.ts";
import { missingFifoId } from "./fifo-ids.ts";
import type { SqsHandler } from "./handler.ts";
import { bytesOf } from "./message-checks.ts";
import { invalidParameter, missingParameter, SqsError } from "./sqs-error.ts";

/**
 * The limit for one message, and for all messages of a batch together:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
 */
const MAX_BATCH_BYTES = 1_048_576;

export const sendMessage: SqsHandler<"SendMessage"> = (service, { QueueUrl, ...message }) => {
  const queue = service.queueByUrl(QueueUrl);
  if (!message.MessageBody) throw missingParameter("MessageBody");
  const missing = missingFifoId(queue, message);
  if (missing !== undefined) throw missing;
  return acceptMessage(service, queue, message);
};

export const sendMessageBatch: SqsHandler<"SendMessageBatch"> = (service, { QueueUrl, ...batch }) => {
  const queue = service.queueByUrl(QueueUrl);
  const entries = checkBatch(batch);
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.MessageBody) throw missingParameter("MessageBody");
    const missing = missingFifoId(queue, entry);
    if (missing !== undefined) throw invalidParameter(missing.message);
    bytes += bytesOf(entry.MessageBody, entry.MessageAttributes ?? {});
  }
  if (bytes > MAX_BATCH_BYTES) {
    throw new SqsError(
      "BatchRequestTooLong",
      `Batch requests cannot be longer than ${MAX_BATCH_BYTES} bytes. You have sent ${bytes} bytes.`,
    );
  }
  return eachEntry(entries, (entry) => acceptMessage(service, queue, entry));
};
