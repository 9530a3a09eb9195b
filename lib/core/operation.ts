/** One call of one operation: who it is, how long it has, how it asks the store and tells what it decided. */
import { type Decision, tellObserver } from "./decisions.ts";
import { isRefusedCondition, isStoreFailure } from "./error-code.ts";
import { InvalidOptionError, isOnceonlyError, type StoreUnavailableError } from "./errors.ts";
import type { Identity } from "./identity.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Seeker } from "./record.ts";
import type { Store } from "./store.ts";

export interface Call {
  readonly identity: Identity;
  /** The first is stored; any of them matches. */
  readonly fingerprints: readonly string[];
  /** As in `Seeker`. The event may have changed when it is asked. */
  readonly isFormer?: ((fingerprint: string) => boolean) | undefined;
  /** The execution that this call was started in, where its context tells. */
  readonly within?: unknown;
  /** What is left of the invocation, in ms. */
  readonly remainingMs?: number;
  /** Until when the caller can wait for another one's result (epoch ms); the options may say less. */
  readonly waitUntil?: number;
  /** The caller sent no key: this one is fresh. */
  readonly keyIsFresh?: boolean;
  /** In the name of which trace the caller asks, where it says so. */
  readonly traceparent?: string | undefined;
  /** Takes the handler's value and returns the part that is stored and replayed. */
  readonly toStored?: (value: unknown) => unknown;
  /** Nobody reads what the handler returns: only that it is done is stored. What it commits is stored as ever. */
  readonly forgetsReturned?: boolean;
}

/** How long a call without a known deadline keeps trying to record how it ended, in ms. */
const RECORDING_PATIENCE_MS = 30_000;

export class Operation<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly identity: Identity;
  readonly call: Call;
  /** Fresh for each call: proves that a record is ours. */
  token: string;
  readonly startedAt: number;
  /** Of this call's claim, until then of the record that was seen. A run without a claim has none. */
  attempt: number | undefined;
  /** The key was found to be older than its retention, and that was told. */
  keyIsExpired = false;
  #own: WeakSet<object> | undefined;

  constructor(options: ResolvedOptions<Write>, call: Call) {
    if (call.remainingMs === undefined && options.leaseSeconds === undefined && options.mode === "claimed") {
      throw new InvalidOptionError(
        "leaseSeconds",
        "must be given where the remaining time is not known",
        undefined,
      );
    }
    this.options = options;
    this.identity = call.identity;
    this.call = call;
    this.token = options.random.token();
    this.startedAt = this.now();
  }

  now(): number {
    return this.options.clock.now();
  }

  seek(): Seeker {
    const { fingerprints, isFormer } = this.call;
    return { token: this.token, fingerprints, isFormer, now: this.now() };
  }

  /** The one that is stored. */
  get fingerprint(): string {
    return this.call.fingerprints[0] as string;
  }

  /** From now on no record is ours that was made before. */
  renewToken(): void {
    this.token = this.options.random.token();
  }

  /** When the invocation, or without one the lease of the work that began at `since`, is over (epoch ms). */
  deadline(since: number): number {
    const { remainingMs } = this.call;
    if (remainingMs !== undefined) return this.startedAt + remainingMs;
    const { leaseSeconds } = this.options;
    return leaseSeconds === undefined ? Number.POSITIVE_INFINITY : since + leaseSeconds * 1000;
  }

  /** Ends a little before the deadline (epoch ms), so that there is time to answer. */
  workUntil(since: number): number {
    const deadline = this.deadline(since);
    return deadline - Math.min(500, (deadline - since) / 10);
  }

  /** How long a write that must not be lost is tried (epoch ms). */
  recordUntil(since: number): number {
    const until = this.workUntil(since);
    return until === Number.POSITIVE_INFINITY ? this.now() + RECORDING_PATIENCE_MS : until;
  }

  /** A claim outlives the invocation by the clock skew, so that a timeout kills the worker before its lease ends. */
  leaseEndsAt(now: number): number {
    const { leaseSeconds = 0, clockSkewSeconds } = this.options;
    const { remainingMs } = this.call;
    const deadline = remainingMs === undefined ? now : this.startedAt + remainingMs;
    return Math.max(deadline, now + leaseSeconds * 1000) + clockSkewSeconds * 1000;
  }

  /** Epoch seconds until which a record that ends at `from` (epoch ms) is honoured. */
  expiresAt(from: number): number {
    return Math.ceil(from / 1000 + this.options.retentionSeconds);
  }

  /** Asks the store; its failures are told one by one. */
  async ask<T>(request: (store: Store<Write>) => Promise<T>): Promise<T> {
    try {
      return await request(this.options.store);
    } catch (error) {
      this.#hear(error);
      throw error;
    }
  }

  #hear(error: unknown): void {
    if (isStoreFailure(error)) this.tell("store-failed", error);
  }

  /**
   * For writes that must not be lost: asks again while the store fails in a way that may pass, until `until` (epoch ms).
   * @throws the first StoreUnavailableError: if that try may have been applied, no later one can deny it. Any other
   * error at once; a refused condition then says that the first try may still be applied.
   */
  async insist<T>(until: number, request: (store: Store<Write>) => Promise<T>): Promise<T> {
    let first: StoreUnavailableError | undefined;
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
      try {
        return await request(this.options.store);
      } catch (error) {
        this.#hear(error);
        if (first && isRefusedCondition(error)) error.mayStillApply = true;
        if (!isStoreFailure(error)) throw error;
        first ??= error;
        if (error.failure === "refused" || this.now() + pauseMs >= until) throw first;
        await this.pause(pauseMs);
      }
    }
  }

  /** Sleeps for between half of `ms` and all of it. */
  pause(ms: number): Promise<void> {
    const { clock, random } = this.options;
    return clock.sleep(Math.ceil(ms * (0.5 + random.fraction() / 2)));
  }

  /** Marks an error as one that onceonly made about this call. */
  own(error: unknown): unknown {
    if (isOnceonlyError(error)) {
      this.#own ??= new WeakSet();
      this.#own.add(error);
      if (Object.isExtensible(error)) error.keyHash ??= this.identity.keyHash;
    }
    return error;
  }

  /** Whether it was marked here. A code proves nothing: handlers throw such errors too, of their own and of other calls. */
  isOwn(error: unknown): boolean {
    return isOnceonlyError(error) && this.#own?.has(error) === true;
  }

  tell(decision: Decision, error?: unknown, ageMs?: number): void {
    const { attempt, identity, startedAt, options } = this;
    const { operation, keyHash } = identity;
    const durationMs = this.now() - startedAt;
    tellObserver(options.observe, { decision, operation, keyHash, attempt, durationMs, ageMs, error });
  }
}
