/** One attempt from start to end: runs the work, and decides from how it ended what is recorded. */
import { hasCode, isStoreFailure } from "./error-code.ts";
import { Attempt, type Finish, NO_EFFECTS, type Work } from "./execution.ts";
import { runInside } from "./nesting.ts";
import type { Operation } from "./operation.ts";
import { DEFAULTS } from "./options.ts";
import type { Outcome } from "./refusal.ts";
import { decodeResult, encodeError } from "./result.ts";
import type { SettleAnswer } from "./store.ts";

interface Terms<Write> {
  /** When the right to run began (epoch ms). */
  readonly since: number;
  readonly finish: Finish<Write>;
  /** Lets a retry run at once; absent where there is no claim to give back. */
  readonly release?: () => Promise<SettleAnswer>;
}

/** Wraps an error of work that may still be going on: neither a failure nor a success. */
export class Interrupted {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

export async function runAttempt<Write>(
  operation: Operation<Write>,
  { since, finish, release }: Terms<Write>,
  work: Work<Write>,
): Promise<Outcome> {
  const { options, identity } = operation;
  const [signal, stopAlarm] = abortNearDeadline(operation, since);
  const attempt = new Attempt(operation, signal, finish);

  async function endWithValue(value: unknown): Promise<Outcome> {
    if (attempt.decided) return attempt.decided;
    if (!isWorthStoring(value)) {
      // Aborted work may go on after such an answer.
      if (signal.aborted) operation.tell("outcome-unknown");
      else await giveBack(undefined);
      return { replayed: false, result: value, original: value };
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
      if (committed.failure) return committed;
    } else if (!(error instanceof Interrupted) && isFinal(error)) {
      return fail(error);
    } else if (error instanceof Interrupted || signal.aborted) {
      operation.tell("outcome-unknown", thrown);
    } else {
      await giveBack(error);
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
    const isFinalError = signal.aborted ? DEFAULTS.isFinalError : options.isFinalError;
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

  /** A release that fails never hides the handler's own error; the lease then ends by itself. */
  async function giveBack(error: unknown): Promise<void> {
    try {
      const answer = await release?.();
      operation.tell(answer?.settled === false ? "claim-lost" : "released", error);
    } catch {
      // Told as `store-failed`.
    }
  }

  try {
    let end: () => Promise<Outcome>;
    try {
      const value = await runInside(identity, async () => {
        const returned = await work(attempt);
        await attempt.end();
        return returned;
      });
      end = () => endWithValue(value);
    } catch (error) {
      await attempt.end().catch(() => {});
      end = () => endWithError(error);
    }
    return await end();
  } finally {
    stopAlarm();
  }
}

/** The signal aborts while there is still time to answer. */
function abortNearDeadline<Write>(
  operation: Operation<Write>,
  since: number,
): [signal: AbortSignal, stop: () => void] {
  const work = new AbortController();
  const over = new AbortController();
  const ms = Math.max(0, operation.workUntil(since) - operation.now());
  void operation.options.clock.sleep(ms, over.signal).then(function abortWork() {
    if (!over.signal.aborted) work.abort(new Error("the deadline of this attempt is near"));
  });
  // With a reason, or a DOMException with its stack would be made on each run.
  return [work.signal, () => over.abort("over")];
}
