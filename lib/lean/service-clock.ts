/** The service's time: signatures hold for minutes around it, and this machine's clock may be wrong by hours. */
import type { Clock } from "../core/clock.ts";
import { clockOffsetOf, type HttpAnswer, NOTABLE_SKEW_MS } from "../dynamodb/wire/json.ts";
import type { ClientState } from "./client-state.ts";

export class ServiceClock {
  readonly #clock: Pick<Clock, "now">;
  readonly #state: ClientState;

  constructor(clock: Pick<Clock, "now">, state: ClientState) {
    this.#clock = clock;
    this.#state = state;
  }

  /** What this machine's clock is behind by, as far as answers prove it. */
  get offsetMs(): number {
    return this.#state.offsetMs;
  }

  now(): number {
    return this.#clock.now() + this.offsetMs;
  }

  /** From the answer to a request of `sentAt`, where it tells the service's time. */
  learn(answer: HttpAnswer, sentAt: number): void {
    this.#state.offsetMs = clockOffsetOf(answer, sentAt, this.#clock.now()) ?? this.offsetMs;
  }

  /** Whether a request that was signed with that offset is worth to be signed again. */
  differsFrom(offsetMs: number): boolean {
    return Math.abs(this.offsetMs - offsetMs) >= NOTABLE_SKEW_MS;
  }
}
