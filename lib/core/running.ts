/** One attempt from start to end: runs the work, and decides from how it ended what is recorded. */
import { StoreUnavailableError } from "./errors.ts";
import { Attempt, type Finish, type Work } from "./execution.ts";
import { runInside } from "./nesting.ts";
import type { Operation } from "./operation.ts";
import type { Outcome } from "./refusal.ts";
import { decodeResult, encodeError, encodeResult } from "./result.ts";

interface Terms<Write> {
  readonly attempt: number;
  /** When the right to run began (epoch ms). */
  readonly since: number;
  readonly finish: Finish<Write>;
  /** Lets a retry run at once; absent where there is no claim to give back. */
  readonly release: (() => Promise<unknown>) | undefined;
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
  terms: Terms<Write>,
  work: Work<Write>,
): Promise<Outcome> {
  const alarm = abortBeforeDeadline(operation, terms.since);
  const attempt = new Attempt(operation, terms.attempt, alarm.signal, terms.finish);
  const runner = new Runner(operation, terms, attempt);
  try {
    let value: unknown;
    try {
      value = await runInside(operation.identity, async () => work(attempt));
    } catch (error) {
      await attempt.close();
      return await runner.endWithError(error);
    }
    await attempt.close();
    return await runner.endWithValue(value);
  } finally {
    alarm.stop();
  }
}

class Runner<Write> {
  readonly #operation: Operation<Write>;
  readonly #terms: Terms<Write>;
  readonly #attempt: Attempt<Write>;

  constructor(operation: Operation<Write>, terms: Terms<Write>, attempt: Attempt<Write>) {
    this.#operation = operation;
    this.#terms = terms;
    this.#attempt = attempt;
  }

  async endWithValue(value: unknown): Promise<Outcome> {
    const attempt = this.#attempt;
    if (attempt.outcome !== undefined) return attempt.outcome;
    if (attempt.lost !== undefined) throw attempt.lost.error;
    if (attempt.unknown !== undefined) return this.#leave(attempt.unknown.error);
    if (!this.#operation.options.shouldStore(value)) return this.#answerUnstored(value);
    let text: string | undefined;
    try {
      text = encodeResult(attempt.toStored(value));
    } catch (error) {
      return this.endWithError(error);
    }
    const outcome = await this.#record("completed", text, value);
    return outcome ?? { replayed: false, result: decodeResult(text), original: value };
  }

  async endWithError(error: unknown): Promise<Outcome> {
    const attempt = this.#attempt;
    if (attempt.outcome !== undefined) throw error;
    if (attempt.lost !== undefined) throw attempt.lost.error;
    if (error instanceof Interrupted) return this.#leave(error.error);
    if (attempt.unknown !== undefined || attempt.signal.aborted) return this.#leave(error);
    if (!this.#operation.options.isFinalError(error)) {
      await this.#release(error);
      throw error;
    }
    const outcome = await this.#record("failed", encodeError(error), undefined);
    if (outcome?.replayed) return outcome;
    throw error;
  }

  /** `undefined` when the completion was lost: the caller still gets the handler's own answer. */
  async #record(
    state: "completed" | "failed",
    text: string | undefined,
    value: unknown,
  ): Promise<Outcome | undefined> {
    try {
      return await this.#attempt.conclude(state, text, [], value);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      this.#operation.tell("completion-lost", { attempt: this.#attempt.attempt, error });
      return undefined;
    }
  }

  /** An answer that is not final, such as a 503: the next retry runs. */
  async #answerUnstored(value: unknown): Promise<Outcome> {
    if (this.#attempt.signal.aborted) this.#tellUnknown(undefined);
    else await this.#release(undefined);
    return { replayed: false, result: value, original: value };
  }

  /** The effect may have happened: nothing releases, the lease runs out. */
  #leave(error: unknown): never {
    this.#tellUnknown(error);
    throw error;
  }

  #tellUnknown(error: unknown): void {
    this.#operation.tell("outcome-unknown", { attempt: this.#attempt.attempt, error });
  }

  /** A release that fails never hides the handler's own error; the lease then ends by itself. */
  async #release(error: unknown): Promise<void> {
    const { release } = this.#terms;
    if (release === undefined) return;
    try {
      await release();
      this.#operation.tell("released", { attempt: this.#attempt.attempt, error });
    } catch (failure) {
      if (!(failure instanceof StoreUnavailableError)) throw failure;
    }
  }
}

/** The signal aborts while there is still time to answer. */
function abortBeforeDeadline<Write>(operation: Operation<Write>, since: number) {
  const { clock } = operation.options;
  const handler = new AbortController();
  const over = new AbortController();
  const ms = operation.deadline(since) - operation.margin(since) - clock.now();
  const alarm = clock.sleep(Math.max(0, ms), over.signal).then(() => {
    if (!over.signal.aborted) handler.abort(new Error("the deadline of this attempt is near"));
  });
  void alarm;
  return { signal: handler.signal, stop: () => over.abort() };
}
