/** When an attempt has to stop: shortly before its deadline, or as soon as a renewed lease is lost. */
import { startTimer } from "./clock.ts";
import type { Lease } from "./lease.ts";
import { LeaseRenewal, leaseEnded } from "./lease-renewal.ts";
import type { OngoingCall } from "./ongoing-call.ts";

export class AttemptSignal<Write> {
  readonly #call: OngoingCall<Write>;
  readonly #lease: Lease<Write>;
  /** When the work should stop, so that there is time to answer (epoch ms). */
  readonly #stopAt: number;
  #abort: AbortController | undefined;
  #stopTimer: (() => void) | undefined;
  #isDisarmed = false;
  #renewal: LeaseRenewal<Write> | undefined;
  /** Why this attempt's lease no longer counts. */
  #lost: Error | undefined;

  constructor(call: OngoingCall<Write>, lease: Lease<Write>) {
    this.#call = call;
    this.#lease = lease;
    this.#stopAt = call.workUntil(lease.since);
  }

  /** Created when the handler reads it: a signal and its timer cost more than the rest of an attempt. */
  get signal(): AbortSignal {
    this.#abort ??= this.#startTimer();
    return this.#abort.signal;
  }

  /** Whether the work may go on after its answer. */
  get isAborted(): boolean {
    return this.#abort?.signal.aborted || this.#reasonToStop() !== undefined;
  }

  /** For work that isn't finished yet. Finished work needs no timer. */
  keepLease(): void {
    this.#renewal = new LeaseRenewal(this.#call, this.#lease, (reason) => this.lose(reason));
  }

  /** From now on the work can't record anything. */
  lose(reason: Error): void {
    this.#lost = reason;
    this.#abort?.abort(reason);
  }

  /** For work whose end can't be seen: its lease would be renewed forever. The claim stays for the rest of its lease. */
  leaveLease(): void {
    this.#renewal?.stop();
  }

  /** The call is over: there is nothing left to abort. */
  disarm(): void {
    this.#isDisarmed = true;
    this.#stopTimer?.();
    this.leaveLease();
  }

  /** A timer can be late: after a freeze the clock knows first. */
  #reasonToStop(): Error | undefined {
    const now = this.#call.now();
    if (this.#call.renews && now >= this.#lease.liveUntil) this.#lost ??= leaseEnded();
    return this.#lost ?? (now >= this.#stopAt ? deadlineNear() : undefined);
  }

  #startTimer(): AbortController {
    const work = new AbortController();
    const reason = this.#reasonToStop();
    if (reason) work.abort(reason);
    const ms = this.#stopAt - this.#call.now();
    if (reason || ms === Number.POSITIVE_INFINITY || this.#isDisarmed) return work;
    this.#stopTimer = startTimer(this.#call.options.clock, ms, () => work.abort(deadlineNear()));
    return work;
  }
}

const deadlineNear = (): Error => new Error("the deadline of this attempt is near");
