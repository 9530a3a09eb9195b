/** Stores a queue's messages and defines the order in which it scans them; one kind for standard queues, one for FIFO. */
import type { QueuedMessage } from "./message.ts";

export interface QueueStorage {
  readonly size: number;
  add(message: QueuedMessage): void;
  find(id: string): QueuedMessage | undefined;
  remove(message: QueuedMessage): void;
  clear(): void;
  /** All messages; those that were looked at longest ago come first. */
  all(): Iterable<QueuedMessage>;
  /** The deliverable messages, best first. Messages may be removed during the iteration. */
  deliverable(now: number): Iterable<QueuedMessage>;
  /** Call this after a delivery: the next look starts with other messages. */
  noteDelivered(messages: readonly QueuedMessage[]): void;
}
