/** What a standard queue does now and then, since SQS rules it out for FIFO queues only. */
import type { Random } from "../../core/clock.ts";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues-at-least-once-delivery.html */
export interface Disorder {
  /**
   * The part of receives that leave a message visible to others, and of deletions that leave a copy of it, which comes
   * when its visibility timeout ends: from 0 to 0.9.
   * @default 0
   */
  readonly repeats?: number | undefined;
  /**
   * Whether messages are handed out in any order.
   * @default false
   */
  readonly shuffles?: boolean | undefined;
}

export class Chance {
  readonly #disorder: Disorder;
  readonly #random: Random;

  constructor(disorder: Disorder, random: Random) {
    this.#disorder = disorder;
    this.#random = random;
  }

  /** Asks for a random number only where it matters, so that orderly queues change nothing for others. */
  repeats(): boolean {
    const { repeats = 0 } = this.#disorder;
    return repeats > 0 && this.#random.fraction() < repeats;
  }

  shuffled<T>(things: Iterable<T>): Iterable<T> {
    if (!this.#disorder.shuffles) return things;
    const left = [...things];
    for (let last = left.length - 1; last > 0; last--) {
      const other = Math.floor(this.#random.fraction() * (last + 1));
      [left[last], left[other]] = [left[other] as T, left[last] as T];
    }
    return left;
  }
}
