/** A step under way: the object that its work receives, and the result of its commit. */
import { deriveChildKey } from "./child-key.ts";
import { hasCode } from "./error-code.ts";
import { StepInvalidError } from "./errors.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import type { Step } from "./steps.ts";

export const claimless = (name: string, option = "whenStoreFails"): StepInvalidError =>
  new StepInvalidError(`step \`${name}\` needs a claim: leave \`${option}\` out`);

/** The object that a step's work receives, and the result of its commit. */
interface RunningStep<Write> extends Step<Write> {
  committed: Promise<unknown> | undefined;
  /** From then on nothing can be committed. */
  isOver: boolean;
}

/** @param firstName the name from which the child key is derived */
export function runningStep<Write>(
  name: string,
  firstName: string,
  { attempt, identity, options }: OngoingCall<Write>,
  signalOf: () => AbortSignal,
  record: (result: unknown, writes: readonly Write[]) => Promise<unknown>,
): RunningStep<Write> {
  // Without `this`, because handlers take methods out of their object.
  const running: RunningStep<Write> = {
    name,
    attempt,
    committed: undefined,
    isOver: false,
    get signal() {
      return signalOf();
    },
    childKey: (limits) => deriveChildKey(identity, firstName, limits),
    commit(result, effects) {
      if (running.committed || running.isOver) {
        throw new StepInvalidError("a step can commit only once, and before it returns");
      }
      const { writes, ...others } = Object(effects) as Partial<typeof effects>;
      const given = typeof writes === "function" ? [writes] : writes;
      if (!Array.isArray(given) || Object.keys(others).length > 0) {
        throw new StepInvalidError(
          "commit of a step expects the result first, then { writes }: send messages with the commit of the execution",
        );
      }
      if (attempt === undefined) throw claimless(name);
      const list: readonly Write[] = Array.from(given);
      options.store.checkEffects({ writes: list, messages: [] });
      const committed = record(result, list);
      running.committed = committed;
      committed.catch((error: unknown) => {
        // Nothing was written: the step may commit something else.
        if (hasCode(error, "TRANSACTION_CONDITION")) running.committed = undefined;
      });
      return committed as Promise<typeof result>;
    },
  };
  return running;
}
