/** The definition of a saga: its steps, and what their work and their compensations are given. Types only. */
import type { ChildKeyLimits } from "../core/child-key.ts";
import type { Step, StepOptions } from "../core/steps.ts";

/** What the work of a saga's step is given. */
export interface SagaStepContext<Input, Write = unknown>
  extends Pick<Step<Write>, "attempt" | "signal" | "childKey" | "commit"> {
  readonly input: Input;
  /** When the saga began (epoch ms): pass it on to a `participant`, which then knows that its record may have expired. */
  readonly startedAt: number;
  /** The results of the steps before, by name. To read one that is too large to be kept throws ResultNotKeptError. */
  readonly results: Readonly<Record<string, unknown>>;
}

/** What a compensation is given. */
export interface CompensationContext<Input, Write = unknown> extends SagaStepContext<Input, Write> {
  /**
   * The result of the step, or `undefined` if it's unknown whether the step happened. To read one that is too large to be
   * kept throws ResultNotKeptError: `stepKey` names the effect too.
   */
  readonly result: unknown;
  /** The child key that the step has passed on. */
  readonly stepKey: (limits?: ChildKeyLimits) => string;
}

/** @internal */
export type Compensation<Input, Write> = (context: CompensationContext<Input, Write>) => unknown;

export interface SagaStep<Input, Write = unknown> extends Pick<StepOptions, "atMostOnce" | "verify"> {
  /** Tells the steps of a saga apart, across deployments too: without `/`, and at most 52 characters with the saga's name. */
  readonly name: string;
  /**
   * One effect. The result is JSON, and recorded. An interrupted step runs again with the same child key, unless `atMostOnce` says
   * otherwise.
   */
  readonly run: (context: SagaStepContext<Input, Write>) => unknown;
  /**
   * Undoes the effect; also where nobody knows whether the effect has happened, and again after an interruption. So it does nothing
   * where there is nothing to undo. Waits for its turn: the last step is undone first.
   * @default - nothing is undone
   */
  readonly compensate?: (context: CompensationContext<Input, Write>) => unknown;
  /**
   * Once this step is done the saga only goes forward. At most one step.
   * @default false
   */
  readonly pivot?: boolean;
  /**
   * Whether an error proves that the step had no effect, such as a refused card: then this step is not undone.
   * @default - no error proves that
   */
  readonly didNotHappen?: (error: unknown) => boolean;
  /**
   * Former names of the step, the first of all first: what was done under them counts. The child keys of the step and its
   * compensation stay those of the first.
   * @default - none
   */
  readonly formerly?: readonly string[];
  /**
   * Whether the saga stays where it is after an error that `run` threw, so that a retry goes on. With `atMostOnce` the step
   * doesn't run again: a call after a minute asks `verify`, or turns back.
   * @default - each error turns the saga back
   */
  readonly retryLater?: (error: unknown) => boolean;
}

/** @internal */
export interface SagaDefinition<Input, Write> {
  readonly name: string;
  readonly steps: readonly SagaStep<Input, Write>[];
  /** The position of the step from which on nothing is undone; infinite where there is none. */
  readonly pivot: number;
  readonly statusCode: number;
}
