/** The service's time: signatures hold for minutes around it, and this machine's clock may be wrong by hours. */
import type { Clock } from "../core/clock.ts";
import type { ClientState } from "./client-state.ts";

/** Further from the service's time than that, a signature is close to being refused. */
const NOTABLE_MS = 240_000;

/** Dates in HTTP have whole seconds. */
const PRECISION_MS = 1000;

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

  /**
   * An answer has told the service's time, somewhere between the sending of the request and now: a process that stood
   * still meanwhile is not a clock that is wrong.
   */
  learn(serverTimeMs: number, sentAt: number): void {
    const tooEarly = serverTimeMs + PRECISION_MS - sentAt;
    const tooLate = serverTimeMs - this.#clock.now();
    this.#state.offsetMs = tooEarly < 0 ? tooEarly : Math.max(0, tooLate);
  }

  /** Whether a request that was signed with that offset is worth to be signed again. */
  differsFrom(offsetMs: number): boolean {
    return Math.abs(this.offsetMs - offsetMs) >= NOTABLE_MS;
  }
}
