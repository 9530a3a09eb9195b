/** Lets one sweeper at a time go through an outbox: two would take each other's commits, and pay for each refusal. */
import type { Clock } from "../core/clock.ts";
import type { Outbox, Taking } from "../core/messages/outbox.ts";

/** How long the others wait for a sweeper that has died. */
const LEASE_MS = 30_000;

/** The rest is longer than a few commits take, even if their destination hangs. */
const RENEW_AFTER_MS = LEASE_MS / 3;

type Invocation = () => Pick<Taking, "id" | "now" | "until">;

export class SweepTurn {
  readonly #outbox: Pick<Outbox, "leaseSweep">;
  readonly #clock: Clock;
  readonly #invocation: Invocation;
  #renewAt = 0;
  #isLost = false;
  #asking: Promise<boolean> | undefined;

  constructor(outbox: Pick<Outbox, "leaseSweep">, clock: Clock, invocation: Invocation) {
    this.#outbox = outbox;
    this.#clock = clock;
    this.#invocation = invocation;
  }

  /**
   * Whether this sweeper may begin, or go on.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  async isMine(): Promise<boolean> {
    if (this.#isLost || this.#clock.now() < this.#renewAt) return !this.#isLost;
    // Shards are swept at the same time, and one request is enough for all of them.
    this.#asking ??= this.#lease().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #lease(): Promise<boolean> {
    const { id, now, until } = this.#invocation();
    const isMine = await this.#outbox.leaseSweep({ id, now, until: Math.min(until, now + LEASE_MS) });
    this.#isLost = !isMine;
    // A lease that outlives the invocation needs no renewal.
    this.#renewAt = until <= now + LEASE_MS ? Number.POSITIVE_INFINITY : now + RENEW_AFTER_MS;
    return isMine;
  }

  /** Never rejects: the lease ends by itself. */
  async end(): Promise<void> {
    if (this.#isLost) return;
    const { id, now } = this.#invocation();
    await this.#outbox.leaseSweep({ id, now, until: 0 }).catch(() => {});
  }
}
