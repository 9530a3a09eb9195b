/** Lets only one process at a time do work that would cost more if several did it, such as sweeping an outbox. */
import type { Clock } from "./clock.ts";

/** Which process asks for a lease, and for how long. Times are in epoch ms. */
export interface Lease {
  /** Identifies the process, so that it can extend its lease, and so that a repeated request is recognised. */
  readonly id: string;
  readonly now: number;
  /** When the lease ends. 0 ends it immediately. */
  readonly until: number;
}

/** How long the other processes wait for one that has died. */
const LEASE_MS = 30_000;

/** The remaining time is longer than a few pieces of work last, even if their requests hang. */
const RENEW_AFTER_MS = LEASE_MS / 3;

export class Turn {
  readonly #lease: (lease: Lease) => Promise<boolean>;
  readonly #clock: Clock;
  readonly #invocation: () => Lease;
  #renewAt = 0;
  #isLost = false;
  #asking: Promise<boolean> | undefined;

  /**
   * @param lease resolves to `false` while another process has the lease
   * @param invocation returns until when this process can work
   */
  constructor(lease: (lease: Lease) => Promise<boolean>, clock: Clock, invocation: () => Lease) {
    this.#lease = lease;
    this.#clock = clock;
    this.#invocation = invocation;
  }

  /**
   * Whether this process may begin, or continue.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  async isMine(): Promise<boolean> {
    if (this.#isLost || this.#clock.now() < this.#renewAt) return !this.#isLost;
    // Several workers ask at the same time, and one request is enough for all of them.
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<boolean> {
    const { id, now, until } = this.#invocation();
    const isMine = await this.#lease({ id, now, until: Math.min(until, now + LEASE_MS) });
    this.#isLost = !isMine;
    // A lease that outlives the invocation needs no renewal.
    this.#renewAt = until <= now + LEASE_MS ? Number.POSITIVE_INFINITY : now + RENEW_AFTER_MS;
    return isMine;
  }

  /** Never rejects: the lease ends by itself. */
  async end(): Promise<void> {
    if (this.#isLost) return;
    const { id, now } = this.#invocation();
    await this.#lease({ id, now, until: 0 }).catch(() => {});
  }
}
