/** Decides when a receipt handle has expired. */
import { isInFlight, type QueuedMessage } from "./message.ts";
import type { Queue } from "./queue.ts";
import type { DecodedReceipt } from "./receipt-handle.ts";
import { invalidValue, type SqsError } from "./sqs-error.ts";

/** The receipt of the last receive of this message. */
export function isLatestReceipt(message: QueuedMessage, receipt: DecodedReceipt): boolean {
  return receipt.receive === message.receiveCount;
}

/**
 * In a FIFO queue a handle is valid while its own receive is in flight; in a standard queue a handle does not
 * expire.
 */
export function isExpiredReceipt(
  queue: Queue,
  message: QueuedMessage,
  receipt: DecodedReceipt,
  now: number,
): boolean {
  return queue.isFifo && !(isLatestReceipt(message, receipt) && isInFlight(message, now));
}

export function expiredReceipt(handle: string): SqsError {
  return invalidValue("ReceiptHandle", handle, "The receipt handle has expired.");
}
