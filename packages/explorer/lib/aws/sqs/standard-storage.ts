/** The messages of a standard queue, the oldest first unless disorder is asked for. */
import { isVisible, type QueuedMessage } from "./message.ts";
import type { QueueStorage } from "./queue-storage.ts";

export class StandardStorage implements QueueStorage {
  readonly #messages = new Map<string, QueuedMessage>();

  get size(): number {
    return this.#messages.size;
  }

  add(message: QueuedMessage): void {
    this.#messages.set(message.id, message);
  }

  find(id: string): QueuedMessage | undefined {
    return this.#messages.get(id);
  }

  remove(message: QueuedMessage): void {
    this.#messages.delete(message.id);
  }

  clear(): void {
    this.#messages.clear();
  }

  all(): Iterable<QueuedMessage> {
    return this.#messages.values();
  }

  *deliverable(now: number): Iterable<QueuedMessage> {
    for (const message of this.#messages.values()) if (isVisible(message, now)) yield message;
  }

  noteDelivered(messages: readonly QueuedMessage[]): void {
    for (const message of messages) {
      this.remove(message);
      this.add(message);
    }
  }
}
