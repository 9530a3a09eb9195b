/** What a handler says of a step, with its rules, and what the step's work is given. */
import type { ChildKeyLimits } from "./child-key.ts";
import { StepInvalidError } from "./errors.ts";
import {
  aFunction,
  areStepNames,
  type Check,
  checkOptions,
  isStepName,
  oneOf,
  stepName,
} from "./option-checks.ts";
import type { WritesOf } from "./store.ts";
import type { Verify } from "./verify.ts";

export interface StepOptions {
  /**
   * Writes down that the step begins before it runs, by one more request. A step that was interrupted is never run again by
   * itself: `verify` is asked how it ended, and what nobody knows holds the key.
   * @default false: an interrupted step runs again, with the same child key
   */
  readonly atMostOnce?: boolean;
  /**
   * Asks whether an interrupted step had its effect; `happened` gives the result of the step. With `atMostOnce` alone.
   * @default - nobody is asked, and the key is held
   */
  readonly verify?: Verify<never>;
  /**
   * Whether an error proves that the step had no effect, such as a refused card: then the step may run again. With
   * `atMostOnce` alone.
   * @default - no error proves that
   */
  readonly didNotHappen?: (error: unknown) => boolean;
  /**
   * From this step on the operation is among the unknown outcomes until it ends. So somebody sees an attempt that has stopped
   * between two steps, although nobody calls again.
   * @default false, but with `atMostOnce`
   */
  readonly tracked?: boolean;
  /**
   * Former names of the step, the first of all first: what a deployment before this one finished under them counts. The child key of
   * the step stays that of the first.
   * @default - none
   */
  readonly formerly?: readonly string[];
  /** @internal The step of a saga that comes next, as its record names it. */
  readonly next?: string | undefined;
  /** @internal Whether the saga can undo this step, and the one in `next`. */
  readonly undo?: boolean | undefined;
  /** @internal */
  readonly undoNext?: boolean | undefined;
}

/** What the work of a step is given. */
export interface Step<Write = unknown> {
  readonly name: string;
  /** The number of this attempt at the operation: a fencing number to pass on. `undefined` in a run without a claim. */
  readonly attempt: number | undefined;
  /** As the execution's. */
  readonly signal: AbortSignal;
  /**
   * The key for the system that this step calls, the same in every attempt: `childKey(name)` of the execution. A step with former
   * names keeps the key of the first.
   * @throws InvalidOptionError (`INVALID_OPTION`) when the limits leave less than 128 bits.
   */
  childKey(limits?: ChildKeyLimits): string;
  /**
   * Records `result` as that of the step and applies `writes`, in one transaction: both, or neither. Messages go with the
   * commit of the execution. Resolves to the result of the step.
   * @throws TransactionConditionError (`TRANSACTION_CONDITION`), CommitInvalidError, ResponseNotStorableError: nothing is
   * written. ClaimLostError, StoreUnavailableError.
   */
  commit<T>(result: T, effects: { readonly writes: WritesOf<Write> }): Promise<T>;
}

const STEP_CHECKS: Readonly<Record<keyof StepOptions, Check>> = {
  atMostOnce: oneOf(true, false),
  verify: aFunction,
  didNotHappen: aFunction,
  tracked: oneOf(true, false),
  formerly: ["must be a list of the step's former names", areStepNames],
  next: stepName,
  undo: oneOf(true, false),
  undoNext: oneOf(true, false),
};

/** @throws StepInvalidError (`STEP_INVALID`), InvalidOptionError (`INVALID_OPTION`) */
export function checkStep(name: unknown, work: unknown, options: StepOptions): void {
  if (!isStepName(name)) throw new StepInvalidError(`the name of a step ${stepName[0]}`);
  if (typeof work !== "function") throw new StepInvalidError(`step \`${name}\` needs a function`);
  checkOptions(options, STEP_CHECKS, []);
  const { atMostOnce, verify, didNotHappen } = options;
  if (!atMostOnce && (verify || didNotHappen)) {
    throw new StepInvalidError(
      `step \`${name}\` has \`verify\` or \`didNotHappen\` without \`atMostOnce: true\`: it just runs again`,
    );
  }
}
