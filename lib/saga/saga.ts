/** Ordered steps with compensations: all of them are done, or what was done is undone. */
import { STOPPED, TURNED_BACK } from "../contract.ts";
import { otherCopies } from "../core/copies.ts";
import { InvalidOptionError, StepInvalidError } from "../core/errors.ts";
import { type Execution, stepsOf } from "../core/execution.ts";
import { aFunction, type Check, checkOptions, isStepName, oneOf, text } from "../core/option-checks.ts";
import { type RunOnceOptions, runOnce } from "../core/run-once.ts";
import type { StepOptions } from "../core/steps.ts";
import type { SagaStep } from "./definition.ts";
import { compensationOf, nameIn, SagaRun, unknownStep } from "./saga-run.ts";

export interface SagaOptions {
  /**
   * The HTTP status of a saga that was undone.
   * @default 409
   */
  readonly statusCode?: number;
}

export interface Saga<Input, Write = unknown> {
  /** The names of all its steps in the record: for the option `steps` of a handler that has others too. */
  readonly steps: readonly string[];
  /**
   * Runs the saga within a handler, as a part of its operation: `await placeOrder.run(context.idempotency, order)`. Resolves to the
   * results by the names of the steps. A retry goes on where the last attempt stopped.
   * @throws SagaCompensatedError (`PERMANENT`): all is undone; recorded and replayed if the handler throws it on.
   * SagaPendingError (`SAGA_PENDING`): a compensation, or a step behind the pivot, failed; the key is held, and a call after a
   * minute goes on. RecordCorruptError (`RECORD_CORRUPT`): another deployment left a step that this definition does not know.
   * OutcomeUnknownError, ClaimLostError, StoreUnavailableError, StepInvalidError.
   */
  run(execution: Execution<Write>, input: Input): Promise<Record<string, unknown>>;
  /**
   * Runs the saga alone, once per key: its name is the operation. Two calls with one key are one saga.
   * @throws as `run`, and as `runOnce`.
   */
  start(
    options: Omit<RunOnceOptions<Write>, "operation">,
    key: string,
    input: Input,
  ): Promise<Record<string, unknown>>;
}

/** Both names together: `<saga>/<step>/compensate` is the name of a step. */
const MAX_NAMES = 52;

const isName = (value: unknown): value is string =>
  isStepName(value) && text(MAX_NAMES)[1](value) && !(value as string).includes("/");

const STEP_CHECKS: Readonly<Record<keyof SagaStep<unknown>, Check>> = {
  name: ["must be text of 1 to 52 characters without /, and no name that every object has", isName],
  run: aFunction,
  compensate: aFunction,
  pivot: oneOf(true, false),
  retryLater: aFunction,
  atMostOnce: oneOf(true, false),
  verify: aFunction,
  didNotHappen: aFunction,
  formerly: ["must be a list of former names", (value) => Array.isArray(value) && value.every(isName)],
};

const SAGA_CHECKS: Readonly<Record<keyof SagaOptions, Check>> = {
  statusCode: [
    "must be an HTTP status from 400 to 599",
    (value) => Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599,
  ],
};

/** A step, its compensation, and two marks take a name each of the 100 that an operation has. */
const MAX_STEPS = 49;

/**
 * Defines a saga: steps in order, each with the compensation that undoes it. Either all steps are done, or those that were done
 * are undone in reverse. An effect happens once where it is a `commit`, or where its system heeds the child key. The next attempt
 * resumes the saga after a crash at any point, in this function or in another one with the same definition. On the happy path
 * a step costs one request.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) for a wrong definition.
 */
export function saga<Input, Write = unknown>(
  name: string,
  steps: readonly SagaStep<Input, Write>[],
  options: SagaOptions = {},
): Saga<Input, Write> {
  const definition = {
    name,
    steps: [...checked(name, steps, options)],
    pivot: pivotOf(steps),
    statusCode: options.statusCode ?? 409,
  };
  const known = [TURNED_BACK, STOPPED, ...steps.flatMap(namesOf)].map((each) => nameIn(name, each));
  const run = async (execution: Execution<Write>, input: Input) => {
    const recorded = stepsOf(execution);
    if (!recorded) {
      throw new StepInvalidError(
        `${name} takes the execution first, as the handler got it: \`run(context.idempotency, input)\`${otherCopies("nesting")}`,
      );
    }
    const its = Object.entries(recorded).flatMap(([each, { next = each }]) => [each, next]);
    const other = its.find((each) => each.startsWith(`${name}/`) && !known.includes(each));
    if (other !== undefined) throw unknownStep(name, other);
    return new SagaRun(definition, execution, input).run();
  };
  const alone = new WeakMap<object, RunOnceOptions<Write>>();
  return {
    run,
    steps: known,
    start: async (given, key, input) => {
      const all = alone.get(given) ?? { ...given, operation: name };
      alone.set(given, all);
      return runOnce(all, key, input, (execution: Execution<Write>) => run(execution, input));
    },
  };
}

const namesOf = ({ name, formerly = [] }: Pick<StepOptions, "formerly"> & { readonly name: string }) =>
  [name, ...formerly].flatMap((each) => [each, compensationOf(each)]);

function pivotOf(steps: readonly { readonly pivot?: boolean }[]): number {
  const pivot = steps.findIndex((step) => step.pivot);
  return pivot === -1 ? Number.POSITIVE_INFINITY : pivot;
}

function checked<Input, Write>(
  name: string,
  steps: readonly SagaStep<Input, Write>[],
  options: SagaOptions,
): readonly SagaStep<Input, Write>[] {
  const [rule, holds] = text(MAX_NAMES);
  if (!holds(name)) throw new InvalidOptionError("name", rule, name);
  checkOptions(options, SAGA_CHECKS, []);
  if (!Array.isArray(steps) || steps.length === 0 || steps.length > MAX_STEPS) {
    throw new InvalidOptionError("steps", `must be a list of 1 to ${MAX_STEPS} steps`, steps);
  }
  const names = new Set<string>();
  for (const step of steps) {
    checkOptions(step, STEP_CHECKS, ["name", "run"]);
    if (step.verify && !step.atMostOnce) {
      throw new InvalidOptionError(
        "verify",
        `is asked about a step with \`atMostOnce: true\` alone, as others run again: ${step.name}`,
      );
    }
    for (const each of [step.name, ...(step.formerly ?? [])]) {
      if (names.has(each))
        throw new InvalidOptionError("name", `must differ: two steps have the name ${each}`);
      if (name.length + each.length > MAX_NAMES) {
        throw new InvalidOptionError(
          "name",
          `must have at most ${MAX_NAMES} characters with that of its saga: ${each}`,
        );
      }
      names.add(each);
    }
  }
  const pivots = steps.filter(({ pivot }) => pivot);
  if (pivots.length > 1) {
    throw new InvalidOptionError(
      "pivot",
      `must be that of one step: there are ${pivots.map((step) => step.name).join(", ")}`,
    );
  }
  const pivot = pivotOf(steps);
  const late = steps.find(({ compensate }, index) => compensate && index > pivot);
  if (late) {
    throw new InvalidOptionError(
      "compensate",
      `must be left out behind the pivot, from where on nothing is undone: ${late.name}`,
    );
  }
  return steps;
}
