/** One run of a saga: forward to the end, or back from the step that failed. Its whole state is in the execution's steps. */
import { STOPPED, TURNED_BACK } from "../contract.ts";
import type { ChildKeyLimits } from "../core/child-key.ts";
import { hasCode } from "../core/error-code.ts";
import { RecordCorruptError, SagaCompensatedError, SagaPendingError } from "../core/errors.ts";
import { ageOf, type Execution, startOf, stepsOf } from "../core/execution.ts";
import type { StoredStep, StoredSteps } from "../core/record.ts";
import type { Step, StepOptions } from "../core/steps.ts";
import type { Verification } from "../core/verify.ts";
import type { Compensation, SagaDefinition, SagaStep } from "./definition.ts";
import { type SagaDriver, SagaPaused } from "./driven-saga.ts";

/** The step's name in the record, prefixed by the saga's. A saga's own steps have no `/`. */
export const nameIn = (saga: string, step: string): string => `${saga}/${step}`;
export const compensationOf = (name: string): string => `${name}/compensate`;

/** Where a saga turned back. Names, not positions: another deployment may order its steps differently. */
interface TurnedBack {
  /** The step that failed. */
  readonly failed: string;
  /** The steps to compensate, last first: those done, and those that may have happened. */
  readonly undo: readonly string[];
}

export const unknownStep = (saga: string, step: string): RecordCorruptError =>
  new RecordCorruptError(
    `another deployment of ${saga} left the step ${step}, which this one doesn't have: finish the deployment, or list it in \`formerly\``,
  );

const withoutCompensation = (saga: string, step: string): RecordCorruptError =>
  new RecordCorruptError(
    `another deployment of ${saga} ran the step ${step} with a \`compensate\`, but this one has none for it, so nothing was undone: give the step its \`compensate\` back (before the pivot), or finish the deployment`,
  );

/** These errors end the attempt without deciding the saga: a later attempt continues. */
const ENDS_ATTEMPT = /^(CLAIM_LOST|STORE_UNAVAILABLE|STEP_INVALID|INVALID_OPTION|RECORD_CORRUPT)$/;

/** Records the step before it runs, so that its key is held if it fails; it runs again whatever its outcome. */
const AGAIN = {
  atMostOnce: true,
  tracked: true,
  verify: (): Verification => ({ outcome: "did-not-happen", evidence: { answered: "it may run again" } }),
};

export class SagaRun<Input, Write> {
  readonly #saga: SagaDefinition<Input, Write>;
  readonly #execution: Execution<Write>;
  readonly #input: Input;
  readonly #driver: SagaDriver;
  readonly #results: Record<string, unknown> = {};

  constructor(
    saga: SagaDefinition<Input, Write>,
    execution: Execution<Write>,
    input: Input,
    driver: SagaDriver,
  ) {
    this.#saga = saga;
    this.#execution = execution;
    this.#input = input;
    this.#driver = driver;
  }

  async run(): Promise<Record<string, unknown>> {
    const before = await this.#recorded<TurnedBack>(TURNED_BACK);
    const [turned, cause] = before ? [before] : await this.#forward();
    if (!turned) return this.#results;
    await this.#back(turned);
    const { name, statusCode } = this.#saga;
    throw new SagaCompensatedError(name, turned.failed, { statusCode, cause });
  }

  /** Resolves to where the saga turns back, with the error; to nothing when all steps are done. */
  async #forward(): Promise<readonly [TurnedBack?, unknown?]> {
    const { steps, pivot } = this.#saga;
    for (const [index, definition] of steps.entries()) {
      const { name, verify, atMostOnce = verify !== undefined, didNotHappen, formerly } = definition;
      const isBehindPivot = () => index > pivot || this.#stateOf(steps[pivot]) === "done";
      const next = this.#stateOf(definition) ? "run" : this.#driver.before(name);
      if (next === "pause") throw new SagaPaused(name);
      if (next !== "run") {
        if (isBehindPivot()) await this.#stop(name, steps.slice(index), next.error);
        return this.#turnBack(definition, next.neverRan, next.error);
      }
      // The intent of the next step, in the same request.
      const after = steps[index + 1];
      const options = {
        ...{ atMostOnce, verify, formerly, tracked: true },
        ...(atMostOnce && { didNotHappen }),
        next: after && nameIn(this.#saga.name, after.name),
        // `true`, or nothing, to save space in the record.
        undo: definition.compensate && true,
        undoNext: after?.compensate && true,
      };
      let thrown: { readonly error: unknown } | undefined;
      const work = async (step: Step<Write>) => {
        try {
          return await definition.run(this.#given(step));
        } catch (error) {
          thrown = { error };
          throw error;
        }
      };
      try {
        await this.#keep(definition, this.#step(name, work, options), (error) => thrown?.error === error);
      } catch (error) {
        const isOfRun = thrown?.error === error;
        if (this.#endsAttempt(error, definition, isOfRun)) throw error;
        if (isBehindPivot()) await this.#stop(name, steps.slice(index), error);
        // `didNotHappen` can't decide about an error in the result or in an earlier attempt.
        const isProof = isOfRun && didNotHappen?.(error) === true;
        const isRuledOut =
          (isProof || hasCode(error, "TRANSACTION_CONDITION")) && this.#stateOf(definition) !== "done";
        return this.#turnBack(definition, isRuledOut, error);
      }
    }
    return [];
  }

  /** Records the turn. `isRuledOut`: the failed step itself had no effect. */
  async #turnBack(
    failed: SagaStep<Input, Write>,
    isRuledOut: boolean,
    error: unknown,
  ): Promise<readonly [TurnedBack, unknown]> {
    const back = this.#saga.steps
      .filter((step) => (step === failed ? !isRuledOut : this.#mayHaveHappened(step)))
      .reverse();
    // If this one can't undo all of them, leave it to a deployment that can, in its own order.
    this.#checkUndo(back);
    const turned: TurnedBack = { failed: failed.name, undo: back.map((step) => step.name) };
    return [await this.#step(TURNED_BACK, () => turned, { tracked: true }), error];
  }

  /** Undoes the last step first, and steps that may not have happened too. */
  async #back({ undo }: TurnedBack): Promise<void> {
    const all = undo.map((each) => {
      const step = this.#saga.steps.find((one) => namesOf(one).includes(each));
      if (!step) throw unknownStep(this.#saga.name, each);
      return step;
    });
    this.#checkUndo(all);
    const undone = all.filter(({ compensate }) => compensate);
    // All compensations know the results of all steps.
    for (const step of all) {
      if (!Object.hasOwn(this.#results, step.name)) await this.#keep(step, this.#recorded(step.name));
    }
    for (const [index, { name, compensate, formerly = [] }] of undone.entries()) {
      const [firstName = name] = formerly;
      const stepKey = (limits?: ChildKeyLimits) =>
        this.#execution.childKey(nameIn(this.#saga.name, firstName), limits);
      const work = async (step: Step<Write>) => {
        const about = Object.assign(this.#given(step), { result: undefined, stepKey });
        // Copied as a property, because reading it may throw.
        const result = Object.getOwnPropertyDescriptor(this.#results, name) as PropertyDescriptor;
        Object.defineProperty(about, "result", result);
        await (compensate as Compensation<Input, Write>)(about);
      };
      try {
        await this.#step(compensationOf(name), work, { ...AGAIN, formerly: formerly.map(compensationOf) });
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

  /** If a result wasn't kept, only reading it fails: the saga goes on. */
  async #keep(step: StepNames, result: Promise<unknown>, isOfRun = (_: unknown) => false): Promise<void> {
    const { name } = step;
    try {
      this.#results[name] = await result;
    } catch (error) {
      const isDone = hasCode(error, "RESULT_NOT_KEPT") && this.#stateOf(step) === "done";
      const isLost = this.#namesOnRecord(step).some((each) => this.#onRecord[each]?.result?.in === "nowhere");
      // The same error from another operation, or about another step's result, doesn't count.
      if (!isDone || (isOfRun(error) && !isLost)) throw error;
      const get = () => {
        throw error;
      };
      Object.defineProperty(this.#results, name, { get, enumerable: true });
    }
  }

  /**
   * The result of a step that is done; `undefined` for any other. Each name is read at most once in an attempt.
   */
  async #recorded<T>(name: string): Promise<T | undefined> {
    const step: StepNames = this.#saga.steps.find((one) => one.name === name) ?? { name };
    const isDone = this.#stateOf(step) === "done";
    return isDone ? this.#step<T>(name, never, { formerly: step.formerly ?? [] }) : undefined;
  }

  get #onRecord(): StoredSteps {
    return stepsOf(this.#execution) as StoredSteps;
  }

  /** The step's state in the record, under any of its names, read like the execution's `step` does. */
  #stateOf(step: StepNames | undefined): StoredStep["state"] | undefined {
    const states = step ? this.#namesOnRecord(step).map((name) => this.#onRecord[name]?.state) : [];
    return states.find((state) => state && state !== "undone") ?? states.find(Boolean);
  }

  /** Whether an earlier attempt did or began the step, or did the one before it in its deployment's order. */
  #mayHaveHappened(step: StepNames): boolean {
    const state = this.#stateOf(step);
    if (state) return state !== "undone";
    const names = this.#namesOnRecord(step);
    return Object.values(this.#onRecord).some(({ next }) => next !== undefined && names.includes(next));
  }

  /** @throws RecordCorruptError for a step that another deployment could undo but this one can't */
  #checkUndo(steps: readonly SagaStep<Input, Write>[]): void {
    const lost = steps.find((step) => !step.compensate && this.#couldBeUndone(step));
    if (lost) throw withoutCompensation(this.#saga.name, lost.name);
  }

  /** Whether another deployment could undo the step, and hasn't yet. */
  #couldBeUndone(step: StepNames): boolean {
    const { name, formerly = [] } = step;
    const names = this.#namesOnRecord(step);
    const compensation = { name: compensationOf(name), formerly: formerly.map(compensationOf) };
    if (this.#stateOf(compensation) === "done") return false;
    return Object.entries(this.#onRecord).some(
      ([each, { undo, next, undoNext }]) =>
        (undo && names.includes(each)) || (undoNext && names.includes(next ?? "")),
    );
  }

  #namesOnRecord(step: StepNames): readonly string[] {
    return namesOf(step).map((name) => nameIn(this.#saga.name, name));
  }

  #step<T>(name: string, work: (step: Step<Write>) => unknown, options: StepOptions): Promise<T> {
    const { name: saga } = this.#saga;
    const formerly = options.formerly?.map((each) => nameIn(saga, each));
    const all = { ...options, ...(formerly && { formerly }) };
    const driven = (step: Step<Write>) => this.#driver.around(step, () => work(step) as T);
    return this.#execution.step(nameIn(saga, name), driven, all);
  }

  /** Nothing is undone after the pivot: the key is held, and a later call continues. */
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

  /** Whether only the attempt ends, not the saga: time is up, the claim is lost, or the error says to retry later. */
  #endsAttempt(error: unknown, definition?: SagaStep<Input, Write>, isOfRun = false): boolean {
    if (this.#execution.signal.aborted) return true;
    const { code } = Object(error) as { readonly code?: unknown };
    if (typeof code === "string" && ENDS_ATTEMPT.test(code)) return true;
    // The outcome is unknown and the step can't be undone, so the key is held.
    if (code === "OUTCOME_UNKNOWN" && !definition?.compensate) return true;
    // `retryLater` decides about errors of `run`, and about an unknown outcome if a later call can ask `verify` again.
    // Without `verify`, no retry changes that outcome.
    const mayChange = isOfRun || definition?.verify !== undefined;
    const { timeoutSeconds = Number.POSITIVE_INFINITY, retryLater } = { ...definition };
    const isLate = ageOf(this.#execution) >= timeoutSeconds * 1000;
    return mayChange && !isLate && retryLater?.(error) === true;
  }

  #given(step: Step<Write>) {
    const { attempt, childKey, commit } = step;
    return {
      input: this.#input,
      results: this.#results,
      attempt,
      startedAt: startOf(this.#execution),
      childKey,
      commit,
      // Created on first use, like the step's own signal.
      get signal() {
        return step.signal;
      },
    };
  }
}

type StepNames = Pick<SagaStep<never>, "name" | "formerly">;
const namesOf = ({ name, formerly = [] }: StepNames): readonly string[] => [name, ...formerly];

const never = () => Promise.reject(new Error("a step that is done does not run"));
