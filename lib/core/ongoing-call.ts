/** A call under way: who calls, how much time there is, how the store is asked, and what observers are told. */
import { MAX_RETENTION_SECONDS } from "../contract.ts";
import { answerWithin } from "./answer-within.ts";
import type { Clock } from "./clock.ts";
import { type Decision, tellObserver } from "./decisions.ts";
import { hasCode, isRefusedCondition, isStoreFailure } from "./error-code.ts";
import { InvalidOptionError, isOnceonlyError, StoreUnavailableError } from "./errors.ts";
import type { Identity } from "./identity.ts";
import { MIN_RENEWED_SECONDS } from "./options.ts";
import type { Seeker } from "./record.ts";
import type { ResolvedOptions } from "./resolved-options.ts";
import type { Store } from "./store.ts";

/** What a face has read before the call begins. */
export interface CallInput {
  readonly identity: Identity;
  /** The first is stored; any of them matches. */
  readonly fingerprints: readonly string[];
  /** What the fingerprints are made of, for `verify`. */
  readonly payload?: unknown;
  /** As in `Seeker`. The event may have changed before this is asked. */
  readonly isFormer?: ((fingerprint: string) => boolean) | undefined;
  /** The execution that this call was started in, where its context tells. */
  readonly within?: unknown;
  /** What is left of the invocation, in ms. */
  readonly remainingMs?: number;
  /** The caller can wait so long for another attempt's result (epoch ms); the options may say less. */
  readonly waitUntil?: number;
  /** The key may have been used from then on, as the caller says (epoch ms): its record can be older than its retention. */
  readonly usedSince?: number | undefined;
  /** The caller sent no key: this one is fresh. */
  readonly keyIsFresh?: boolean;
  /** W3C trace context of the caller. */
  readonly traceparent?: string | undefined;
  /** Takes the handler's value and returns the part that is stored and replayed. */
  readonly toStored?: (value: unknown) => unknown;
  /** Nobody reads what the handler returns, so that nothing of it is stored. A committed result is stored all the same. */
  readonly forgetsReturned?: boolean;
}

/** How long a call without a deadline, or after it, keeps trying to record how it ended, in ms. */
const RECORDING_PATIENCE_MS = 30_000;

/** How long a call waits for a request that carries the user's own writes, unless its deadline comes first, in ms. */
const WRITES_PATIENCE_MS = 900_000;

/** A crash blocks its key for this time and the clock skew; renewals of it are three requests. */
export const RENEWED_SECONDS = 30;

export class OngoingCall<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly identity: Identity;
  readonly input: CallInput;
  /** Fresh for each call: proves that a claim is ours. */
  readonly token: string;
  readonly startedAt: number;
  /** Whether the lease of this call is renewed. */
  readonly renews: boolean;
  /** How long the lease of this call is at least. */
  readonly leaseMs: number;
  /** What decisions name: the attempt of the record that was seen, then of the own claim. A run without one has none. */
  attempt: number | undefined;
  /** Observers know that the key is older than its retention. */
  isExpiryTold = false;
  #own: WeakSet<object> | undefined;

  constructor(options: ResolvedOptions<Write>, input: CallInput) {
    const { leaseSeconds, renewal, mode } = options;
    const isTimed = input.remainingMs !== undefined;
    this.renews = renewal === "always" || (renewal !== "never" && !isTimed);
    if (!isTimed && leaseSeconds === undefined && !this.renews && mode === "claimed") {
      throw new InvalidOptionError(
        "leaseSeconds",
        "must be given where the remaining time is not known: give it, or the `context` of the invocation",
        undefined,
      );
    }
    this.leaseMs =
      1000 *
      (this.renews ? Math.max(leaseSeconds ?? RENEWED_SECONDS, MIN_RENEWED_SECONDS) : (leaseSeconds ?? 0));
    this.options = options;
    this.identity = input.identity;
    this.input = input;
    this.token = options.random.token();
    this.startedAt = this.now();
  }

  now(): number {
    return this.options.clock.now();
  }

  seek(token = this.token): Seeker {
    const { fingerprints, isFormer } = this.input;
    return { token, fingerprints, isFormer, now: this.now() };
  }

  /** The fingerprint that is stored. */
  get fingerprint(): string {
    return this.input.fingerprints[0] as string;
  }

  /** When the invocation, or without one the lease of the work that began at `since`, is over (epoch ms). */
  deadline(since: number): number {
    const { remainingMs } = this.input;
    if (remainingMs !== undefined) return this.startedAt + remainingMs;
    const isBounded = this.options.leaseSeconds !== undefined && !this.renews;
    return isBounded ? since + this.leaseMs : Number.POSITIVE_INFINITY;
  }

  /** Ends a little before the deadline (epoch ms), so that there is time to answer. */
  workUntil(since: number): number {
    const deadline = this.deadline(since);
    return deadline - Math.min(500, (deadline - since) / 10);
  }

  /** How long a write that must not be lost is tried (epoch ms). */
  recordUntil(since: number): number {
    const until = this.workUntil(since);
    const now = this.now();
    // After a timeout that was only reported nobody waits for the answer.
    const isFree = until === Number.POSITIVE_INFINITY || (this.renews && now >= until);
    return isFree ? now + RECORDING_PATIENCE_MS : until;
  }

  /**
   * A claim outlives its invocation by the clock skew, so that a timeout kills the worker before its lease ends. A lease that is
   * renewed goes by no invocation.
   */
  leaseEndsAt(now: number): number {
    const { remainingMs = 0 } = this.input;
    const deadline = this.renews ? now : this.startedAt + remainingMs;
    return Math.max(deadline, now + this.leaseMs) + this.options.clockSkewSeconds * 1000;
  }

  /** Epoch seconds until which a record that ends at `from` (epoch ms) is honoured. */
  expiresAt(from: number): number {
    return Math.ceil(from / 1000 + this.options.retentionSeconds);
  }

  /** Epoch seconds until which the result of a step is kept: a record that may be held is not forgotten while it is. */
  stepExpiresAt(mayBeHeld: boolean): number {
    const { retentionSeconds } = this.options;
    const seconds = mayBeHeld ? Math.max(retentionSeconds, MAX_RETENTION_SECONDS) : 2 * retentionSeconds;
    return Math.ceil(this.now() / 1000 + seconds);
  }

  /**
   * Makes one request to the store. A client library whose connection is lost may never answer. So the wait ends a little
   * before the deadline of the call, or when the store's patience is over.
   * @throws StoreUnavailableError when no answer came. The request may still be applied, as when an answer is lost.
   */
  request<T>(request: (store: Store<Write>) => Promise<T>, hasWrites = false): Promise<T> {
    const { store } = this.options;
    const { patienceMs, patienceClock } = store;
    if (patienceMs === undefined) return request(store);
    const now = this.now();
    const lastMoment = (this.deadline(this.startedAt) + this.workUntil(this.startedAt)) / 2;
    const longest = hasWrites ? WRITES_PATIENCE_MS : patienceMs;
    // When the deadline has passed and this still runs, the deadline does not end the process.
    const ms = lastMoment > now ? Math.min(lastMoment - now, longest) : longest;
    const late = () =>
      new StoreUnavailableError("unreachable", undefined, `no answer in ${Math.ceil(ms)} ms`);
    return answerWithin(patienceClock ?? { sleep: this.#sleep }, ms, request(store), late);
  }

  /** A test's clock may sleep without any time passing. Then nothing is late. A timer may be a little early, so half counts. */
  readonly #sleep: Clock["sleep"] = async (ms, signal) => {
    const before = this.now();
    await this.options.clock.sleep(ms, signal);
    if (this.now() - before < ms / 2) await new Promise(() => {});
  };

  /** Asks the store; its failures are told one by one. */
  async ask<T>(request: (store: Store<Write>) => Promise<T>): Promise<T> {
    try {
      return await this.request(request);
    } catch (error) {
      this.#hear(error);
      throw error;
    }
  }

  #hear(error: unknown): void {
    this.own(error);
    if (hasCode(error, "STORE_UNAVAILABLE")) this.tell("store-failed", error);
  }

  /**
   * For writes that must not be lost: asks again while the store fails in a way that may pass, until `until` (epoch ms).
   * @throws the first StoreUnavailableError: if that try may have been applied, no later one can deny that, also not by
   * `COMMIT_INVALID`. A refusal of the content is thrown itself, because it would have stopped the first try too. Any other error
   * at once; a refused condition after a failure says that the first try may still be applied.
   */
  async insist<T>(
    until: number,
    request: (store: Store<Write>) => Promise<T>,
    hasWrites = false,
  ): Promise<T> {
    let first: StoreUnavailableError | undefined;
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
      try {
        return await this.request(request, hasWrites);
      } catch (error) {
        this.#hear(error);
        first = passingFailure(error, first);
        if (this.now() + pauseMs >= until) throw first;
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

  /** Whether `own` marked the error. A code proves nothing: handlers throw such errors too. */
  isOwn(error: unknown): boolean {
    return isOnceonlyError(error) && this.#own?.has(error) === true;
  }

  tell(decision: Decision, error?: unknown, ageMs?: number): void {
    tellObserver(this.options.observe, this.identity, {
      decision,
      attempt: this.attempt,
      durationMs: this.now() - this.startedAt,
      ageMs,
      error,
      traceparent: this.input.traceparent,
    });
  }
}

/**
 * The first failure of a request that is to be made again.
 * @throws the error by which the request ends: see `insist`
 */
function passingFailure(error: unknown, first: StoreUnavailableError | undefined): StoreUnavailableError {
  if (first && isRefusedCondition(error)) error.mayStillApply = true;
  if (!isStoreFailure(error)) throw first && hasCode(error, "COMMIT_INVALID") ? first : error;
  if (error.refusesContent) throw error;
  if (error.failure === "refused") throw first ?? error;
  return first ?? error;
}
