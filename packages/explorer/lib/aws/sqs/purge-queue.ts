/** PurgeQueue. */
import type { SqsHandler } from "./handler.ts";
import { SqsError } from "./sqs-error.ts";

const PURGE_PAUSE_MS = 60_000;

/** Deletes the deduplication ids too. In AWS a purge may last a minute; in the model it is immediate. */
export const purgeQueue: SqsHandler<"PurgeQueue"> = (service, { QueueUrl }) => {
  const queue = service.queueByUrl(QueueUrl);
  const now = service.now();
  if (queue.purgedAt !== undefined && now - queue.purgedAt < PURGE_PAUSE_MS) {
    throw new SqsError(
      "PurgeQueueInProgress",
      `Only one PurgeQueue operation on ${queue.name} is allowed every 60 seconds.`,
    );
  }
  queue.purgedAt = now;
  queue.clear();
  return {};
};
