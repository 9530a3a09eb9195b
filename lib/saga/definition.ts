/** A saga, its steps, and the contexts of their functions. Types only. */
import type { ChildKeyLimits } from "../core/child-key.ts";
import type { Execution } from "../core/execution.ts";
import type { RunOnceOptions } from "../core/run-once.ts";
import type { Step, StepOptions } from "../core/steps.ts";

/** The results of a saga's steps, by name. Results that aren't known at compile time are `unknown`. */
export type SagaResults = Readonly<Record<string, unknown>>;

/**
 * The context of a step's `run`. Annotate it in one step, as `SagaStepContext<Order>`, and all steps of the saga know the
 * type of `input`.
 */
export interface SagaStepContext<Input, Write = unknown, Before = SagaResults>
  extends Pick<Step<Write>, "attempt" | "signal" | "childKey" | "commit"> {
  readonly input: Input;
  /** When the saga began (epoch ms). Pass it to a `participant`, which then knows that its record may have expired. */
  readonly startedAt: number;
  /** The results of earlier steps, by name. Reading a result that was too large to keep throws ResultNotKeptError. */
  readonly results: Before;
}

/** The context of a compensation. */
export interface CompensationContext<Input, Write = unknown, Result = unknown, Before = SagaResults>
  extends SagaStepContext<Input, Write, Before> {
  /**
   * The step's result, or `undefined` if it's unknown whether the step happened. Reading a result that was too large to
   * keep throws ResultNotKeptError; use `stepKey` to identify the effect instead.
   */
  readonly result: Result | undefined;
  /** The child key that the step passed on. */
  readonly stepKey: (limits?: ChildKeyLimits) => string;
}

/** @internal */
export type Compensation<Input, Write> = (context: CompensationContext<Input, Write>) => unknown;

/** A step of a saga. In a list built at run time, use `SagaStep<Input>`. */
export interface SagaStep<
  Input,
  Write = unknown,
  Name extends string = string,
  Result = unknown,
  Before = SagaResults,
> extends Pick<StepOptions, "atMostOnce" | "verify"> {
  /**
   * Identifies the step within its saga, across deployments too: without `/`, and at most 52 characters with the saga's
   * name.
   */
  readonly name: Name;
  /**
   * One effect. Its result must be JSON, and is recorded. An interrupted step runs again with the same child key, unless
   * you set `atMostOnce`.
   */
  readonly run: (context: SagaStepContext<Input, Write, Before>) => Result | PromiseLike<Result>;
  /**
   * Undoes the effect. It may run even if the step never happened, and more than once, so make it a no-op when there's
   * nothing to undo. Steps are undone in reverse order.
   * @default - nothing is undone
   */
  readonly compensate?: (context: CompensationContext<Input, Write, Result, Before>) => unknown;
  /**
   * Once this step is done, the saga only goes forward. At most one step can have it.
   * @default false
   */
  readonly pivot?: boolean;
  /**
   * Whether an error proves that the step had no effect, such as a declined card: the step is then not undone.
   * @default - no error proves that
   */
  readonly didNotHappen?: (error: unknown) => boolean;
  /**
   * Previous names of the step, the first one ever first: a step done under one of them counts as done. The child keys of
   * the step and its compensation stay those of the first name.
   * @default - none
   */
  readonly formerly?: readonly string[];
  /**
   * Whether the saga stays where it is after this error from `run`, so that a retry continues there. With `atMostOnce`,
   * the step doesn't run again: a call after a minute asks `verify`, or the saga turns back.
   * @default - each error turns the saga back
   */
  readonly retryLater?: (error: unknown) => boolean;
  /**
   * How long `retryLater` may keep the saga at this step, in seconds since the saga began, 1 to 31622400. `run` is always tried
   * first, and if it fails after that time, the saga turns back. Nothing wakes the saga: have it called then, for example by a
   * message with `deliverAt`. Not possible after the pivot.
   * @default - without end
   */
  readonly timeoutSeconds?: number;
}

export interface SagaOptions {
  /**
   * The HTTP status for a saga that was undone.
   * @default 409
   */
  readonly statusCode?: number;
}

/** `Results` are the results of its steps, by name. */
export interface Saga<Input, Write = unknown, Results = SagaResults> {
  /** The names of all its steps in the record. Add them to the `steps` option of a handler that has other steps too. */
  readonly steps: readonly string[];
  /**
   * Runs the saga inside a handler, as part of its operation: `await placeOrder.run(context.idempotency, order)`.
   * Resolves to the results by step name. A retry continues after the last finished step.
   * @throws SagaCompensatedError (`PERMANENT`): everything is undone; recorded and replayed if the handler rethrows it.
   * SagaPendingError (`SAGA_PENDING`): a compensation, or a step after the pivot, failed; the key is held, and a call
   * after a minute continues. RecordCorruptError (`RECORD_CORRUPT`): another deployment left a step that this definition
   * doesn't have. OutcomeUnknownError, ClaimLostError, StoreUnavailableError, StepInvalidError.
   */
  run(execution: Execution<Write>, input: Input): Promise<Results>;
  /**
   * Runs the saga without a handler, once per key: its name is the operation. Two calls with the same key are one saga.
   * @throws the same errors as `run` and `runOnce`.
   */
  start(options: Omit<RunOnceOptions<Write>, "operation">, key: string, input: Input): Promise<Results>;
}

/** @internal */
export interface SagaDefinition<Input, Write> {
  readonly name: string;
  readonly steps: readonly SagaStep<Input, Write>[];
  /** The index of the step after which nothing is undone; infinite if there is none. */
  readonly pivot: number;
  readonly statusCode: number;
}
