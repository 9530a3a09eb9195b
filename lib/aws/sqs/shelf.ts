/** Where a queue keeps its messages, and in which order it looks through them. One kind for each kind of queue. */
import type { StoredMessage } from "./message.ts";

export interface Shelf {
  readonly size: number;
  add(message: StoredMessage): void;
  find(id: string): StoredMessage | undefined;
  remove(message: StoredMessage): void;
  clear(): void;
  /** All messages, those first that were looked at longest ago. */
  all(): Iterable<StoredMessage>;
  /** What may be handed out now, best first. Messages may be removed meanwhile. */
  deliverable(now: number): Iterable<StoredMessage>;
  /** Messages were handed out: the next look starts with others. */
  noteDelivered(messages: readonly StoredMessage[]): void;
}
