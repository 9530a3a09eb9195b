/** A step of a durable execution whose effect happens once, whatever interrupts it. */
import type { Work } from "../core/attempt.ts";
import type { ChildKeyLimits } from "../core/child-key.ts";
import { remainingMsOf } from "../core/clock.ts";
import { perform } from "../core/engine.ts";
import { StepInvalidError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import { fingerprintsOf } from "../core/fingerprint.ts";
import { hashTuple, identify, PUBLIC_SCOPE } from "../core/identity.ts";
import { MESSAGE_DEFAULTS } from "../core/message-age.ts";
import type { CallInput } from "../core/ongoing-call.ts";
import { aFunction, type Check, checkOptions, methods, stepName } from "../core/option-checks.ts";
import { ENGINE_CHECKS, type EngineOptions, withDefaults } from "../core/options.ts";
import { resultOf } from "../core/outcome.ts";
import { type ResolvedOptions, resolveOptions } from "../core/resolved-options.ts";
import type { AbandonedAttempt } from "../core/verify.ts";
import {
  coveringOperation,
  type DurableContextLike,
  isFirstUse,
  placeOf,
  readDurableContext,
} from "./context.ts";
import { currentStep, runInStep } from "./current-step.ts";
import { type DurableRetryStrategy, onceRetry } from "./once-retry.ts";

/** Options of the engine that the execution decides, or that other operations need. */
type Excluded = "fingerprint" | "keyFormat" | "operation" | "steps" | "whenKeyExpired";

export interface OnceStepOptions<Write = unknown> extends Omit<EngineOptions<Write>, Excluded> {
  /**
   * The operation of the step's record, for its metrics and permissions.
   * @default - the step's name
   */
  readonly operation?: string;
  /**
   * How long a finished record is honoured, in seconds. It has to outlast the retries of the step, and with `idempotentDurable` those
   * of the operation.
   * @default 3024000 (35 days)
   */
  readonly retentionSeconds?: number;
  /**
   * Whether to look for a finished record first. The SDK has already looked at its checkpoints.
   * @default false
   */
  readonly lookFirst?: boolean;
  /**
   * The SDK's retry strategy for this step.
   * @default - `onceRetry()`
   */
  readonly retryStrategy?: DurableRetryStrategy;
  /**
   * The SDK's serialization of the result, in its checkpoint.
   * @default - the context's own
   */
  readonly serdes?: object;
}

/** What the work of `onceStep` gets. */
export interface DurableStep<Write = unknown>
  extends Pick<Execution<Write>, "attempt" | "commit" | "key" | "signal"> {
  readonly name: string;
  /**
   * A key for the system that this step calls, the same in every attempt. A step that calls several gives each a name.
   * @param name by default the step's
   * @throws InvalidOptionError (`INVALID_OPTION`) if the limits leave less than 128 bits.
   */
  childKey(name?: string, limits?: ChildKeyLimits): string;
}

/** The part of the SDK's context that `onceStep` uses. */
export interface StepContextLike {
  readonly executionContext: { readonly durableExecutionArn: string };
  readonly lambdaContext: object;
  step<T>(name: string, work: () => Promise<T>, config: never): Promise<T>;
}

const STEP_CHECKS: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(
    Object.entries(ENGINE_CHECKS).filter(
      ([name]) => !["fingerprint", "keyFormat", "steps", "whenKeyExpired"].includes(name),
    ),
  ),
  retryStrategy: aFunction,
  serdes: methods("serialize", "deserialize"),
};

/**
 * Runs `work` once, as a step of a durable execution: `context.step`, with a record of its own. A retry that finds the effect done
 * gets its result: also if the invocation died between the effect and its checkpoint. What `work` commits is written in one
 * transaction with the record.
 *
 * The record's key is the execution and the step's `name`, so use each name once in a context. Within `idempotentDurable` it is the
 * operation and the name: if the handler throws, the next execution for that key skips the steps that are done.
 *
 * If an attempt dies without an answer, the step waits until its lease has ended, and then runs again with the same child keys;
 * or `whenAbandoned` decides: a function is asked whether the effect happened, `"hold"` waits for an operator. Neither fails the
 * execution.
 *
 * @throws StepInvalidError (`STEP_INVALID`), InvalidOptionError (`INVALID_OPTION`) immediately. Otherwise the SDK's `StepError`, whose
 * cause is the last error.
 */
export function onceStep<T, Write = unknown>(
  context: StepContextLike,
  name: string,
  work: (step: DurableStep<Write>) => T | Promise<T>,
  options: OnceStepOptions<Write>,
): Promise<T> {
  const durable = readDurableContext(context);
  const [rule, isName] = stepName;
  if (!isName(name)) throw new StepInvalidError(`the name of a step ${rule}`);
  if (typeof work !== "function") throw new StepInvalidError(`step \`${name}\` must be given a function`);
  const engineOptions = engineOptionsOf(name, options);
  const about = identityIn(durable, "step", name, engineOptions);
  const attempt: Work<Write> = (execution) => {
    const step = stepOf(name, execution);
    return runInStep(step, () => work(step));
  };
  const run = async () => {
    const ofPlugin = currentStep();
    if (ofPlugin) ofPlugin.reportsItself = true;
    return resultOf(await perform(engineOptions, callIn(durable, about), attempt)) as T;
  };
  const { clock, random } = engineOptions;
  const { retryStrategy = onceRetry({ clock, random }), serdes } = options;
  return context.step(name, run, { retryStrategy, ...(serdes && { serdes }) } as never);
}

/**
 * The record of a step or a saga in a durable context, from its execution, or from the operation that covers the context.
 * @throws StepInvalidError (`STEP_INVALID`) for a second one of that name in an invocation
 */
export function identityIn<Write>(
  durable: DurableContextLike,
  kind: "saga" | "step",
  name: string,
  { operation, fingerprints }: ResolvedOptions<Write>,
): Pick<CallInput, "fingerprints" | "identity"> {
  const covering = coveringOperation(durable);
  const { durableExecutionArn } = durable.executionContext;
  const within = covering ? [covering.recordKey, `${covering.startedAt}`] : [durableExecutionArn, ""];
  const place = placeOf(durable).slice(covering?.place.length ?? 0);
  const key = hashTuple(`onceonly/durable-${kind}/1`, ...within, place, name);
  if (!isFirstUse(durable, key)) {
    throw new StepInvalidError(
      `${kind} \`${name}\` is used twice in one durable context: give each ${kind} its own name, such as \`${name}-2\``,
    );
  }
  return {
    identity: identify(operation, PUBLIC_SCOPE, key),
    // The next execution may be for another payload.
    fingerprints: fingerprintsOf(fingerprints, covering?.fingerprint ?? null),
  };
}

export function callIn(
  { lambdaContext }: DurableContextLike,
  about: Pick<CallInput, "fingerprints" | "identity">,
): CallInput {
  const remainingMs = remainingMsOf(lambdaContext);
  return { ...about, payload: null, ...(remainingMs !== undefined && { remainingMs }) };
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
function engineOptionsOf<Write>(name: string, options: OnceStepOptions<Write>): ResolvedOptions<Write> {
  checkOptions(options, STEP_CHECKS, ["store"]);
  const { retryStrategy: _, serdes: __, whenAbandoned: asked, ...others } = options;
  const whenAbandoned =
    typeof asked === "function"
      ? (previous: AbandonedAttempt<never>) =>
          asked({ ...previous, childKey: (of = name, limits) => previous.childKey(of, limits) })
      : asked;
  const given = { ...others, ...(whenAbandoned && { whenAbandoned }) };
  return resolveOptions(
    withDefaults(given, { ...MESSAGE_DEFAULTS, lookFirst: false, operation: name }) as EngineOptions<Write>,
  );
}

function stepOf<Write>(name: string, execution: Execution<Write>): DurableStep<Write> {
  const { key, attempt, commit } = execution;
  return {
    ...{ name, key, attempt, commit },
    get signal() {
      return execution.signal;
    },
    childKey: (given = name, limits) => execution.childKey(given, limits),
  };
}
