/** A saga inside a durable execution, which can wait for days between two of its steps. */
import { perform } from "../core/engine.ts";
import { hasCode } from "../core/error-code.ts";
import {
  InvalidOptionError,
  OutcomeUnknownError,
  SagaCompensatedError,
  SagaPendingError,
} from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import { MESSAGE_DEFAULTS } from "../core/message-age.ts";
import { suggestion } from "../core/nearest.ts";
import { aFunction, type Check, checkOptions, methods } from "../core/option-checks.ts";
import { ENGINE_CHECKS, type EngineOptions, withDefaults } from "../core/options.ts";
import { resultOf } from "../core/outcome.ts";
import { type ResolvedOptions, resolveOptions } from "../core/resolved-options.ts";
import type { Saga } from "../saga/definition.ts";
import { type DrivenSaga, drivenSaga, type SagaDriver, type SagaPaused } from "../saga/driven-saga.ts";
import { readDurableContext } from "./context.ts";
import { type CurrentStep, currentStep, runInStep } from "./current-step.ts";
import { endsInvocation } from "./invoke-again.ts";
import { onceRetry } from "./once-retry.ts";
import { callIn, identityIn, type OnceStepOptions, type StepContextLike } from "./once-step.ts";

/** Why a saga can't go on by itself: a compensation or a step after the pivot failed, or an outcome is unknown. */
export type SagaHeldError = SagaPendingError | OutcomeUnknownError;

/** The part of the SDK's context that `onceSaga` uses. */
export interface SagaContextLike extends StepContextLike {
  wait(name: string, duration: { seconds: number }): PromiseLike<unknown>;
}

export interface OnceSagaOptions<
  Write = unknown,
  Context = SagaContextLike,
  Input = unknown,
  Names extends string = string,
> extends Omit<OnceStepOptions<Write>, "lookFirst" | "mode" | "retryStrategy" | "whenAbandoned"> {
  /**
   * What the execution does before a step, by the step's name: a wait, a callback, or any other operation of the durable context. If it
   * throws, the saga turns back, or is held after its pivot.
   * @default - the steps follow each other immediately
   */
  readonly before?: { readonly [Step in Names]?: (context: Context, input: Input) => PromiseLike<unknown> };
  /**
   * Runs if the saga can't go on by itself. Ask a person, by `context.waitForCallback`: when it resolves, the saga tries again. If it
   * throws, so does the execution, and the saga stays held.
   * @default - waits for a minute and tries again, each time for longer, up to an hour
   */
  readonly whenHeld?: (context: Context, error: SagaHeldError) => PromiseLike<unknown>;
}

/** The end of a part of the saga, as the SDK checkpoints it: a replay takes the same way. */
type PartEnd =
  | { readonly results: Record<string, unknown> }
  | { readonly before: string; readonly isFirst: boolean }
  | { readonly undone: Undone }
  | { readonly held: Held };

interface Undone {
  readonly step: string;
  readonly statusCode: number;
  readonly message: string;
  readonly cause: string;
}

interface Held {
  readonly message: string;
  readonly cause: string;
  readonly pending?: readonly string[];
}

const SAGA_CHECKS: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(
    Object.entries(ENGINE_CHECKS).filter(
      ([name]) =>
        ![
          "fingerprint",
          "keyFormat",
          "lookFirst",
          "mode",
          "steps",
          "whenAbandoned",
          "whenKeyExpired",
        ].includes(name),
    ),
  ),
  before: ["must be an object with a function for each step to wait before", isListOfFunctions],
  whenHeld: aFunction,
  serdes: methods("serialize", "deserialize"),
};

function isListOfFunctions(value: unknown): boolean {
  return (
    Object(value) === value && Object.values(value as object).every((each) => typeof each === "function")
  );
}

/** A held key may be asked for again after a minute. */
const HOLD_PAUSE_SECONDS = 61;
const LONGEST_PAUSE_SECONDS = 3600;

const pauseAfter = (attempts: number, seconds: number) => ({
  seconds: Math.min(seconds * 2 ** Math.min(attempts - 1, 12), LONGEST_PAUSE_SECONDS),
});

/**
 * Runs a `saga` as a part of a durable execution: all of its steps are done, or those that are done are undone, wherever the execution
 * is interrupted and however long it waits in between. It's the same definition that `saga.run` runs in any other handler. The saga
 * has one record, with the execution and its name as the key; within `idempotentDurable` the operation and its name.
 *
 * From one wait to the next the saga is one step of the SDK. A step that throws an error for which `retryLater` is true is tried again
 * for as long as the execution lives.
 *
 * @throws SagaCompensatedError (`PERMANENT`): everything is undone. InvalidOptionError (`INVALID_OPTION`), StepInvalidError
 * (`STEP_INVALID`) immediately. The errors of `whenHeld`. The SDK's `StepError` if the saga can't go on in this deployment.
 */
export async function onceSaga<
  Input,
  Write,
  Results extends object,
  Context extends SagaContextLike = SagaContextLike,
>(
  context: Context,
  saga: Saga<Input, Write, Results>,
  input: Input,
  options: OnceSagaOptions<Write, Context, Input, keyof Results & string>,
): Promise<Results> {
  const durable = readDurableContext(context);
  const driven = drivenSaga(saga);
  const { name } = driven;
  const engineOptions = engineOptionsOf(driven, options);
  const { before = {}, whenHeld, serdes }: OnceSagaOptions<Write, Context, Input> = options;
  const about = identityIn(durable, "saga", name, engineOptions);
  const { clock, random } = engineOptions;
  // Errors for which a step asks to retry, and those of an invocation whose time is up.
  const otherwise = (_error: Error, attempts: number) => ({
    shouldRetry: true,
    delay: pauseAfter(attempts, 1),
  });
  const config = { retryStrategy: onceRetry({ clock, random, otherwise }), ...(serdes && { serdes }) };
  const passed = new Set<string>();
  let refused: { readonly step: string; readonly error: unknown } | undefined;
  /** No earlier execution has begun the saga. */
  let isFirst = false;
  let current: Execution<never>;
  const driver: SagaDriver = {
    before: (step) => {
      if (refused?.step === step) return { error: refused.error, neverRan: isFirst };
      return passed.has(step) || !Object.hasOwn(before, step) ? "run" : "pause";
    },
    around: (step, work) => {
      const childKey: CurrentStep["childKey"] = (of, limits) =>
        of === undefined ? step.childKey(limits) : current.childKey(of, limits);
      return runInStep({ name: step.name, childKey }, work);
    },
  };
  const runPart = async (): Promise<PartEnd> => {
    const ofPlugin = currentStep();
    if (ofPlugin) ofPlugin.reportsItself = true;
    let hasRun = false;
    try {
      const outcome = await perform(engineOptions, callIn(durable, about), (execution) => {
        hasRun = true;
        current = execution as Execution<never>;
        return driven.run(current, input, driver);
      });
      return { results: resultOf(outcome) as Record<string, unknown> };
    } catch (error) {
      // A key that is held since less than a minute only has to be claimed later.
      if (!hasRun && hasCode(error, "OUTCOME_UNKNOWN")) throw error;
      return endOf(error, current?.attempt === 1);
    }
  };

  for (let part = 1, holds = 0; ; part++) {
    const end = await context.step(part === 1 ? name : `${name} ${part}`, runPart, config as never);
    if ("results" in end) return end.results as Results;
    if ("undone" in end) throw compensatedError(name, end.undone, refused?.error);
    if ("held" in end) {
      // The wait before that step comes again.
      refused = undefined;
      if (whenHeld) await whenHeld(context, heldError(name, end.held));
      holds++;
      await context.wait(`${name} is held`, pauseAfter(whenHeld ? 1 : holds, HOLD_PAUSE_SECONDS));
      continue;
    }
    isFirst ||= part === 1 && end.isFirst;
    try {
      await before[end.before]?.(context, input);
      passed.add(end.before);
    } catch (error) {
      if (endsInvocation(error)) throw error;
      refused = { step: end.before, error };
    }
  }
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
function engineOptionsOf<Write>(
  { name, steps }: DrivenSaga,
  options: OnceSagaOptions<Write, never, never>,
): ResolvedOptions<Write> {
  checkOptions(options, SAGA_CHECKS, ["store"]);
  const { before = {}, whenHeld: _, serdes: __, ...given } = options;
  const other = Object.keys(before).find((step) => !steps.includes(step));
  if (other !== undefined) {
    const known = suggestion(other, steps, "its steps");
    throw new InvalidOptionError("before", `has ${other}, which isn't a step of ${name} ${known}`);
  }
  return resolveOptions(
    withDefaults(given, { ...MESSAGE_DEFAULTS, lookFirst: false, operation: name }) as EngineOptions<Write>,
  );
}

/** @throws the error, if the saga only has to be tried again */
function endOf(error: unknown, isFirst: boolean): PartEnd {
  const { name, message, cause, before = "", step = "", statusCode = 409, pending } = error as SagaEnd;
  if (name === "SagaPaused") return { before, isFirst };
  const about = { message, cause: `${cause}` };
  if (name === "SagaCompensatedError") return { undone: { ...about, step, statusCode } };
  if (hasCode(error, "SAGA_PENDING")) return { held: { ...about, ...(pending && { pending }) } };
  if (hasCode(error, "OUTCOME_UNKNOWN")) return { held: about };
  throw error;
}

/** The errors that end a part. A replayed one has only the fields of a PermanentError. */
type SagaEnd = Error &
  Partial<Pick<SagaPaused, "before"> & Pick<SagaCompensatedError, "statusCode" | "step">> &
  Partial<Pick<SagaPendingError, "pending">>;

function compensatedError(saga: string, undone: Undone, reason: unknown): SagaCompensatedError {
  const { step, statusCode, message, cause } = undone;
  const error = new SagaCompensatedError(saga, step, { statusCode, cause: reason ?? new Error(cause) });
  return Object.assign(error, { message });
}

function heldError(saga: string, { pending, message, cause }: Held): SagaHeldError {
  const why = new Error(cause);
  const error = pending
    ? new SagaPendingError(saga, "", pending, { cause: why })
    : new OutcomeUnknownError(why);
  return Object.assign(error, { message });
}
