/** A step's options with their rules, and the object that its work receives. */
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
   * Records with one more request that the step begins, before it runs. An interrupted step is never rerun automatically:
   * `verify` is asked how it ended, and the key is held if that stays unknown.
   * @default false: an interrupted step runs again, with the same child key. `true` for a step with `verify`
   */
  readonly atMostOnce?: boolean;
  /**
   * Answers whether an interrupted step had its effect; `happened` provides the step's result. Such a step is `atMostOnce`. Its
   * `childKey()` is the key that the step passed on.
   * @default - not asked, and the key of an `atMostOnce` step is held
   */
  readonly verify?: Verify<never>;
  /**
   * Whether an error proves that the step had no effect, such as a refused card: then the step may run again. Only with
   * `atMostOnce`.
   * @default - no error proves that
   */
  readonly didNotHappen?: (error: unknown) => boolean;
  /**
   * From this step on the operation is among the unknown outcomes until it ends. So operators can see an attempt that stopped
   * between two steps, even if no caller retries.
   * @default false; always on with `atMostOnce`
   */
  readonly tracked?: boolean;
  /**
   * Previous names of the step, oldest first: results that an earlier deployment recorded under them count. The step's child
   * key stays that of the oldest name.
   * @default - none
   */
  readonly formerly?: readonly string[];
  /** @internal The saga's next step, by its name in the record. */
  readonly next?: string | undefined;
  /** @internal Whether the saga can undo this step, and the one in `next`. */
  readonly undo?: boolean | undefined;
  /** @internal */
  readonly undoNext?: boolean | undefined;
}

/** The object that a step's work receives. */
export interface Step<Write = unknown> {
  readonly name: string;
  /** The number of this attempt at the operation: a fencing number to pass on. `undefined` in a run without a claim. */
  readonly attempt: number | undefined;
  /** The same as the execution's. */
  readonly signal: AbortSignal;
  /**
   * The key for the system that this step calls, the same in every attempt: `childKey(name)` of the execution. A step with
   * previous names keeps the key of the oldest.
   * @throws InvalidOptionError (`INVALID_OPTION`) if the limits leave less than 128 bits.
   */
  childKey(limits?: ChildKeyLimits): string;
  /**
   * Records `result` as the step's result and applies `writes`, in one transaction: both, or neither. Messages belong in the
   * execution's commit. Resolves to the result of the step.
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
  formerly: ["must be an array of the step's former names", areStepNames],
  next: stepName,
  undo: oneOf(true, false),
  undoNext: oneOf(true, false),
};

/** @throws StepInvalidError (`STEP_INVALID`), InvalidOptionError (`INVALID_OPTION`) */
export function checkStep(name: unknown, work: unknown, options: StepOptions): void {
  if (!isStepName(name)) throw new StepInvalidError(`the name of a step ${stepName[0]}`);
  if (typeof work !== "function") throw new StepInvalidError(`step \`${name}\` must be given a function`);
  checkOptions(options, STEP_CHECKS, []);
  const { verify, atMostOnce = verify !== undefined, didNotHappen } = options;
  if (!atMostOnce && (verify || didNotHappen)) {
    throw new StepInvalidError(
      `step \`${name}\` has \`${verify ? "verify" : "didNotHappen"}\` without \`atMostOnce: true\`: add it, because any other step simply runs again`,
    );
  }
}
