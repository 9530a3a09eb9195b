/** Ordered steps with compensations: either all are done, or the done ones are undone. */
import { MAX_RETENTION_SECONDS, STOPPED, TURNED_BACK } from "../contract.ts";
import { otherCopies } from "../core/copies.ts";
import { InvalidOptionError, StepInvalidError } from "../core/errors.ts";
import { type Execution, stepsOf } from "../core/execution.ts";
import {
  aFunction,
  type Check,
  checkOptions,
  isStepName,
  oneOf,
  seconds,
  text,
} from "../core/option-checks.ts";
import { type RunOnceOptions, runOnce } from "../core/run-once.ts";
import type { StepOptions } from "../core/steps.ts";
import type { DefineSaga } from "./define-saga.ts";
import type { Saga, SagaOptions, SagaStep } from "./definition.ts";
import { makeDrivable, type SagaDriver, UNDRIVEN } from "./driven-saga.ts";
import { compensationOf, nameIn, SagaRun, unknownStep } from "./saga-run.ts";

/** For both names together: `<saga>/<step>/compensate` is the name of a step. */
const MAX_NAMES = 52;

const isName = (value: unknown): value is string =>
  isStepName(value) && text(MAX_NAMES)[1](value) && !(value as string).includes("/");

const STEP_CHECKS: Readonly<Record<keyof SagaStep<unknown>, Check>> = {
  name: [
    "must be a string of 1 to 52 characters without /, and not the name of a property that every object has",
    isName,
  ],
  run: aFunction,
  compensate: aFunction,
  pivot: oneOf(true, false),
  retryLater: aFunction,
  timeoutSeconds: seconds(1, MAX_RETENTION_SECONDS),
  atMostOnce: oneOf(true, false),
  verify: aFunction,
  didNotHappen: aFunction,
  formerly: ["must be an array of former names", (value) => Array.isArray(value) && value.every(isName)],
};

const SAGA_CHECKS: Readonly<Record<keyof SagaOptions, Check>> = {
  statusCode: [
    "must be an HTTP status between 400 and 599",
    (value) => Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599,
  ],
};

/** Each step and each compensation needs one of an operation's 100 names, and so do two marks. */
const MAX_STEPS = 49;

/**
 * Defines a saga: steps in order, each with the compensation that undoes it. Either all steps are done, or the done ones
 * are undone in reverse. An effect happens once if it is a `commit`, or if its system honors the child key. After a crash
 * at any point, the next attempt resumes the saga, in this function or another one with the same definition. If nothing
 * fails, a step costs one request.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) for an invalid definition.
 */
export const saga: DefineSaga = define;

function define<Input, Write>(
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
  const runDriven = async (execution: Execution<Write>, input: Input, driver: SagaDriver) => {
    const recorded = stepsOf(execution);
    if (!recorded) {
      throw new StepInvalidError(
        `${name} expects the handler's execution as its first argument: \`run(context.idempotency, input)\`${otherCopies("nesting")}`,
      );
    }
    const its = Object.entries(recorded).flatMap(([each, { next = each }]) => [each, next]);
    const other = its.find((each) => each.startsWith(`${name}/`) && !known.includes(each));
    if (other !== undefined) throw unknownStep(name, other);
    return new SagaRun(definition, execution, input, driver).run();
  };
  const run = (execution: Execution<Write>, input: Input) => runDriven(execution, input, UNDRIVEN);
  const alone = new WeakMap<object, RunOnceOptions<Write>>();
  const made: Saga<Input, Write> = {
    run,
    steps: known,
    start: async (given, key, input) => {
      const all = alone.get(given) ?? { ...given, operation: name };
      alone.set(given, all);
      return runOnce(all, key, input, (execution: Execution<Write>) => run(execution, input));
    },
  };
  const names = definition.steps.map((step) => step.name);
  return makeDrivable(made, { name, steps: names, run: runDriven as never });
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
    throw new InvalidOptionError("steps", `must be an array of 1 to ${MAX_STEPS} steps`, steps);
  }
  const names = new Set<string>();
  for (const step of steps) {
    checkOptions(step, STEP_CHECKS, ["name", "run"]);
    if (step.verify && step.atMostOnce === false) {
      throw new InvalidOptionError(
        "verify",
        `is never asked about a step with \`atMostOnce: false\`, because that simply runs again; the step is ${step.name}`,
      );
    }
    if (step.timeoutSeconds !== undefined && !step.retryLater) {
      throw new InvalidOptionError(
        "timeoutSeconds",
        `limits how long \`retryLater\` keeps the saga at a step, and the step ${step.name} has none: add \`retryLater\`, or remove it`,
      );
    }
    for (const each of [step.name, ...(step.formerly ?? [])]) {
      if (names.has(each))
        throw new InvalidOptionError("name", `must be unique, but two steps have the name ${each}`);
      if (name.length + each.length > MAX_NAMES) {
        throw new InvalidOptionError(
          "name",
          `and the saga's name must have at most ${MAX_NAMES} characters together; the step is ${each}`,
        );
      }
      names.add(each);
    }
  }
  const pivots = steps.filter(({ pivot }) => pivot);
  if (pivots.length > 1) {
    throw new InvalidOptionError(
      "pivot",
      `must be set on a single step, but these have it: ${pivots.map((step) => step.name).join(", ")}`,
    );
  }
  const pivot = pivotOf(steps);
  const late = steps.find(({ compensate }, index) => compensate && index > pivot);
  if (late) {
    throw new InvalidOptionError(
      "compensate",
      `isn't possible after the pivot, because nothing is undone from there on: remove it from the step ${late.name}`,
    );
  }
  const endless = steps.find(({ timeoutSeconds }, index) => timeoutSeconds !== undefined && index > pivot);
  if (endless) {
    throw new InvalidOptionError(
      "timeoutSeconds",
      `isn't possible after the pivot, because the saga can't turn back from there on: remove it from the step ${endless.name}`,
    );
  }
  return steps;
}
