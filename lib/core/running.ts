/** One attempt from start to end: runs the work, decides from its end what to record, and answers. */
import { RunningAttempt, type Work } from "./attempt.ts";
import { AttemptSignal } from "./attempt-signal.ts";
import { hasCode, isStoreFailure } from "./error-code.ts";
import { ClaimLostError } from "./errors.ts";
import { nesting } from "./nesting.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { DEFAULTS } from "./options.ts";
import {
  answerAfterLoss,
  answerOfAnother,
  decodeResult,
  encodeError,
  isPermanent,
  type Outcome,
} from "./outcome.ts";
import { NO_EFFECTS, type Recording, type Released } from "./recording.ts";
import { isUnawaited, unawaited } from "./unawaited.ts";
import { encodeEvidence } from "./verify.ts";

/** Wraps an error of work that may still be going on: neither a failure nor a success. */
export class Interrupted {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** How the work ended. */
type WorkEnd = CompleteEnd | { readonly how: "interrupted"; readonly error: unknown };

type CompleteEnd =
  | { readonly how: "returned"; readonly value: unknown }
  | { readonly how: "threw"; readonly error: unknown };

/** The values to record for an end. */
type Conclusion = Recorded | { readonly state: "unrecorded" };

type Recorded =
  | { readonly state: "completed"; readonly text: string | undefined }
  | { readonly state: "failed"; readonly text: string; readonly error: unknown };

export async function runAttempt<Write>(
  call: OngoingCall<Write>,
  recording: Recording<Write>,
  work: Work<Write>,
): Promise<Outcome> {
  const signal = new AttemptSignal(call, recording.lease);
  const attempt = new RunningAttempt(call, recording, signal);
  try {
    let end: WorkEnd;
    try {
      const working = nesting.run(attempt, call.input, () => work(attempt));
      if (call.renews && isUnderWay(working)) signal.keepLease();
      const lost = call.options.store.handlerLost?.(call.token);
      const value = await (lost ? unlessLost(working, lost, call, signal) : working);
      const committed = attempt.end();
      attempt.warnOfUnawaitedStep();
      const steps = attempt.stepsSettled();
      if (steps) await steps;
      // Work that didn't wait for its commit must not count as done if the commit fails.
      if (committed) await committed;
      end = { how: "returned", value };
    } catch (error) {
      await attempt.end()?.catch(() => {});
      const isInterrupted = error instanceof Interrupted;
      // A retry must not run concurrently with a step of this attempt.
      if (!isInterrupted) {
        await attempt.stepsSettled()?.catch(() => {});
        await call.ask(async (store) => store.handlerFailed?.(error, call.token));
      }
      end = isInterrupted ? { how: "interrupted", error: error.error } : { how: "threw", error };
    } finally {
      nesting.end(attempt);
    }
    return await new AttemptEnd(call, recording, attempt, signal).outcomeOf(end);
  } finally {
    signal.disarm();
  }
}

/**
 * Work whose transaction is lost may wait forever for its client. It is then aborted, and has as long to end as the store has
 * for an answer.
 */
async function unlessLost<Write>(
  working: unknown,
  lost: Promise<Error>,
  { options: { clock, store } }: OngoingCall<Write>,
  signal: AttemptSignal<Write>,
): Promise<unknown> {
  const ended = new AbortController();
  const givenUp = lost.then(async (reason) => {
    signal.lose(reason);
    await clock.sleep(store.patienceMs ?? 0, ended.signal);
    throw reason;
  });
  try {
    return await Promise.race([working, givenUp]);
  } finally {
    ended.abort("over");
  }
}

export function isUnderWay(working: unknown): boolean {
  return typeof (working as Partial<Promise<unknown>> | null | undefined)?.then === "function";
}

class AttemptEnd<Write> {
  readonly #call: OngoingCall<Write>;
  readonly #recording: Recording<Write>;
  readonly #attempt: RunningAttempt<Write>;
  readonly #signal: AttemptSignal<Write>;
  /** A predicate of the options returned a promise: reported once the end is safe. */
  #misuse: unknown;

  constructor(
    call: OngoingCall<Write>,
    recording: Recording<Write>,
    attempt: RunningAttempt<Write>,
    signal: AttemptSignal<Write>,
  ) {
    this.#call = call;
    this.#recording = recording;
    this.#attempt = attempt;
    this.#signal = signal;
  }

  // Not `async`: each branch below returns its own promise, and one more would slow every call.
  outcomeOf(end: WorkEnd): Outcome | Promise<Outcome> {
    const { decided } = this.#attempt;
    if (decided) return this.#afterCommit(end, decided);
    if (end.how === "interrupted") {
      this.#call.report("outcome-unknown", end.error);
      return this.#failureOf(end.error, false);
    }
    if (this.#mustHold(end)) return this.#hold(end);
    const conclusion = this.#conclusionOf(end);
    if (conclusion.state !== "unrecorded") return this.#record(conclusion, end);
    if (this.#misuse) {
      // The error may be final, so nothing is released. Once the lease has ended, the attempt is abandoned.
      this.#call.report("outcome-unknown", this.#misuse);
      return this.#failureOf(this.#misuse, false);
    }
    if (this.#recording.lease.hasOpenStep && !this.#signal.isAborted) return this.#hold(end);
    return this.#endUnrecorded(end);
  }

  /** Committed: the record stands, and the handler's error is discarded. Lost or unknown: that is the answer. */
  async #afterCommit(end: WorkEnd, decided: Promise<Outcome>): Promise<Outcome> {
    const committed = await decided;
    if (end.how === "returned" || committed.replayed) return committed;
    return this.#failureOf(end.error, true);
  }

  /** The handler reports an unknown outcome, and the options or one of its steps don't let it just run again. */
  #mustHold(end: CompleteEnd): boolean {
    if (end.how !== "threw" || !hasCode(end.error, "OUTCOME_UNKNOWN")) return false;
    return this.#call.options.whenAbandoned !== "run" || this.#attempt.stepEvidence !== undefined;
  }

  /** Records a result or a final error. If the store fails, the caller still gets the handler's own answer. */
  async #record(conclusion: Recorded, end: CompleteEnd): Promise<Outcome> {
    const { state, text } = conclusion;
    const { value: original } = end as { readonly value?: unknown };
    let recorded: Outcome | undefined;
    try {
      recorded = await this.#recording.conclude(state, text, NO_EFFECTS, original);
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      this.#call.report("completion-lost", error);
    }
    if (recorded?.replayed) return recorded;
    if (state === "failed") return this.#failureOf(conclusion.error, recorded !== undefined);
    if (this.#misuse) return this.#failureOf(this.#misuse, recorded !== undefined);
    return recorded ?? { replayed: false, result: decodeResult(text), original };
  }

  /** The handler or one of its steps doesn't know whether its effect happened: no call may run until that is resolved. */
  async #hold(end: CompleteEnd): Promise<Outcome> {
    const call = this.#call;
    const recording = this.#recording;
    const attempt = call.attempt as number;
    const { error } = end as { readonly error?: unknown };
    const isUnknown = hasCode(error, "OUTCOME_UNKNOWN");
    const by = isUnknown ? "handler" : "step";
    recording.evidence =
      this.#attempt.stepEvidence ?? encodeEvidence({ verdict: "unknown", by, at: call.now(), attempt });
    const answer = await recording.settle("held", undefined).catch((failure: unknown) => {
      if (!isStoreFailure(failure)) throw failure;
      // Once its lease has ended, the attempt is abandoned.
      call.report("outcome-unknown", failure);
      return undefined;
    });
    if (answer && !answer.settled) return answerAfterLoss(call, answer.record);
    if (answer) call.report("held", error, call.now() - recording.lease.since);
    if (isUnknown) throw error;
    return this.#ownAnswer(end);
  }

  #conclusionOf(end: CompleteEnd): Conclusion {
    if (end.how === "threw") {
      return this.#isFinal(end.error) ? this.#failed(end.error) : { state: "unrecorded" };
    }
    if (!this.#isWorthStoring(end.value)) return { state: "unrecorded" };
    try {
      const { forgetsReturned } = this.#call.input;
      return { state: "completed", text: forgetsReturned ? undefined : this.#attempt.encode(end.value) };
    } catch (error) {
      // The work is done: running it again would only repeat its effect.
      return this.#failed(this.#call.own(error));
    }
  }

  /** A final error is recorded, so that a retry gets it too. */
  #failed(error: unknown): Conclusion {
    return { state: "failed", text: encodeError(error, this.#call.isOwn(error)), error };
  }

  #failureOf(error: unknown, isRecorded: boolean): Outcome {
    const isOurs = this.#call.isOwn(error);
    return { replayed: false, failure: { error, isRecorded, isOurs, isPermanent: isPermanent(error) } };
  }

  #ownAnswer(end: WorkEnd): Outcome {
    if (end.how !== "returned") return this.#failureOf(end.error, false);
    return { replayed: false, result: end.value, original: end.value };
  }

  /** The effect has happened whatever the predicate does, so an error in it must not cause another one. */
  #isWorthStoring(value: unknown): boolean {
    // `graphqlOverHttp` reads the request too.
    const shouldStore: (value: unknown, payload: unknown) => unknown = this.#call.options.shouldStore;
    return Boolean(this.#ask("shouldStore", () => shouldStore(value, this.#call.input.payload), true));
  }

  #isFinal(error: unknown): boolean {
    // Running again would only repeat the effect, and end the same way.
    if (this.#call.isOwn(error) && hasCode(error, "RESPONSE_NOT_STORABLE")) return true;
    // After an abort only an explicit PermanentError is final: other errors may come from the abort.
    const { isFinalError } = this.#signal.isAborted ? DEFAULTS : this.#call.options;
    return this.#ask("isFinalError", () => isFinalError(error), false, error) === true;
  }

  /** @param otherwise the answer if the predicate fails */
  #ask(option: string, predicate: () => unknown, otherwise: boolean, cause?: unknown): unknown {
    try {
      const answer = predicate();
      if (!isUnawaited(answer)) return answer;
      this.#misuse = this.#call.own(unawaited(option, undefined, cause));
    } catch {
      // The end doesn't depend on it.
    }
    return otherwise;
  }

  /**
   * Records nothing, so that a retry may run. Resolves to the answer of another attempt if one has finished, else to this
   * attempt's own end.
   * @throws ClaimLostError if another attempt is running and a value would be taken for the answer; StoreUnavailableError if
   * the state can't be read; the errors of `answerOfAnother`.
   */
  async #endUnrecorded(end: CompleteEnd): Promise<Outcome> {
    const call = this.#call;
    const { error } = end as { readonly error?: unknown };
    const aborted = this.#signal.isAborted;
    // Aborted work may go on after its answer, so its claim isn't released.
    if (aborted) call.report("outcome-unknown", error);
    const { isLive } = this.#recording.lease;
    let released: Released;
    try {
      released = await (aborted ? this.#recording.look() : this.#recording.release(error));
    } catch (failure) {
      // Until this end no other attempt can have run, and a failed release doesn't hide the handler's own error.
      if (isLive || (call.options.whenStoreFails === "run" && isStoreFailure(failure)))
        return this.#ownAnswer(end);
      if (!aborted) call.report("outcome-unknown", error);
      throw failure;
    }
    const { isLost, record } = released;
    if (isLost) call.report("claim-lost", error);
    const answer = await answerOfAnother(call, record);
    if (!answer && isLost && end.how === "returned") throw new ClaimLostError();
    if (!answer && !isLost && !aborted) call.report("released", error);
    return answer ?? this.#ownAnswer(end);
  }
}
