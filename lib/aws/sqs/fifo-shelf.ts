/** The messages of a FIFO queue, by their groups. Within a group order is kept; among groups turns are taken. */
import { isVisible, type QueuedMessage } from "./message.ts";
import type { Shelf } from "./shelf.ts";

type Group = Map<string, QueuedMessage>;

export class FifoShelf implements Shelf {
  readonly #maxScanned: number;
  readonly #groups = new Map<string, Group>();
  readonly #messages = new Map<string, QueuedMessage>();
  /** What is not scanned yet, in the order in which it came. */
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
   * As many of one group as there are, then the next group. A message that is delayed or in flight holds back all
   * that follow it in its group, and none that come before it. Groups that are behind what is scanned are not seen, even
   * if nothing of that may be handed out.
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
