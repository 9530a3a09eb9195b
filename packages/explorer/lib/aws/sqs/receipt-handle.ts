/** A receipt handle names one receive of one message of one queue. */
import type { QueuedMessage } from "./message.ts";
import type { Queue } from "./queue.ts";
import { SqsError } from "./sqs-error.ts";

export interface DecodedReceipt {
  readonly messageId: string;
  /** The message's receive count at that receive. */
  readonly receive: number;
}

export function receiptHandle(queue: Queue, message: QueuedMessage): string {
  const text = `${queue.arn} ${message.id} ${message.receiveCount}`;
  return Buffer.from(text).toString("base64");
}

/** Throws for a text that never was a receipt handle of this queue. */
export function readReceiptHandle(queue: Queue, handle: unknown): DecodedReceipt {
  const parts = Buffer.from(String(handle), "base64").toString().split(" ");
  const [arn, messageId, receive] = parts;
  if (parts.length !== 3 || arn !== queue.arn || !messageId || !/^\d+$/.test(receive ?? "")) {
    throw new SqsError(
      "ReceiptHandleIsInvalid",
      `The input receipt handle "${handle}" is not a valid receipt handle.`,
    );
  }
  return { messageId, receive: Number(receive) };
}
