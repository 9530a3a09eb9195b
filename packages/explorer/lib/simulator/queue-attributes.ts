/** Turns a simulation's description of a queue into the queue's attributes. */
import type { SimulatedQueue } from "./simulator-options.ts";

export function queueAttributes(
  name: string,
  queue: SimulatedQueue,
  deadLetterArn: string | undefined,
): Record<string, string> {
  return {
    ...(isFifo(name, queue) && { FifoQueue: "true" }),
    ...(queue.contentBasedDeduplication && { ContentBasedDeduplication: "true" }),
    ...(queue.perGroup && { DeduplicationScope: "messageGroup", FifoThroughputLimit: "perMessageGroupId" }),
    VisibilityTimeout: String(queue.visibilitySeconds ?? 30),
    DelaySeconds: String(queue.delaySeconds ?? 0),
    MessageRetentionPeriod: String(queue.retentionSeconds ?? 345_600),
    ...(deadLetterArn !== undefined && {
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: deadLetterArn,
        maxReceiveCount: queue.deadLetter?.maxReceives,
      }),
    }),
  };
}

export function isFifo(name: string, { fifo }: SimulatedQueue): boolean {
  return fifo ?? name.endsWith(".fifo");
}
