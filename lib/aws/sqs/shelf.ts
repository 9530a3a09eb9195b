/** Where a queue keeps its messages, and in which order it looks through them. One kind for each kind of queue. */
import type { QueuedMessage } from "./message.ts";

export interface Shelf {
  readonly size: number;
  add(message: QueuedMessage): void;
  find(id: string): QueuedMessage | undefined;
  remove(message: QueuedMessage): void;
  clear(): void;
  /** All messages, those first that were looked at longest ago. */
  all(): Iterable<QueuedMessage>;
  /** What may be handed out now, best first. Messages may be removed meanwhile. */
  deliverable(now: number): Iterable<QueuedMessage>;
  /** Messages were handed out: the next look starts with others. */
  noteDelivered(messages: readonly QueuedMessage[]): void;
}
