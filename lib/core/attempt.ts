/** A running attempt, and the only place where its effects are committed. */
import type { AttemptSignal } from "./attempt-signal.ts";
import { type ChildKeyLimits, deriveChildKey } from "./child-key.ts";
import { readCommit } from "./commit-arguments.ts";
import { SUSPENDED, SUSPENDED_FAULT } from "./durable.ts";
import { hasCode, isRefusedCondition, isStoreFailure } from "./error-code.ts";
import { CommitInvalidError, ResponseNotStorableError, StepInvalidError } from "./errors.ts";
import { type CommitEffects, type Execution, STEPS } from "./execution.ts";
import { prepareMessages } from "./messages/prepare-message.ts";
import { nesting } from "./nesting.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { encodeResult, type Outcome, resultOf } from "./outcome.ts";
import type { StoredSteps } from "./record.ts";
import type { Recording } from "./recording.ts";
import { StepLog } from "./step-log.ts";
import type { Step, StepOptions } from "./steps.ts";
import type { Effects } from "./store.ts";
import { readTraceparent } from "./traceparent.ts";

/** The caller's own code. */
export type Work<Write> = (attempt: RunningAttempt<Write>) => unknown;

/** The unawaited steps that were already reported. */
const unawaited = new Set<string>();

export class RunningAttempt<Write> implements Execution<Write> {
  readonly key: string;
  readonly operation: string;
  readonly scope: string;
  readonly attempt: number | undefined;
  /** The outcome of the commit. Stays empty until something is committed, or if a commit certainly wrote nothing. */
  decided: Promise<Outcome> | undefined;
  readonly #call: OngoingCall<Write>;
  readonly #recording: Recording<Write>;
  readonly #stop: AttemptSignal<Write>;
  #committed: Promise<unknown> | undefined;
  #over = false;
  #log: StepLog<Write> | undefined;

  constructor(call: OngoingCall<Write>, recording: Recording<Write>, stop: AttemptSignal<Write>) {
    const { identity, attempt } = call;
    this.key = identity.key;
    this.operation = identity.operation;
    this.scope = identity.scope;
    this.attempt = attempt;
    this.#call = call;
    this.#recording = recording;
    this.#stop = stop;
  }

  /** Distinguishes two attempts at one key in the store. */
  get token(): string {
    return this.#call.token;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get traceparent(): string | undefined {
    const { options, input } = this.#call;
    if (options.traceparent === undefined) return input.traceparent;
    try {
      return readTraceparent(options.traceparent());
    } catch {
      // Tracing doesn't change an outcome.
      return undefined;
    }
  }

  // Bound: handlers take methods out of their object.
  readonly commit = <T>(result: T, effects?: CommitEffects<Write>): Promise<T> => {
    // Checked synchronously, not in a promise: a handler that doesn't await it must not go on.
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
        "this attempt has ended: await each step before the handler returns or commits",
      );
    this.#log ??= new StepLog(this.#call, this.#recording, () => this.signal);
    return this.#log.run(name, work, options);
  };

  readonly childKey = (name: string, limits?: ChildKeyLimits): string =>
    deriveChildKey(this.#call.identity, name, limits);

  #check(result: unknown, given: CommitEffects<Write> | undefined) {
    if (this.#over)
      throw new CommitInvalidError("this attempt has ended: await commit before the handler returns");
    if (this.decided)
      throw new CommitInvalidError(
        "commit was already called: pass all writes and messages to a single commit",
      );
    const [running] = this.#log?.underWay ?? [];
    if (running !== undefined)
      throw new CommitInvalidError(`step \`${running}\` is still running: await it before the commit`);
    const { writes, messages } = readCommit(result, given);
    try {
      const effects: Effects<Write> = { writes, messages: prepareMessages(messages, this.traceparent) };
      this.#call.options.store.checkEffects(effects);
      return [this.encode(result), effects] as const;
    } catch (error) {
      // Over HTTP that code is about the caller's payload, and this payload is the handler's.
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
      else if (isStoreFailure(error)) this.#call.report("outcome-unknown", error);
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

  /** For work whose end can't be seen. */
  leaveLease(): void {
    this.#stop.leaveLease();
  }

  /** The caller is answered while the work goes on. A later commit is kept, and so is the end of the work if it can be seen. */
  leaveOpen(error: unknown): void {
    nesting.end(this);
    this.#call.report("outcome-unknown", error);
  }

  /** From now on nothing can be committed. Wait for a commit that was made or is under way. */
  end(): Promise<Outcome> | undefined {
    this.#over = true;
    // `decided` reports its failure even if the handler doesn't await it. An earlier failure stays an unhandled rejection.
    if (this.decided) this.#committed?.catch(() => {});
    return this.decided;
  }

  get startedAt(): number {
    return this.#recording.lease.startedAt;
  }

  get ageMs(): number {
    return this.#call.now() - this.startedAt;
  }

  get [STEPS](): StoredSteps {
    return this.#recording.lease.steps;
  }

  /** Resolves when no step is running. @throws the error of a step that the handler didn't await */
  stepsSettled(): Promise<void> | undefined {
    return this.#log?.settled();
  }

  /** The end waits for a step that the handler doesn't await. But the handler went on without the step's result or error. */
  warnOfUnawaitedStep(): void {
    const [step] = this.#log?.underWay ?? [];
    const name = `step "${step}" of "${this.operation}"`;
    if (step === undefined || unawaited.has(name)) return;
    unawaited.add(name);
    console.warn(`onceonly: ${name} was still running when the handler returned: await it`);
  }

  /** The verdict about a step whose end was unknown. */
  get stepEvidence(): string | undefined {
    return this.#log?.evidence;
  }
}

/** True if a failed commit certainly wrote nothing, so that the handler may commit something else. */
function wroteNothing(error: unknown): boolean {
  if (isStoreFailure(error)) return error.failure === "refused";
  return isRefusedCondition(error) || hasCode(error, "COMMIT_INVALID");
}
