/** The service's time: signatures are valid for minutes around it, and this machine's clock may be wrong by hours. */
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

  /** How far this machine's clock is behind, as far as answers prove it. */
  get offsetMs(): number {
    return this.#state.offsetMs;
  }

  now(): number {
    return this.#clock.now() + this.offsetMs;
  }

  /** Learns from the answer to a request sent at `sentAt`, if it has the service's time. */
  learn(answer: HttpAnswer, sentAt: number): void {
    this.#state.offsetMs = clockOffsetOf(answer, sentAt, this.#clock.now()) ?? this.offsetMs;
  }

  /** Whether a request signed with that offset is worth signing again. */
  differsFrom(offsetMs: number): boolean {
    return Math.abs(this.offsetMs - offsetMs) >= NOTABLE_SKEW_MS;
  }
}
