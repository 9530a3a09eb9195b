/** Counts what is in flight without looking at every message each time: the limit is 120000 a queue. */
import { isInFlight, type QueuedMessage } from "./message.ts";

export class InFlight {
  readonly #messages = new Set<QueuedMessage>();
  /** None of them becomes visible before. */
  #soonest = Number.POSITIVE_INFINITY;

  /** A message was received, or its visibility timeout was changed. */
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
