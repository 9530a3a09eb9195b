/** A message that was received too often goes to the dead-letter queue instead of the next receiver. */
import type { QueuedMessage } from "./message.ts";
import type { Queue } from "./queue.ts";
import type { SqsService } from "./service.ts";

/** The dead-letter queue of this message; `undefined` while the message may still be received. */
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
 * The message keeps its id and its receive count. In a standard queue it keeps its age too. In a FIFO queue
 * its age starts again, and its message id becomes its deduplication id: two messages that shared a
 * deduplication id both fit.
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
