/** Gathers requests of one kind into groups: what is asked in one turn of the event loop, or behind a group under way. */
import type { Clock } from "../core/clock.ts";

/** More than most requests take: whoever waits behind a slow one goes on without it. */
const MAX_WAIT_MS = 20;

export interface Member<Input = unknown> {
  readonly input: Input;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

export class Gatherer<Input> {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #send: (members: readonly Member<Input>[]) => Promise<void>;
  #waiting: Member<Input>[] = [];
  #underWay: Promise<void> | undefined;

  /** @param send resolves when the request of the group is over; it never rejects */
  constructor(clock: Clock, limit: number, send: (members: readonly Member<Input>[]) => Promise<void>) {
    this.#clock = clock;
    this.#limit = limit;
    this.#send = send;
  }

  /** What does not wait leaves at the end of the turn, and takes along what waits behind a group under way. */
  ask(input: Input, { waits = true } = {}): Promise<never> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      if (this.#waiting.length === this.#limit) this.#leave();
      else if (this.#waiting.length === 1 || !waits) void this.#leaveSoon(waits);
    });
  }

  async #leaveSoon(waits: boolean): Promise<void> {
    if (waits && this.#underWay) {
      const over = new AbortController();
      await Promise.race([this.#underWay, this.#clock.sleep(MAX_WAIT_MS, over.signal)]);
      over.abort();
    }
    await endOfTurn();
    this.#leave();
  }

  /** A group that was full has left before, and took what waited with it. */
  #leave(): void {
    const members = this.#waiting;
    if (members.length === 0) return;
    this.#waiting = [];
    const underWay = this.#send(members).then(() => {
      if (this.#underWay === underWay) this.#underWay = undefined;
    });
    this.#underWay = underWay;
  }
}

/** Resolves when all promises that can go on have gone on: their next requests are made by then. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
