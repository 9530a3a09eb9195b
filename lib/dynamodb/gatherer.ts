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

  /** Does nothing if a full group has already left with everything that was waiting. */
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

/** Resolves when every promise that can continue has continued, so their next requests are made by then. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
