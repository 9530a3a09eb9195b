/** Renews the lease of one attempt while its work goes on, with one request every third of the lease. */
import { startTimer } from "./clock.ts";
import { ClaimLostError } from "./errors.ts";
import type { Lease } from "./lease.ts";
import type { OngoingCall } from "./ongoing-call.ts";

export class LeaseRenewal<Write> {
  readonly #call: OngoingCall<Write>;
  readonly #lease: Lease<Write>;
  readonly #lose: (reason: ClaimLostError) => void;
  /** When the next request is due (epoch ms); infinite while one is under way. */
  #askAt: number;
  #cancelTimer = () => {};
  #isOver = false;

  /** @param lose called once, if the claim is lost or may be by now */
  constructor(call: OngoingCall<Write>, lease: Lease<Write>, lose: (reason: ClaimLostError) => void) {
    this.#call = call;
    this.#lease = lease;
    this.#lose = lose;
    this.#askAt = lease.since + call.leaseMs / 3;
    this.#watch();
  }

  /** Leaves no timer running. The answer to a pending request no longer changes anything. */
  stop(): void {
    this.#isOver = true;
    this.#cancelTimer();
  }

  /** A hanging request doesn't hide the end of the lease. */
  #watch(): void {
    const { liveUntil } = this.#lease;
    if (this.#isOver || liveUntil === Number.POSITIVE_INFINITY) return;
    const now = this.#call.now();
    if (now >= liveUntil) {
      this.#end(leaseEnded());
      return;
    }
    if (now >= this.#askAt) {
      this.#askAt = Number.POSITIVE_INFINITY;
      void this.#ask();
    }
    const ms = Math.min(this.#askAt, liveUntil) - now;
    this.#cancelTimer = startTimer(this.#call.options.clock, ms, () => this.#wake(now, ms), "background");
  }

  #wake(since: number, ms: number): void {
    const passed = this.#call.now() - since;
    // A timer may be early by less than a millisecond, which the clock doesn't show.
    if (passed > 0 || (passed === 0 && ms < 2)) this.#watch();
    // A clock that was set back can't show when other calls take over. One whose sleeps last no time would never end.
    if (passed < 0) this.#end(leaseEnded());
  }

  async #ask(): Promise<void> {
    const { leaseMs, options } = this.#call;
    const askedAt = this.#call.now();
    try {
      const isHeld = await this.#lease.renew();
      if (!isHeld && !this.#isOver) this.#end(new ClaimLostError());
      this.#askAt = askedAt + leaseMs / 3;
    } catch {
      // Already reported to observers. Many invocations in one process are throttled together, so spread their retries.
      this.#askAt = this.#call.now() + (leaseMs / 30) * (0.5 + options.random.fraction());
    }
    this.#cancelTimer();
    this.#watch();
  }

  #end(reason: ClaimLostError): void {
    this.stop();
    this.#lose(reason);
  }
}

/** The process was frozen, or no renewal was answered. */
export const leaseEnded = (): ClaimLostError =>
  new ClaimLostError("the lease ended before it could be renewed: stop, and retry later");
