/** A call under way: its caller, its remaining time, its requests to the store, and its reports to observers. */
import { MAX_RETENTION_SECONDS } from "../contract.ts";
import { answerWithin } from "./answer-within.ts";
import { type Clock, pause, systemClock } from "./clock.ts";
import { type Decision, reportDecision } from "./decisions.ts";
import { hasCode, isRefusedCondition, isStoreFailure } from "./error-code.ts";
import { InvalidOptionError, isOnceonlyError, StoreUnavailableError } from "./errors.ts";
import type { Identity } from "./identity.ts";
import { MIN_RENEWED_SECONDS } from "./options.ts";
import type { Claimant, IdempotencyRecord } from "./record.ts";
import type { ResolvedOptions } from "./resolved-options.ts";
import type { Store } from "./store.ts";
import { markedToken } from "./token-marks.ts";

/** Read by an adapter before the call begins. */
export interface CallInput {
  readonly identity: Identity;
  /** The first one is stored; any of them matches. */
  readonly fingerprints: readonly string[];
  /** The source of the fingerprints, for `verify`. */
  readonly payload?: unknown;
  /** As in `Claimant`. The event may have changed before this is called. */
  readonly isFormer?: ((fingerprint: string) => boolean) | undefined;
  /** The execution in which this call was started, if its context shows it. */
  readonly within?: unknown;
  /** The remaining time of the invocation, in ms. */
  readonly remainingMs?: number;
  /** How long the caller can wait for another attempt's result (epoch ms); the options may set less. */
  readonly waitUntil?: number;
  /**
   * The earliest time at which the key may have been used, according to the caller (epoch ms): its record can be older than its
   * retention.
   */
  readonly usedSince?: number | undefined;
  /** The caller sent no key, so a new one was created. */
  readonly keyIsFresh?: boolean;
  /** The caller's W3C trace context. */
  readonly traceparent?: string | undefined;
  /** Converts the handler's value to the part that is stored and replayed. */
  readonly toStored?: (value: unknown) => unknown;
  /** The callers read an HTTP response: the record shows it to whoever settles the key by hand. */
  readonly isHttp?: boolean;
  /** The handler's return value is never read, so it isn't stored. A committed result is stored all the same. */
  readonly forgetsReturned?: boolean;
  /**
   * How all tokens of this call begin, if its work goes on in later calls, as in a durable execution. One of these calls runs
   * at a time, and each takes over the claim of the previous one.
   */
  readonly owner?: string | undefined;
}

/** How long a call keeps trying to record how it ended, in ms, if it has no deadline or is past it. */
const RECORDING_PATIENCE_MS = 30_000;

/** How long a call waits for a request with the user's own writes, unless its deadline comes first, in ms. */
const WRITES_PATIENCE_MS = 900_000;

/** A crash blocks its key for this time plus the clock skew. Renewing such a lease costs three requests per period. */
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
  /** The minimum duration of this call's lease. */
  readonly leaseMs: number;
  /**
   * The attempt number in decisions: of the record that was seen, then of the call's own claim. Absent in a run without a
   * claim.
   */
  attempt: number | undefined;
  /** The claim was that of an earlier call with the same owner, whose effects have happened. */
  isContinued = false;
  /** Observers have been notified that the key is older than its retention. */
  isExpiryReported = false;
  #own: WeakSet<object> | undefined;

  constructor(options: ResolvedOptions<Write>, input: CallInput) {
    const { leaseSeconds, renewal, mode } = options;
    const isTimed = input.remainingMs !== undefined;
    this.renews = renewal === "always" || (renewal !== "never" && !isTimed);
    if (!isTimed && leaseSeconds === undefined && !this.renews && mode === "claimed") {
      throw new InvalidOptionError(
        "leaseSeconds",
        "is required if the remaining time isn't known: pass it, or the `context` of the invocation",
        undefined,
      );
    }
    this.leaseMs =
      1000 *
      (this.renews ? Math.max(leaseSeconds ?? RENEWED_SECONDS, MIN_RENEWED_SECONDS) : (leaseSeconds ?? 0));
    this.options = options;
    this.identity = input.identity;
    this.input = input;
    this.token = this.newToken();
    this.startedAt = this.now();
  }

  /** Whether an earlier call with the same owner made this claim, which is still open. */
  continues(record: IdempotencyRecord | undefined): boolean {
    const { owner } = this.input;
    return Boolean(owner && record?.state === "in-progress" && record.token.includes(owner));
  }

  now(): number {
    return this.options.clock.now();
  }

  newToken(): string {
    const { random, store } = this.options;
    return markedToken(random.token(), this.input.isHttp, store);
  }

  seek(token = this.token): Claimant {
    const { fingerprints, isFormer } = this.input;
    return { token, fingerprints, isFormer, now: this.now() };
  }

  /** The fingerprint that is stored. */
  get fingerprint(): string {
    return this.input.fingerprints[0] as string;
  }

  /** The end of the invocation, or else of the lease of work that began at `since` (epoch ms). */
  deadline(since: number): number {
    const { remainingMs } = this.input;
    if (remainingMs !== undefined) return this.startedAt + remainingMs;
    const isBounded = this.options.leaseSeconds !== undefined && !this.renews;
    return isBounded ? since + this.leaseMs : Number.POSITIVE_INFINITY;
  }

  /** A little before the deadline (epoch ms), so that there is time to answer. */
  workUntil(since: number): number {
    const deadline = this.deadline(since);
    return deadline - Math.min(500, (deadline - since) / 10);
  }

  /** Until when a write that must not be lost is retried (epoch ms). */
  recordUntil(since: number): number {
    const until = this.workUntil(since);
    const now = this.now();
    // After a timeout that was only reported, no caller waits for the answer.
    const isFree = until === Number.POSITIVE_INFINITY || (this.renews && now >= until);
    return isFree ? now + RECORDING_PATIENCE_MS : until;
  }

  /**
   * A claim outlives its invocation by the clock skew, so that a timeout kills the worker before its lease ends. A renewed
   * lease doesn't depend on the invocation.
   */
  leaseEndsAt(now: number): number {
    const { remainingMs = 0 } = this.input;
    const deadline = this.renews ? now : this.startedAt + remainingMs;
    return Math.max(deadline, now + this.leaseMs) + this.options.clockSkewSeconds * 1000;
  }

  /** Until when a record that ends at `from` (epoch ms) is honoured, in epoch seconds. */
  expiresAt(from: number): number {
    return Math.ceil(from / 1000 + this.options.retentionSeconds);
  }

  /** Until when the result of a step is kept, in epoch seconds. It must outlast a record that may be held. */
  stepExpiresAt(mayBeHeld: boolean): number {
    const { retentionSeconds } = this.options;
    const seconds = mayBeHeld ? Math.max(retentionSeconds, MAX_RETENTION_SECONDS) : 2 * retentionSeconds;
    return Math.ceil(this.now() / 1000 + seconds);
  }

  /**
   * Makes one request to the store. A client library whose connection is lost may never answer. So the wait ends a little
   * before the deadline of the call, or when the store's patience is over.
   * @throws StoreUnavailableError if no answer came. The request may still be applied, as when an answer is lost.
   */
  request<T>(request: (store: Store<Write>) => Promise<T>, hasWrites = false): Promise<T> {
    const { store } = this.options;
    const { patienceMs, patienceClock } = store;
    if (patienceMs === undefined) return request(store);
    const now = this.now();
    const lastMoment = (this.deadline(this.startedAt) + this.workUntil(this.startedAt)) / 2;
    const longest = hasWrites ? WRITES_PATIENCE_MS : patienceMs;
    // If this still runs after the deadline, the deadline doesn't end the process.
    const ms = lastMoment > now ? Math.min(lastMoment - now, longest) : longest;
    const late = () =>
      new StoreUnavailableError("unreachable", undefined, `no answer in ${Math.ceil(ms)} ms`);
    const { clock } = this.options;
    const patient = patienceClock ?? (clock === systemClock ? clock : { sleep: this.#sleep });
    return answerWithin(patient, ms, request(store), late);
  }

  /** A test's clock may sleep without any time passing. Then nothing is late. A timer may be a little early, so half counts. */
  readonly #sleep: Clock["sleep"] = async (ms, signal) => {
    const before = this.now();
    await this.options.clock.sleep(ms, signal);
    if (this.now() - before < ms / 2) await new Promise(() => {});
  };

  /** Sends a request to the store and reports each failure. */
  async ask<T>(request: (store: Store<Write>) => Promise<T>): Promise<T> {
    try {
      return await this.request(request);
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
  }

  #noteFailure(error: unknown): void {
    this.own(error);
    if (hasCode(error, "STORE_UNAVAILABLE")) this.report("store-failed", error);
  }

  /**
   * For writes that must not be lost: retries temporary store failures until `until` (epoch ms).
   * @throws the first StoreUnavailableError: if that try may have been applied, no later one can deny that, not even with
   * `COMMIT_INVALID`. A refusal of the content is thrown itself, because it would have stopped the first try too. Any other
   * error immediately; a refused condition after a failure says that the first try may still be applied.
   */
  async retryUntil<T>(
    until: number,
    request: (store: Store<Write>) => Promise<T>,
    hasWrites = false,
  ): Promise<T> {
    let first: StoreUnavailableError | undefined;
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
      try {
        return await this.request(request, hasWrites);
      } catch (error) {
        this.#noteFailure(error);
        first = passingFailure(error, first);
        if (this.now() + pauseMs >= until) throw first;
        await this.pause(pauseMs);
      }
    }
  }

  /** Sleeps for between half of `ms` and all of it. */
  pause(ms: number): Promise<void> {
    return pause(this.options, ms);
  }

  /** Marks an error as one that onceonly created for this call. */
  own(error: unknown): unknown {
    if (isOnceonlyError(error)) {
      this.#own ??= new WeakSet();
      this.#own.add(error);
      if (Object.isExtensible(error)) error.keyHash ??= this.identity.keyHash;
    }
    return error;
  }

  /** Whether `own` marked the error. A code proves nothing, because handlers throw such errors too. */
  isOwn(error: unknown): boolean {
    return isOnceonlyError(error) && this.#own?.has(error) === true;
  }

  report(decision: Decision, error?: unknown, ageMs?: number): void {
    reportDecision(this.options.observe, this.identity, {
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
 * The first failure of a request that will be retried.
 * @throws the error that ends the request: see `retryUntil`
 */
function passingFailure(error: unknown, first: StoreUnavailableError | undefined): StoreUnavailableError {
  if (first && isRefusedCondition(error)) error.mayStillApply = true;
  if (!isStoreFailure(error)) throw first && hasCode(error, "COMMIT_INVALID") ? first : error;
  if (error.refusesContent) throw error;
  if (error.failure === "refused") throw first ?? error;
  return first ?? error;
}
