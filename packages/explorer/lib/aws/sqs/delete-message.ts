/** DeleteMessage and its batch. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html */
import { checkBatch, eachEntry } from "./batch.ts";
import { expiredReceipt, isExpiredReceipt, isLatestReceipt } from "./expired-receipt.ts";
import type { SqsHandler } from "./handler.ts";
import type { OfReceipt } from "./operations.ts";
import type { Queue } from "./queue.ts";
import { readReceiptHandle } from "./receipt-handle.ts";

export const deleteMessage: SqsHandler<"DeleteMessage"> = (service, { QueueUrl, ...receipt }) =>
  deleteByReceipt(service.queueByUrl(QueueUrl), receipt, service.now());

export const deleteMessageBatch: SqsHandler<"DeleteMessageBatch"> = (service, { QueueUrl, ...batch }) => {
  const queue = service.queueByUrl(QueueUrl);
  return eachEntry(
    checkBatch(batch),
    (receipt) => deleteByReceipt(queue, receipt, service.now()),
    // In a batch an expired handle gets the code of a malformed handle:
    // https://github.com/smaskalik/sqsmover/issues/54
    () => "ReceiptHandleIsInvalid",
  );
};

/**
 * Deleting a message that is gone succeeds. In a standard queue an older receipt handle succeeds too, and
 * deletes nothing: the documentation promises no more.
 */
function deleteByReceipt(queue: Queue, { ReceiptHandle }: OfReceipt, now: number): Record<never, never> {
  const receipt = readReceiptHandle(queue, ReceiptHandle);
  const message = queue.find(receipt.messageId, now);
  if (message === undefined) return {};
  if (isExpiredReceipt(queue, message, receipt, now)) throw expiredReceipt(ReceiptHandle);
  if (isLatestReceipt(message, receipt) && !queue.chance.repeats()) queue.remove(message);
  return {};
}
