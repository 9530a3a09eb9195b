/** What a handler sees of its own attempt, and the one place where its effects are committed. */
import { type ChildKeyLimits, deriveChildKey } from "./child-key.ts";
import { SHAPE } from "./copies.ts";
import { SUSPENDED, SUSPENDED_FAULT } from "./durable.ts";
import { hasCode, isRefusedCondition, isStoreFailure } from "./error-code.ts";
import { CommitInvalidError, ResponseNotStorableError, StepInvalidError } from "./errors.ts";
import { isPlainObject } from "./json.ts";
import { kindOf } from "./kind-of.ts";
import { LeaseRenewal, leaseEnded } from "./lease-renewal.ts";
import type { OutgoingMessage } from "./messages/outgoing-message.ts";
import { prepareMessages, readTraceparent } from "./messages/prepare-message.ts";
import { nesting } from "./nesting.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { encodeResult, type Outcome, resultOf } from "./outcome.ts";
import type { StoredSteps } from "./record.ts";
import type { Recording } from "./recording.ts";
import { type Step, StepLog, type StepOptions } from "./steps.ts";
import type { Effects, WritesOf } from "./store.ts";

/** The effects that a commit brings about together with its result. */
export interface CommitEffects<Write = unknown> {
  /** @default - none */
  readonly writes?: WritesOf<Write>;
  /** @default - none */
  readonly messages?: readonly OutgoingMessage[];
}

/** `unknown`, or what the compiler says of a type that has nothing but the fields of `CommitEffects`. */
type NoEffectsAlone<Result> = [keyof Result] extends [never]
  ? unknown
  : [keyof Result, Result] extends [
        keyof CommitEffects,
        { readonly [Name in keyof CommitEffects]: readonly unknown[] | ((...given: never[]) => unknown) },
      ]
    ? "the result of a commit comes first, then { writes, messages }"
    : unknown;

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
   * The W3C trace context of this attempt: from the option `traceparent`, else from the HTTP request or the envelope of the
   * message. `undefined` where there is none. Committed messages carry the trace context on.
   */
  readonly traceparent: string | undefined;
  /**
   * Aborts shortly before the deadline, and at once where a lease that is renewed is lost (its reason is a ClaimLostError).
   * Work that goes on after it may be repeated by a retry.
   */
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
  commit<T>(result: T, effects: CommitEffects<Write> | undefined): Promise<T>;
  /**
   * Records `result` alone. A result with no fields but lists under the names `writes` and `messages` is refused: most likely
   * the result was forgotten. `commit(result, {})` stores such a result.
   * @throws CommitInvalidError (`COMMIT_INVALID`), and the others of `commit` with effects.
   */
  commit<T>(result: T & NoEffectsAlone<T>): Promise<T>;
  /**
   * Runs `work` as a part of the operation, and records its result under the claim by one request. An attempt that comes after
   * skips what is done and gets the same value. Steps may run side by side; each name is asked for once in an attempt: 1 to
   * 64 characters, at most 100 names. The result is JSON. It is kept until the operation is completed or has failed for good.
   * Without `atMostOnce` an interrupted step runs again: pass `step.childKey()` on.
   * @throws StepInvalidError (`STEP_INVALID`) for a wrong name or option. OutcomeUnknownError (`OUTCOME_UNKNOWN`) where a step
   * `atMostOnce` was interrupted: the key is held. ResultNotKeptError (`RESULT_NOT_KEPT`) in each attempt where the step is done
   * and its result too large to be kept. InvalidOptionError, ResponseNotStorableError, ClaimLostError, StoreUnavailableError, and
   * what `work` throws.
   */
  step<T>(name: string, work: (step: Step<Write>) => T | Promise<T>, options?: StepOptions): Promise<T>;
  /**
   * A key for a system this handler calls, the same for every attempt: pass it on as that system's idempotency key.
   * @throws InvalidOptionError (`INVALID_OPTION`) when the limits leave less than 128 bits.
   */
  childKey(name: string, limits?: ChildKeyLimits): string;
}

const STEPS = Symbol.for(`onceonly.steps/${SHAPE}`);

/**
 * The steps on record of an execution, also if another copy of the package made it; `undefined` for any other value. Sagas read
 * from them where the previous attempt stopped.
 */
export function stepsOf(execution: unknown): StoredSteps | undefined {
  return (execution as { readonly [STEPS]?: StoredSteps } | null | undefined)?.[STEPS];
}

/** When the operation of such an execution, which has a claim, was first claimed (epoch ms). */
export function startOf(execution: unknown): number {
  return (execution as RunningAttempt<unknown>).startedAt;
}

/** The caller's own code. */
export type Work<Write> = (attempt: RunningAttempt<Write>) => unknown;

/** The steps that were reported already. */
const unawaited = new Set<string>();

export class RunningAttempt<Write> implements Execution<Write> {
  readonly key: string;
  readonly operation: string;
  readonly scope: string;
  readonly attempt: number | undefined;
  /** What the commit came to. Stays empty while nothing was committed, or a commit certainly wrote nothing. */
  decided: Promise<Outcome> | undefined;
  readonly #call: OngoingCall<Write>;
  readonly #recording: Recording<Write>;
  #committed: Promise<unknown> | undefined;
  #over = false;

  /** When the work is to stop, so that there is time to answer (epoch ms). */
  readonly #stopAt: number;
  #log: StepLog<Write> | undefined;
  #stopTimer: (() => void) | undefined;
  #isDisarmed = false;
  #abort: AbortController | undefined;
  #renewal: LeaseRenewal<Write> | undefined;
  /** Why the lease of this attempt does not count any more. */
  #lost: Error | undefined;

  constructor(call: OngoingCall<Write>, recording: Recording<Write>) {
    const { identity, attempt } = call;
    this.key = identity.key;
    this.operation = identity.operation;
    this.scope = identity.scope;
    this.attempt = attempt;
    this.#call = call;
    this.#recording = recording;
    this.#stopAt = call.workUntil(recording.since);
  }

  /** By this a store tells two attempts at one key apart. */
  get token(): string {
    return this.#call.token;
  }

  /** Made when the handler asks for it: a signal and its timer cost more than the rest of an attempt. */
  get signal(): AbortSignal {
    this.#abort ??= this.#startTimer();
    return this.#abort.signal;
  }

  /** Whether the work may go on after its answer. */
  get isAborted(): boolean {
    return this.#abort?.signal.aborted || this.#reasonToStop() !== undefined;
  }

  /** For work that takes time. What ends at once needs no timer. */
  keepLease(): void {
    if (!this.#call.renews || !this.#recording.isClaimed) return;
    this.#renewal = new LeaseRenewal(this.#call, this.#recording, (reason) => {
      this.#lost = reason;
      this.#abort?.abort(reason);
    });
  }

  /** For work whose end nobody sees: it would be renewed for ever. The claim stays for the rest of its lease. */
  leaveLease(): void {
    this.#renewal?.stop();
  }

  /** A timer can be late: after a freeze the clock knows first. */
  #reasonToStop(): Error | undefined {
    const now = this.#call.now();
    if (this.#call.renews && now >= this.#recording.liveUntil) this.#lost ??= leaseEnded();
    return this.#lost ?? (now >= this.#stopAt ? deadlineNear() : undefined);
  }

  get traceparent(): string | undefined {
    const { options, input } = this.#call;
    if (options.traceparent === undefined) return input.traceparent;
    try {
      return readTraceparent(options.traceparent());
    } catch {
      // Tracing does not change an outcome.
      return undefined;
    }
  }

  // Bound: handlers take methods out of their object.
  readonly commit = <T>(result: T, effects?: CommitEffects<Write>): Promise<T> => {
    // Checked at once, not in a promise: a handler that does not await it must not go on.
    const [text, checked] = this.#check(result, effects);
    const committed = this.#commit(result, text, checked);
    this.#committed = committed;
    return committed;
  };

  readonly step = <T>(
    name: string,
    work: (step: Step<Write>) => T | Promise<T>,
    options?: StepOptions,
  ): Promise<T> => {
    if (this.#over || this.decided)
      throw new StepInvalidError(
        "this attempt is over: await each step before the handler returns or commits",
      );
    this.#log ??= new StepLog(this.#call, this.#recording, () => this.signal);
    return this.#log.run(name, work, options);
  };

  readonly childKey = (name: string, limits?: ChildKeyLimits): string =>
    deriveChildKey(this.#call.identity, name, limits);

  #check(result: unknown, given: CommitEffects<Write> | undefined) {
    if (this.#over)
      throw new CommitInvalidError("this attempt is over: await commit before the handler returns");
    if (this.decided) throw new CommitInvalidError("commit was already called: commit everything at once");
    const [running] = this.#log?.underWay ?? [];
    if (running !== undefined)
      throw new CommitInvalidError(`step \`${running}\` is still running: await it before the commit`);
    if (given === undefined && isEffectsAlone(result)) {
      throw new CommitInvalidError(
        "commit takes the result, then { writes, messages }; got effects alone: put `undefined` before them, or `{}` behind them if they are the result",
      );
    }
    const { writes, messages } = readEffects(given === undefined ? {} : given);
    try {
      const effects: Effects<Write> = { writes, messages: prepareMessages(messages, this.traceparent) };
      this.#call.options.store.checkEffects(effects);
      return [this.encode(result), effects] as const;
    } catch (error) {
      // Over HTTP that code is about the caller's payload, and this is the handler's.
      const isOfMessage = hasCode(error, "PAYLOAD_INVALID");
      throw this.#call.own(isOfMessage ? new CommitInvalidError(error.message) : error);
    }
  }

  async #commit<T>(result: T, text: string | undefined, effects: Effects<Write>): Promise<T> {
    const decided = this.#recording.conclude("completed", text, effects, result);
    this.decided = decided;
    let outcome: Outcome;
    try {
      outcome = await decided;
    } catch (error) {
      if (wroteNothing(error)) this.decided = undefined;
      else if (isStoreFailure(error)) this.#call.tell("outcome-unknown", error);
      throw this.#call.own(error);
    }
    return resultOf(outcome) as T;
  }

  encode(value: unknown): string | undefined {
    const { toStored } = this.#call.input;
    const text = encodeResult(toStored ? toStored(value) : value);
    if (text === SUSPENDED) throw new ResponseNotStorableError(SUSPENDED_FAULT);
    return text;
  }

  /** The caller is answered while the work goes on. A later commit is kept, and so is the end of the work where that is seen. */
  leaveOpen(error: unknown): void {
    nesting.end(this);
    this.#call.tell("outcome-unknown", error);
  }

  /** From now on nothing can be committed. A commit that is there, or under way, is to be waited for. */
  end(): Promise<Outcome> | undefined {
    this.#over = true;
    // `decided` tells its failure, also when the handler does not look. An earlier failure stays an unhandled rejection.
    if (this.decided) this.#committed?.catch(() => {});
    return this.decided;
  }

  get startedAt(): number {
    return this.#recording.startedAt;
  }

  get [STEPS](): StoredSteps {
    return this.#recording.steps;
  }

  /** Resolves when no step is running. @throws the error of a step that nobody waited for */
  stepsSettled(): Promise<void> | undefined {
    return this.#log?.settled();
  }

  /** The end waits for a step that the handler doesn't await. But the handler went on without the step's result, or its error. */
  warnOfUnawaitedStep(): void {
    const [step] = this.#log?.underWay ?? [];
    const name = `step "${step}" of "${this.operation}"`;
    if (step === undefined || unawaited.has(name)) return;
    unawaited.add(name);
    console.warn(`onceonly: ${name} was still running when the handler returned: await it`);
  }

  /** The verdict about a step with an unknown end. */
  get stepEvidence(): string | undefined {
    return this.#log?.evidence;
  }

  /** The call is over: nothing is left to abort. */
  disarm(): void {
    this.#isDisarmed = true;
    this.#stopTimer?.();
    this.leaveLease();
  }

  #startTimer(): AbortController {
    const work = new AbortController();
    const reason = this.#reasonToStop();
    if (reason) work.abort(reason);
    const ms = this.#stopAt - this.#call.now();
    if (reason || ms === Number.POSITIVE_INFINITY || this.#isDisarmed) return work;
    const over = new AbortController();
    // With a reason, or a DOMException with its stack would be made on each run.
    this.#stopTimer = () => over.abort("over");
    void this.#call.options.clock.sleep(ms, over.signal).then(() => {
      if (!over.signal.aborted) work.abort(deadlineNear());
    });
    return work;
  }
}

const deadlineNear = (): Error => new Error("the deadline of this attempt is near");

/** True where a failed commit leaves no doubt, so that the handler may commit something else. */
function wroteNothing(error: unknown): boolean {
  if (isStoreFailure(error)) return error.failure === "refused";
  return isRefusedCondition(error) || hasCode(error, "COMMIT_INVALID");
}

/** Effects in the place of the result would be stored, and never happen. */
function isEffectsAlone(result: unknown): boolean {
  const fields = isPlainObject(result) ? Object.entries(Object(result) as object) : [];
  const isEffect = ([name, value]: readonly [string, unknown]) =>
    /^(writes|messages)$/.test(name) &&
    (value === undefined || Array.isArray(value) || typeof value === "function");
  return fields.length > 0 && fields.every(isEffect);
}

/**
 * A misspelt or misplaced effect would be lost without a word, so any other shape is refused.
 * @throws CommitInvalidError (`COMMIT_INVALID`)
 */
function readEffects<Write>(effects: CommitEffects<Write>): {
  readonly writes: readonly Write[];
  readonly messages: readonly OutgoingMessage[];
} {
  // A promise, a list or a map holds no visible effects.
  if (!isPlainObject(effects)) {
    throw new CommitInvalidError(
      `commit takes the result, then { writes, messages }; got ${kindOf(effects)}: leave it out where there are none`,
    );
  }
  const { writes, messages, ...unknown } = effects;
  const [name] = Object.keys(unknown);
  if (name !== undefined) {
    throw new CommitInvalidError(`commit knows no \`${name}\`: it takes { writes, messages }`);
  }
  return { writes: listOf<Write>("writes", writes), messages: listOf("messages", messages) };
}

/** Copies the list, so that the handler may change its own later. Holes become `undefined`, which is refused as no write. */
function listOf<Each>(name: string, list: WritesOf<Each> = []): readonly Each[] {
  if (typeof list === "function") return [list];
  if (Array.isArray(list)) return Array.from(list);
  throw new CommitInvalidError(
    `the ${name} of a commit must be an array, got ${kindOf(list)}: leave \`${name}\` out where there are none`,
  );
}
