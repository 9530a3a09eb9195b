/** Disorder of standard queues: SQS rules out repetition and changed order for FIFO queues only. */
import type { Random } from "onceonly/kit";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues-at-least-once-delivery.html */
export interface Disorder {
  /**
   * The share of receives that leave a message visible to others, from 0 to 0.9. The same share of deletions
   * leaves a copy, which comes back when its visibility timeout ends.
   * @default 0
   */
  readonly repeats?: number | undefined;
  /**
   * Whether messages come in a random order.
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

  /** Draws a random number only when there is disorder, so an orderly queue doesn't change other draws. */
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
