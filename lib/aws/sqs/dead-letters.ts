/** A message that was received too often goes to the dead-letter queue instead of to the next receiver. */
import type { QueuedMessage } from "./message.ts";
import type { Queue } from "./queue.ts";
import type { SqsService } from "./service.ts";

/** Where this message belongs instead of being handed out; `undefined` while it may be. */
export function deadLetterQueueFor(
  service: SqsService,
  queue: Queue,
  message: QueuedMessage,
): Queue | undefined {
  const policy = queue.redrivePolicy;
  if (policy === undefined || message.receivesHere < policy.maxReceiveCount) return undefined;
  return service.findByArn(policy.deadLetterTargetArn);
}

/**
 * It keeps its message id and its receive count. In a FIFO queue its deduplication id becomes its message id, so that
 * two messages which shared one both have room, and its age starts anew; in a standard queue it keeps its age.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/setting-up-dead-letter-queue-retention.html
 */
export function moveToDeadLetters(
  service: SqsService,
  queue: Queue,
  message: QueuedMessage,
  deadLetterQueue: Queue,
): void {
  const now = service.now();
  queue.remove(message);
  const asNewInFifo = {
    deduplicationId: message.id,
    sequenceNumber: service.newSequenceNumber(),
    sentAt: now,
  };
  deadLetterQueue.add({
    ...message,
    ...(queue.isFifo && asNewInFifo),
    deadLetterSourceArn: queue.arn,
    receivesHere: 0,
    visibleAt: now,
  });
}
