/** Counts the messages in flight without a look at each message: the limit is 120 000 for a queue. */
import { isInFlight, type QueuedMessage } from "./message.ts";

export class InFlight {
  readonly #messages = new Set<QueuedMessage>();
  /** No message in flight becomes visible before this time. */
  #soonest = Number.POSITIVE_INFINITY;

  /** Call this when a message was received, or its visibility timeout was changed. */
  note(message: QueuedMessage): void {
    this.#messages.add(message);
    this.#soonest = Math.min(this.#soonest, message.visibleAt);
  }

  forget(message: QueuedMessage): void {
    this.#messages.delete(message);
  }

  clear(): void {
    this.#messages.clear();
  }

  count(now: number): number {
    if (now >= this.#soonest) this.#forgetVisible(now);
    return this.#messages.size;
  }

  #forgetVisible(now: number): void {
    this.#soonest = Number.POSITIVE_INFINITY;
    for (const message of this.#messages) {
      if (isInFlight(message, now)) this.#soonest = Math.min(this.#soonest, message.visibleAt);
      else this.#messages.delete(message);
    }
  }
}
