/** What a handler sees of its own attempt, and the one place where its effects are committed. */
import { type ChildKeyLimits, deriveChildKey } from "./child-key.ts";
import { CommitInvalidError, StoreUnavailableError } from "./errors.ts";
import type { Operation } from "./operation.ts";
import { answerAfterLoss, type Outcome } from "./refusal.ts";
import { decodeResult, encodeResult } from "./result.ts";
import type { SettleAnswer } from "./store.ts";

/** One attempt at an operation, as its handler sees it. */
export interface Execution<Write = unknown> {
  /** The idempotency key of the caller, or the derived one. */
  readonly key: string;
  readonly operation: string;
  /** The verified owner of the key; empty for public operations. */
  readonly scope: string;
  /** Counts the claims of this key, from 1: a fencing number to pass on. Always 1 in the optimistic mode. */
  readonly attempt: number;
  /** Aborts shortly before the deadline. Work that goes on after it may be repeated by a retry. */
  readonly signal: AbortSignal;
  /**
   * Records `result` and applies `writes` in one transaction: all of it, once, or nothing. Resolves to the
   * result that every caller gets: this one, or the winner's if another attempt was first.
   * At most once per attempt, and before the handler returns.
   * @throws TransactionConditionError (`TRANSACTION_CONDITION`) when a condition of `writes` is not met: nothing
   * is written, and the handler may commit something else. ResponseNotStorableError, CommitInvalidError: nothing
   * is written. ClaimLostError, StoreUnavailableError.
   */
  commit<T>(result: T, effects?: { readonly writes?: readonly Write[] }): Promise<T>;
  /**
   * A key for a system this handler calls, the same for every attempt: pass it on as that system's idempotency key.
   * @throws InvalidOptionError (`INVALID_OPTION`) when the limits leave less than 128 bits.
   */
  childKey(name: string, limits?: ChildKeyLimits): string;
}

/** The caller's own code. */
export type Work<Write> = (execution: Execution<Write>) => unknown;

/** Writes a finished state: under the claim, or as an insertion. */
export type Finish<Write> = (
  state: "completed" | "failed",
  text: string | undefined,
  writes: readonly Write[],
) => Promise<SettleAnswer>;

export class Attempt<Write> implements Execution<Write> {
  readonly key: string;
  readonly operation: string;
  readonly scope: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** The answer of the call, once a commit has decided it. */
  outcome: Outcome | undefined;
  /** Why this attempt has no answer although it tried to record one. */
  lost: { readonly error: unknown } | undefined;
  /** A commit failed in a way that leaves open whether it was applied. */
  unknown: { readonly error: unknown } | undefined;
  readonly #operation: Operation<Write>;
  readonly #finish: Finish<Write>;
  #pending: Promise<unknown> | undefined;
  #closed = false;

  constructor(operation: Operation<Write>, attempt: number, signal: AbortSignal, finish: Finish<Write>) {
    this.key = operation.identity.key;
    this.operation = operation.identity.operation;
    this.scope = operation.identity.scope;
    this.attempt = attempt;
    this.signal = signal;
    this.#operation = operation;
    this.#finish = finish;
  }

  async commit<T>(result: T, effects: { readonly writes?: readonly Write[] } = {}): Promise<T> {
    if (this.#closed)
      throw new CommitInvalidError("this attempt is over: await commit before the handler returns");
    if (this.#pending !== undefined)
      throw new CommitInvalidError("commit was already called: commit everything at once");
    const writes = effects.writes ?? [];
    this.#operation.options.store.checkWrites(writes);
    const text = encodeResult(this.toStored(result));
    const pending = this.#commit(result, text, writes);
    this.#pending = pending;
    return (await pending) as T;
  }

  async #commit(original: unknown, text: string | undefined, writes: readonly Write[]): Promise<unknown> {
    try {
      this.outcome = await this.conclude("completed", text, writes, original);
      return this.outcome.result;
    } catch (error) {
      if (error instanceof StoreUnavailableError && error.failure !== "refused") this.unknown = { error };
      else if (this.lost === undefined) this.#pending = undefined;
      throw error;
    }
  }

  /** Finishes the record, and answers with what it says then. */
  async conclude(
    state: "completed" | "failed",
    text: string | undefined,
    writes: readonly Write[],
    original: unknown,
  ): Promise<Outcome> {
    const answer = await this.#finish(state, text, writes);
    if (answer.settled) {
      this.#operation.tell("executed", { attempt: this.attempt });
      return { replayed: false, result: decodeResult(text), original };
    }
    try {
      return await answerAfterLoss(this.#operation, answer.record, this.attempt);
    } catch (error) {
      this.lost = { error };
      throw error;
    }
  }

  toStored(value: unknown): unknown {
    const { toStored } = this.#operation.call;
    return toStored === undefined ? value : toStored(value);
  }

  /** Nothing can be committed any more; a commit under way is waited for. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#pending?.catch(() => {});
  }

  childKey(name: string, limits?: ChildKeyLimits): string {
    return deriveChildKey(this.#operation.identity, name, limits);
  }
}
