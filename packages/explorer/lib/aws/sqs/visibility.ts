/** ChangeMessageVisibility and its batch. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html */
import { checkBatch, eachEntry } from "./batch.ts";
import { expiredReceipt, isExpiredReceipt } from "./expired-receipt.ts";
import type { SqsHandler } from "./handler.ts";
import type { VisibilityChange } from "./operations.ts";
import type { Queue } from "./queue.ts";
import { readReceiptHandle } from "./receipt-handle.ts";
import { invalidValue } from "./sqs-error.ts";

export const MAX_VISIBILITY_SECONDS = 43_200;

export const changeMessageVisibility: SqsHandler<"ChangeMessageVisibility"> = (
  service,
  { QueueUrl, ...change },
) => changeVisibility(service.queueByUrl(QueueUrl), change, service.now());

export const changeMessageVisibilityBatch: SqsHandler<"ChangeMessageVisibilityBatch"> = (
  service,
  { QueueUrl, ...batch },
) => {
  const queue = service.queueByUrl(QueueUrl);
  return eachEntry(checkBatch(batch), (change) => changeVisibility(queue, change, service.now()));
};

/**
 * A FIFO queue accepts only the latest receipt handle, and only while the message is in flight. A standard
 * queue accepts older handles too.
 */
function changeVisibility(
  queue: Queue,
  { ReceiptHandle, VisibilityTimeout: seconds }: VisibilityChange,
  now: number,
): Record<never, never> {
  const receipt = readReceiptHandle(queue, ReceiptHandle);
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > MAX_VISIBILITY_SECONDS) {
    throw invalidValue("VisibilityTimeout", seconds, "Must be >= 0 and <= 43200, if provided.");
  }
  const message = queue.find(receipt.messageId, now);
  if (message === undefined) {
    throw invalidValue(
      "ReceiptHandle",
      ReceiptHandle,
      "Message does not exist or is not available for visibility timeout change.",
    );
  }
  if (isExpiredReceipt(queue, message, receipt, now)) throw expiredReceipt(ReceiptHandle);
  const visibleAt = now + seconds * 1000;
  const latest = (message.lastReceivedAt ?? now) + MAX_VISIBILITY_SECONDS * 1000;
  if (visibleAt > latest) {
    throw invalidValue(
      "VisibilityTimeout",
      seconds,
      "Total VisibilityTimeout for the message is beyond the limit [43200 seconds]",
    );
  }
  queue.hideUntil(message, visibleAt);
  return {};
}
