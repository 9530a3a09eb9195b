/** Gathers requests of one kind into groups: those made in one turn of the event loop, or while another group is under way. */
import type { Clock } from "../core/clock.ts";

/** Longer than most requests last: whatever waits for a slow one goes on without it. */
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
  /** A full group has left in this turn. */
  #overflows = false;

  /** @param send resolves when the request of the group is over; it never rejects */
  constructor(clock: Clock, limit: number, send: (members: readonly Member<Input>[]) => Promise<void>) {
    this.#clock = clock;
    this.#limit = limit;
    this.#send = send;
  }

  /** A request that doesn't wait leaves at the end of the turn, together with those waiting for a group under way. */
  ask(input: Input, { waits = true } = {}): Promise<never> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, resolve, reject });
      if (this.#waiting.length === this.#limit) void this.#leaveFull();
      else if (this.#waiting.length === 1 || !waits) void this.#leaveSoon(waits && !this.#overflows);
    });
  }

  /** What else is asked in this turn leaves at its end, and doesn't wait for the full group. */
  async #leaveFull(): Promise<void> {
    this.#leave();
    this.#overflows = true;
    await endOfTurn();
    this.#overflows = false;
  }

  async #leaveSoon(waits: boolean): Promise<void> {
    const members = this.#waiting;
    if (waits && this.#underWay) {
      const over = new AbortController();
      await Promise.race([this.#underWay, this.#clock.sleep(MAX_WAIT_MS, over.signal)]);
      over.abort();
    }
    await endOfTurn();
    // A full group, or one that couldn't wait, may have taken these members along. Those after them wait for their own time.
    if (this.#waiting === members) this.#leave();
  }

  #leave(): void {
    const members = this.#waiting;
    this.#waiting = [];
    const underWay = this.#send(members).then(() => {
      if (this.#underWay === underWay) this.#underWay = undefined;
    });
    this.#underWay = underWay;
  }
}

/** Resolves when every promise that can continue has continued, so their next requests are made by then. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
