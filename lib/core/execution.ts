/** What a handler sees of its own attempt, and the one place where its effects are committed. */
import type { Alarm } from "./alarm.ts";
import { type ChildKeyLimits, deriveChildKey } from "./child-key.ts";
import { hasCode, isRefusedCondition, isStoreFailure } from "./error-code.ts";
import { CommitInvalidError } from "./errors.ts";
import { type CommitEffects, readEffects } from "./messages/commit-effects.ts";
import { prepareMessages, readTraceparent } from "./messages/prepare-message.ts";
import { nesting } from "./nesting.ts";
import type { Operation } from "./operation.ts";
import type { Recording } from "./recording.ts";
import { answerAfterLoss, type Outcome, resultOf } from "./refusal.ts";
import { decodeResult, encodeResult } from "./result.ts";
import type { Effects, SettleAnswer } from "./store.ts";

/** One attempt at an operation, as its handler sees it. */
export interface Execution<Write = unknown> {
  /** The idempotency key of the caller, or the derived one. */
  readonly key: string;
  readonly operation: string;
  /** The verified owner of the key; empty for public operations. */
  readonly scope: string;
  /**
   * Counts the claims of this key, from 1: a fencing number to pass on. Begins again once TTL has deleted the record.
   * `undefined` in a run without a claim: in the optimistic mode, and where `whenStoreFails` lets it run.
   */
  readonly attempt: number | undefined;
  /**
   * W3C trace context in whose name this attempt runs: of the option `traceparent`, or else of the HTTP request, or of the
   * envelope of the message. `undefined` where there is none. What `commit` sends carries it on.
   */
  readonly traceparent: string | undefined;
  /** Aborts shortly before the deadline. Work that goes on after it may be repeated by a retry. */
  readonly signal: AbortSignal;
  /**
   * Records `result`, applies `writes` and stores `messages` in one transaction: all of it, once, or nothing. Resolves
   * to the result that every caller gets: this one, or the winner's if another attempt was first. The messages are
   * sent afterwards, by `outboxRelay`. At most once per attempt, and before the handler returns.
   * @throws TransactionConditionError (`TRANSACTION_CONDITION`) when a condition of `writes` is not met: nothing
   * is written, and the handler may commit something else. ResponseNotStorableError, CommitInvalidError,
   * MessageIdInvalidError, PayloadInvalidError, OutboxTransactionTooLargeError: nothing is written. ClaimLostError,
   * StoreUnavailableError.
   */
  commit<T>(result: T, effects?: CommitEffects<Write>): Promise<T>;
  /**
   * A key for a system this handler calls, the same for every attempt: pass it on as that system's idempotency key.
   * @throws InvalidOptionError (`INVALID_OPTION`) when the limits leave less than 128 bits.
   */
  childKey(name: string, limits?: ChildKeyLimits): string;
}

/** The caller's own code. */
export type Work<Write> = (attempt: Attempt<Write>) => unknown;

export class Attempt<Write> implements Execution<Write> {
  readonly key: string;
  readonly operation: string;
  readonly scope: string;
  readonly attempt: number | undefined;
  /** What the commit came to. Stays empty while nothing was committed, or a commit certainly wrote nothing. */
  decided: Promise<Outcome> | undefined;
  readonly #operation: Operation<Write>;
  readonly #alarm: Alarm<Write>;
  readonly #recording: Recording<Write>;
  #committed: Promise<unknown> | undefined;
  #over = false;

  constructor(operation: Operation<Write>, alarm: Alarm<Write>, recording: Recording<Write>) {
    const { identity, attempt } = operation;
    this.key = identity.key;
    this.operation = identity.operation;
    this.scope = identity.scope;
    this.attempt = attempt;
    this.#alarm = alarm;
    this.#operation = operation;
    this.#recording = recording;
  }

  get signal(): AbortSignal {
    return this.#alarm.signal;
  }

  get traceparent(): string | undefined {
    const { options, call } = this.#operation;
    if (options.traceparent === undefined) return call.traceparent;
    try {
      return readTraceparent(options.traceparent());
    } catch {
      // Tracing does not change an outcome.
      return undefined;
    }
  }

  // Bound, both: handlers take methods out of their object.
  readonly commit = <T>(result: T, effects: CommitEffects<Write> = {}): Promise<T> => {
    // Checked at once, not in a promise: a handler that does not await it must not go on.
    const [text, checked] = this.#check(result, effects);
    const committed = this.#commit(result, text, checked);
    this.#committed = committed;
    return committed;
  };

  readonly childKey = (name: string, limits?: ChildKeyLimits): string =>
    deriveChildKey(this.#operation.identity, name, limits);

  #check(result: unknown, given: CommitEffects<Write>) {
    if (this.#over)
      throw new CommitInvalidError("this attempt is over: await commit before the handler returns");
    if (this.decided) throw new CommitInvalidError("commit was already called: commit everything at once");
    const { writes, messages } = readEffects(given);
    try {
      const effects: Effects<Write> = { writes, messages: prepareMessages(messages, this.traceparent) };
      this.#operation.options.store.checkEffects(effects);
      return [this.encode(result), effects] as const;
    } catch (error) {
      // Over HTTP that code is about the caller's payload, and this is the handler's.
      const isOfMessage = hasCode(error, "PAYLOAD_INVALID");
      throw this.#operation.own(isOfMessage ? new CommitInvalidError(error.message) : error);
    }
  }

  async #commit<T>(result: T, text: string | undefined, effects: Effects<Write>): Promise<T> {
    const decided = this.conclude("completed", text, effects, result);
    this.decided = decided;
    let outcome: Outcome;
    try {
      outcome = await decided;
    } catch (error) {
      if (wroteNothing(error)) this.decided = undefined;
      else if (isStoreFailure(error)) this.#operation.tell("outcome-unknown", error);
      throw this.#operation.own(error);
    }
    return resultOf(outcome) as T;
  }

  encode(value: unknown): string | undefined {
    const { toStored } = this.#operation.call;
    return encodeResult(toStored ? toStored(value) : value);
  }

  /** Finishes the record, and answers with what it says then. */
  async conclude(
    state: "completed" | "failed",
    text: string | undefined,
    effects: Effects<Write>,
    original: unknown,
  ): Promise<Outcome> {
    let answer: SettleAnswer;
    try {
      answer = await this.#recording.finish(state, text, effects);
    } catch (error) {
      answer = await this.#fenceOff(error);
    }
    if (!answer.settled) return answerAfterLoss(this.#operation, answer.record);
    this.#operation.tell("executed");
    return { replayed: false, result: decodeResult(text), original };
  }

  async #fenceOff(error: unknown): Promise<SettleAnswer> {
    if (!isRefusedCondition(error)) throw error;
    const answer = error.mayStillApply ? await this.#recording.fence() : undefined;
    if (answer) return answer;
    error.mayStillApply = false;
    throw error;
  }

  /** The caller is answered while the work goes on. What it commits is kept, and what it comes to, where that is seen. */
  leaveOpen(error: unknown): void {
    nesting.end(this);
    this.#operation.tell("outcome-unknown", error);
  }

  /** From now on nothing can be committed. The commit that is there, or under way, is to be waited for. */
  end(): Promise<Outcome> | undefined {
    this.#over = true;
    // Its failure is told by that, also when the handler does not look. One before this stays an unhandled rejection.
    if (this.decided) this.#committed?.catch(() => {});
    return this.decided;
  }
}

/** True where a failed commit leaves no doubt, so that the handler may commit something else. */
function wroteNothing(error: unknown): boolean {
  if (isStoreFailure(error)) return error.failure === "refused";
  return isRefusedCondition(error) || hasCode(error, "COMMIT_INVALID");
}
