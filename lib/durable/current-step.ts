/** The step in which code runs, for code that doesn't get it passed: an HTTP client, or any work of a plain SDK step. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildKeyLimits } from "../core/child-key.ts";
import { otherCopies, shared } from "../core/copies.ts";
import { StepInvalidError } from "../core/errors.ts";

/** A step whose work is running. */
export interface CurrentStep {
  readonly name: string;
  readonly childKey: (name?: string, limits?: ChildKeyLimits) => string;
  /** `onceStep` reports its own decisions. */
  reportsItself?: boolean;
}

const COPIES = "durable step";
const current = shared(COPIES, () => new AsyncLocalStorage<CurrentStep>());

export const runInStep = <T>(step: CurrentStep, work: () => T): T => current.run(step, work);

export const currentStep = (): CurrentStep | undefined => current.getStore();

/**
 * A key for the system that the running step calls, the same in each attempt of the step: pass it on as that system's idempotency
 * key. It works in a plain `context.step` if `oncePlugin()` is registered, and in `onceStep`, where it equals `step.childKey()`.
 * Call it anywhere in the step's work, for example once in an HTTP client that all steps share.
 *
 * @param name tells the systems apart if a step calls several; by default the step's name
 * @throws StepInvalidError (`STEP_INVALID`) outside of such a step. InvalidOptionError (`INVALID_OPTION`) if the limits leave less
 * than 128 bits.
 */
export function currentChildKey(name?: string, limits?: ChildKeyLimits): string {
  const step = currentStep();
  if (step) return step.childKey(name, limits);
  throw new StepInvalidError(
    `\`currentChildKey\` was called outside of a step: call it in the work of a step, and pass \`oncePlugin()\` in the \`plugins\` of \`withDurableExecution\`${otherCopies(COPIES)}`,
  );
}
