/** The messages of a FIFO queue, by their groups. Within a group order is kept; among groups turns are taken. */
import { isVisible, type StoredMessage } from "./message.ts";
import type { Shelf } from "./shelf.ts";

type Group = Map<string, StoredMessage>;

export class FifoShelf implements Shelf {
  readonly #groups = new Map<string, Group>();
  readonly #messages = new Map<string, StoredMessage>();

  get size(): number {
    return this.#messages.size;
  }

  add(message: StoredMessage): void {
    const groupId = groupOf(message);
    const group: Group = this.#groups.get(groupId) ?? new Map();
    this.#groups.set(groupId, group);
    group.set(message.id, message);
    this.#messages.set(message.id, message);
  }

  find(id: string): StoredMessage | undefined {
    return this.#messages.get(id);
  }

  remove(message: StoredMessage): void {
    const group = this.#groups.get(groupOf(message));
    group?.delete(message.id);
    if (group?.size === 0) this.#groups.delete(groupOf(message));
    this.#messages.delete(message.id);
  }

  clear(): void {
    this.#groups.clear();
    this.#messages.clear();
  }

  *all(): Iterable<StoredMessage> {
    for (const group of this.#groups.values()) yield* group.values();
  }

  /**
   * As many of one group as there are, then the next group. A message that is delayed or in flight holds back all
   * that follow it in its group, and none that come before it.
   */
  *deliverable(now: number): Iterable<StoredMessage> {
    for (const group of this.#groups.values()) {
      for (const message of group.values()) {
        if (!isVisible(message, now)) break;
        yield message;
      }
    }
  }

  noteDelivered(messages: readonly StoredMessage[]): void {
    for (const groupId of new Set(messages.map(groupOf))) {
      const group = this.#groups.get(groupId);
      if (group === undefined) continue;
      this.#groups.delete(groupId);
      this.#groups.set(groupId, group);
    }
  }
}

function groupOf(message: StoredMessage): string {
  return message.groupId ?? "";
}
