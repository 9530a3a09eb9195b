/**
 * The allowed names of queues:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
 */
import { invalidParameter, SqsError } from "./sqs-error.ts";

const STANDARD_NAME = /^[A-Za-z0-9_-]{1,80}$/;
const FIFO_NAME = /^(?=.{1,80}$)[A-Za-z0-9_-]+\.fifo$/;

export function checkQueueName(name: string, isFifo: boolean): void {
  if ((isFifo ? FIFO_NAME : STANDARD_NAME).test(name)) return;
  throw invalidParameter(
    isFifo
      ? "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length."
      : "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
  );
}

/** The last part of a queue's URL; the host depends on how the client reaches the queue. */
export function queueNameOf(queueUrl: unknown): string {
  const name = typeof queueUrl === "string" ? queueUrl.slice(queueUrl.lastIndexOf("/") + 1) : "";
  if (name === "") throw new SqsError("QueueDoesNotExist", "The specified queue does not exist.");
  return name;
}
