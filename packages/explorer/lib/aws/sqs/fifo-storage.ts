/** The messages of a FIFO queue by group. Messages of a group keep their order, and groups take turns. */
import { isVisible, type QueuedMessage } from "./message.ts";
import type { QueueStorage } from "./queue-storage.ts";

type Group = Map<string, QueuedMessage>;

export class FifoStorage implements QueueStorage {
  readonly #maxScanned: number;
  readonly #groups = new Map<string, Group>();
  readonly #messages = new Map<string, QueuedMessage>();
  /** The messages that are not scanned yet, in the order of arrival. */
  readonly #beyond = new Set<QueuedMessage>();

  constructor(maxScanned: number) {
    this.#maxScanned = maxScanned;
  }

  get size(): number {
    return this.#messages.size;
  }

  add(message: QueuedMessage): void {
    const groupId = groupOf(message);
    const group: Group = this.#groups.get(groupId) ?? new Map();
    this.#groups.set(groupId, group);
    group.set(message.id, message);
    if (this.size >= this.#maxScanned) this.#beyond.add(message);
    this.#messages.set(message.id, message);
  }

  find(id: string): QueuedMessage | undefined {
    return this.#messages.get(id);
  }

  remove(message: QueuedMessage): void {
    const group = this.#groups.get(groupOf(message));
    group?.delete(message.id);
    if (group?.size === 0) this.#groups.delete(groupOf(message));
    this.#messages.delete(message.id);
    if (!this.#beyond.delete(message)) this.#scanOneMore();
  }

  clear(): void {
    this.#groups.clear();
    this.#messages.clear();
    this.#beyond.clear();
  }

  *all(): Iterable<QueuedMessage> {
    for (const group of this.#groups.values()) yield* group.values();
  }

  /**
   * Yields all deliverable messages of one group, then those of the next. A delayed or in-flight message
   * holds back the later messages of its group, not the earlier ones. Groups after the scanned messages are
   * not seen, even if none of the scanned ones is deliverable.
   * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-key-terms.html
   */
  *deliverable(now: number): Iterable<QueuedMessage> {
    for (const group of this.#groups.values()) {
      for (const message of group.values()) {
        if (!isVisible(message, now) || this.#beyond.has(message)) break;
        yield message;
      }
    }
  }

  noteDelivered(messages: readonly QueuedMessage[]): void {
    for (const groupId of new Set(messages.map(groupOf))) {
      const group = this.#groups.get(groupId);
      if (group === undefined) continue;
      this.#groups.delete(groupId);
      this.#groups.set(groupId, group);
    }
  }

  #scanOneMore(): void {
    for (const next of this.#beyond) {
      this.#beyond.delete(next);
      return;
    }
  }
}

function groupOf(message: QueuedMessage): string {
  return message.groupId ?? "";
}
