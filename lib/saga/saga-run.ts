/** One run of a saga: forward to the end, or back from where a step has failed. All it knows is in the steps of its execution. */
import type { ChildKeyLimits } from "../core/child-key.ts";
import { hasCode } from "../core/error-code.ts";
import { SagaCompensatedError, SagaPendingError } from "../core/errors.ts";
import { type Execution, stepsOf } from "../core/execution.ts";
import type { StoredSteps } from "../core/record.ts";
import type { Step, StepOptions } from "../core/steps.ts";
import type { Verification } from "../core/verify.ts";
import type { Compensation, SagaDefinition, SagaStep } from "./saga.ts";

/** The names of steps in the record, behind the name of the saga. None of a saga's own steps has a `/`. */
export const nameIn = (saga: string, step: string): string => `${saga}/${step}`;
/** The step that says that the saga has turned back. */
export const TURNED_BACK = "/turned-back";
/** The step that says that the saga can only go on, and has stopped. */
export const STOPPED = "/stopped";
export const compensationOf = (name: string): string => `${name}/compensate`;

/** Where a saga has turned back. */
interface TurnedBack {
  /** The step that failed. */
  readonly failed: string;
  /** How many steps have to be compensated: those before the one that failed, and that one where its effect is not ruled out. */
  readonly count: number;
}

/** An attempt that has these has no word in what becomes of the saga: a later one goes on. */
const ENDS_ATTEMPT =
  /^(CLAIM_LOST|STORE_UNAVAILABLE|STEP_INVALID|INVALID_OPTION|RECORD_CORRUPT|RESULT_NOT_KEPT)$/;

/** The step is written down before it runs, so that its key is held where it fails; and it runs again, whatever became of it. */
const AGAIN = {
  atMostOnce: true,
  tracked: true,
  verify: (): Verification => ({ outcome: "did-not-happen", evidence: { answered: "it may run again" } }),
};

export class SagaRun<Input, Write> {
  readonly #saga: SagaDefinition<Input, Write>;
  readonly #execution: Execution<Write>;
  readonly #input: Input;
  readonly #results: Record<string, unknown> = {};

  constructor(saga: SagaDefinition<Input, Write>, execution: Execution<Write>, input: Input) {
    this.#saga = saga;
    this.#execution = execution;
    this.#input = input;
  }

  async run(): Promise<Record<string, unknown>> {
    const before = await this.#recorded<TurnedBack>(TURNED_BACK);
    const [turned, cause] = before ? [before] : await this.#forward();
    if (!turned) return this.#results;
    await this.#back(turned);
    const { name, statusCode } = this.#saga;
    throw new SagaCompensatedError(name, turned.failed, { statusCode, cause });
  }

  /** Resolves to where the saga has to turn back, with the error; to nothing when all is done. */
  async #forward(): Promise<readonly [TurnedBack?, unknown?]> {
    const { steps, pivot } = this.#saga;
    for (const [index, definition] of steps.entries()) {
      const { name, atMostOnce, verify, didNotHappen, formerly } = definition;
      const options = { atMostOnce, verify, didNotHappen, formerly, tracked: true };
      try {
        this.#results[name] = await this.#step(name, (step) => definition.run(this.#given(step)), options);
      } catch (error) {
        if (this.#endsAttempt(error, definition)) throw error;
        if (index > pivot) await this.#stop(name, steps.slice(index), error);
        const happened = !hasCode(error, "TRANSACTION_CONDITION") && didNotHappen?.(error) !== true;
        const turned: TurnedBack = { failed: name, count: happened ? index + 1 : index };
        return [await this.#step(TURNED_BACK, () => turned, { tracked: true }), error];
      }
    }
    return [];
  }

  /** Undoes the last first. A step that may not have happened is undone too. */
  async #back({ count }: TurnedBack): Promise<void> {
    const undone = this.#saga.steps
      .slice(0, count)
      .filter(({ compensate }) => compensate)
      .reverse();
    // What each step resulted in is known to all compensations.
    for (const { name } of this.#saga.steps.slice(0, count)) {
      if (!Object.hasOwn(this.#results, name)) this.#results[name] = await this.#recorded(name);
    }
    for (const [index, { name, compensate }] of undone.entries()) {
      const stepKey = (limits?: ChildKeyLimits) =>
        this.#execution.childKey(nameIn(this.#saga.name, name), limits);
      const work = async (step: Step<Write>) => {
        const about = Object.assign(this.#given(step), { result: this.#results[name], stepKey });
        await (compensate as Compensation<Input, Write>)(about);
      };
      try {
        await this.#step(compensationOf(name), work, AGAIN);
      } catch (error) {
        if (this.#endsAttempt(error)) throw error;
        throw this.#pending(
          compensationOf(name),
          undone.slice(index).map((each) => compensationOf(each.name)),
          error,
        );
      }
    }
  }

  /**
   * The result of a step that is done; `undefined` for any other. Each name is read at most once in an attempt.
   */
  async #recorded<T>(name: string): Promise<T | undefined> {
    const { formerly = [] } = this.#saga.steps.find((step) => step.name === name) ?? {};
    const recorded = stepsOf(this.#execution) as StoredSteps;
    const isDone = [name, ...formerly].some(
      (each) => recorded[nameIn(this.#saga.name, each)]?.state === "done",
    );
    return isDone ? this.#step<T>(name, never, { formerly }) : undefined;
  }

  #step<T>(name: string, work: (step: Step<Write>) => unknown, options: StepOptions): Promise<T> {
    const { name: saga } = this.#saga;
    const formerly = options.formerly?.map((each) => nameIn(saga, each));
    const all = { ...options, ...(formerly && { formerly }) };
    return this.#execution.step(nameIn(saga, name), work as (step: Step<Write>) => T, all);
  }

  /** Nothing is undone behind the pivot: the key is held, and a later call goes on. */
  async #stop(failed: string, steps: readonly SagaStep<Input, Write>[], cause: unknown): Promise<never> {
    const pending = this.#pending(
      failed,
      steps.map(({ name }) => name),
      cause,
    );
    return this.#step(STOPPED, () => Promise.reject(pending), AGAIN);
  }

  #pending(failed: string, pending: readonly string[], cause: unknown): SagaPendingError {
    return new SagaPendingError(this.#saga.name, failed, pending, { cause });
  }

  /** Whether the attempt ends, and not the saga: the time is over, the claim is lost, or the error says to come again. */
  #endsAttempt(error: unknown, definition?: SagaStep<Input, Write>): boolean {
    if (this.#execution.signal.aborted) return true;
    const { code } = Object(error) as { readonly code?: unknown };
    if (typeof code === "string" && ENDS_ATTEMPT.test(code)) return true;
    // Nobody knows whether it has happened, and nobody can undo it: the key is held.
    if (code === "OUTCOME_UNKNOWN" && !definition?.compensate) return true;
    return definition?.retryLater?.(error) === true;
  }

  #given(step: Step<Write>) {
    const { attempt, childKey, commit } = step;
    return {
      input: this.#input,
      results: this.#results,
      attempt,
      childKey,
      commit,
      // Made when it is asked for, as that of the step.
      get signal() {
        return step.signal;
      },
    };
  }
}

const never = () => Promise.reject(new Error("a step that is done does not run"));
