/** One call of one operation: who it is, how long it has, and how it tells what it decided. */
import type { Decision } from "./decisions.ts";
import { InvalidOptionError, StoreUnavailableError } from "./errors.ts";
import type { Identity } from "./identity.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Seeker } from "./record.ts";
import type { Store } from "./store.ts";

export interface Call {
  readonly identity: Identity;
  /** The first is stored; any of them matches. */
  readonly fingerprints: readonly string[];
  /** What is left of the invocation, in ms. */
  readonly remainingMs?: number;
  /** Until when the caller can wait for another one's result (epoch ms); the options may say less. */
  readonly waitUntil?: number;
  /** The caller sent no key: this one is fresh. */
  readonly keyIsFresh?: boolean;
  /** What of the handler's value is stored and replayed. */
  readonly toStored?: (value: unknown) => unknown;
}

/** How long an optimistic call without a known deadline keeps trying to record its result. */
const UNKNOWN_DEADLINE_MS = 30_000;

export class Operation<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly identity: Identity;
  readonly call: Call;
  /** Fresh for each call: proves that a record is ours. */
  readonly token: string;
  readonly startedAt: number;

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
    this.startedAt = options.clock.now();
  }

  get seeker(): Seeker {
    return { token: this.token, fingerprints: this.call.fingerprints, now: this.options.clock.now() };
  }

  /** When the invocation, or without one the work, must be over (epoch ms). */
  deadline(since: number): number {
    if (this.call.remainingMs !== undefined) return this.startedAt + this.call.remainingMs;
    return (
      since +
      (this.options.leaseSeconds === undefined ? UNKNOWN_DEADLINE_MS : this.options.leaseSeconds * 1000)
    );
  }

  /** A claim outlives the invocation by the clock skew, so that a timeout kills the worker before its lease ends. */
  leaseEndsAt(now: number): number {
    const configured = now + (this.options.leaseSeconds ?? 0) * 1000;
    return Math.max(this.deadline(now), configured) + this.options.clockSkewSeconds * 1000;
  }

  /** Epoch seconds until which a record that ends at `from` (epoch ms) is honoured. */
  expiresAt(from: number): number {
    return Math.ceil(from / 1000 + this.options.retentionSeconds);
  }

  /** Kept back for answering, in ms: the signal aborts this long before the deadline. */
  margin(since: number): number {
    return Math.min(500, (this.deadline(since) - since) / 10);
  }

  /** Asks the store; its failures are told one by one. */
  async ask<T>(request: (store: Store<Write>) => Promise<T>): Promise<T> {
    try {
      return await request(this.options.store);
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.tell("store-failed", { error });
      throw error;
    }
  }

  tell(decision: Decision, details: { attempt?: number; error?: unknown } = {}): void {
    const { operation, keyHash } = this.identity;
    const durationMs = this.options.clock.now() - this.startedAt;
    try {
      this.options.observe({ decision, operation, keyHash, durationMs, ...details });
    } catch {
      // Watching must not change an outcome.
    }
  }
}
