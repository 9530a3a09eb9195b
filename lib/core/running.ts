/** One attempt from start to end: runs the work, and decides from how it ended what is recorded. */
import { Alarm } from "./alarm.ts";
import { hasCode, isStoreFailure } from "./error-code.ts";
import { ClaimLostError } from "./errors.ts";
import { Attempt, type Work } from "./execution.ts";
import { nesting } from "./nesting.ts";
import type { Operation } from "./operation.ts";
import { DEFAULTS } from "./options.ts";
import { type GivenBack, NO_EFFECTS, type Recording } from "./recording.ts";
import { answerOfAnother, type Outcome } from "./refusal.ts";
import { decodeResult, encodeError } from "./result.ts";

/** Wraps an error of work that may still be going on: neither a failure nor a success. */
export class Interrupted {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

export async function runAttempt<Write>(
  operation: Operation<Write>,
  recording: Recording<Write>,
  work: Work<Write>,
): Promise<Outcome> {
  const { options } = operation;
  const alarm = new Alarm(operation, recording.since);
  const attempt = new Attempt(operation, alarm, recording);

  async function endWithValue(value: unknown): Promise<Outcome> {
    if (attempt.decided) return attempt.decided;
    if (!isWorthStoring(value)) {
      return (await endUnrecorded({ value })) ?? { replayed: false, result: value, original: value };
    }
    let text: string | undefined;
    try {
      text = operation.call.forgetsReturned ? undefined : attempt.encode(value);
    } catch (error) {
      // The work is done: to run it again would only repeat its effect.
      return fail(operation.own(error));
    }
    return (
      (await record("completed", text, value)) ?? {
        replayed: false,
        result: decodeResult(text),
        original: value,
      }
    );
  }

  async function endWithError(error: unknown): Promise<Outcome> {
    const thrown = error instanceof Interrupted ? error.error : error;
    if (attempt.decided) {
      // Committed: the record stands, and the handler's error is its own. Lost or unknown: that is the answer.
      const committed = await attempt.decided;
      if (committed.replayed || committed.failure) return committed;
    } else if (error instanceof Interrupted) {
      operation.tell("outcome-unknown", thrown);
    } else if (isFinal(error)) {
      return fail(error);
    } else {
      const answer = await endUnrecorded({ error });
      if (answer) return answer;
    }
    return failureOf(thrown, attempt.decided !== undefined);
  }

  function failureOf(error: unknown, isRecorded: boolean): Outcome {
    return { replayed: false, failure: { error, isRecorded, isOurs: operation.isOwn(error) } };
  }

  /** The effect is there whatever the predicate does: what throws in it must not cause another. */
  function isWorthStoring(value: unknown): boolean {
    try {
      return Boolean(options.shouldStore(value));
    } catch {
      return true;
    }
  }

  function isFinal(error: unknown): boolean {
    // Running again would only repeat the effect, and end the same.
    if (operation.isOwn(error) && hasCode(error, "RESPONSE_NOT_STORABLE")) return true;
    // After an abort only what the handler says in so many words is final: other errors may be the abort's.
    const isFinalError = alarm.isAborted ? DEFAULTS.isFinalError : options.isFinalError;
    try {
      return isFinalError(error) === true;
    } catch {
      return false;
    }
  }

  /** A final error: recorded, so that a retry gets it too. */
  async function fail(error: unknown): Promise<Outcome> {
    const outcome = await record("failed", encodeError(error, operation.isOwn(error)), undefined);
    return outcome?.replayed ? outcome : failureOf(error, outcome !== undefined);
  }

  /** `undefined` when the completion was lost: the caller still gets the handler's own answer. */
  async function record(state: "completed" | "failed", text: string | undefined, value: unknown) {
    try {
      return await attempt.conclude(state, text, NO_EFFECTS, value);
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      operation.tell("completion-lost", error);
      return undefined;
    }
  }

  /**
   * Records nothing, so that a retry may run. Resolves to the answer of another attempt, where one has finished: only
   * without one the attempt's own answer counts.
   * @throws ClaimLostError where another attempt is at work and a value would pass for the answer; StoreUnavailableError
   * where nobody can tell; what `answerOfAnother` throws.
   */
  async function endUnrecorded(end: { value: unknown } | { error: unknown }): Promise<Outcome | undefined> {
    const error = "error" in end ? end.error : undefined;
    const aborted = alarm.isAborted;
    // Aborted work may go on after its answer, so that nothing releases its claim.
    if (aborted) operation.tell("outcome-unknown", error);
    const { isLive } = recording;
    let givenBack: GivenBack;
    try {
      givenBack = await (aborted ? recording.look() : recording.giveBack());
    } catch (failure) {
      // Until this end nobody else can have run, and a failed release does not hide the handler's own error.
      if (isLive || (options.whenStoreFails === "run" && isStoreFailure(failure))) return undefined;
      if (!aborted) operation.tell("outcome-unknown", error);
      throw failure;
    }
    const { isLost, record } = givenBack;
    if (isLost) operation.tell("claim-lost", error);
    const answer = await answerOfAnother(operation, record);
    if (!answer && isLost && "value" in end) throw new ClaimLostError();
    if (!answer && !isLost && !aborted) operation.tell("released", error);
    return answer;
  }

  try {
    let end: () => Promise<Outcome>;
    try {
      const value = await nesting.run(attempt, operation.call, () => work(attempt));
      const committed = attempt.end();
      // Work that did not wait for its commit must not count as done where that fails.
      if (committed) await committed;
      end = () => endWithValue(value);
    } catch (error) {
      await attempt.end()?.catch(() => {});
      end = () => endWithError(error);
    } finally {
      nesting.end(attempt);
    }
    return await end();
  } finally {
    alarm.stop();
  }
}
