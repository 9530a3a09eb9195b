/** A step under way: what its work is given, and what became of its commit. */
import { deriveChildKey } from "./child-key.ts";
import { hasCode } from "./error-code.ts";
import { StepInvalidError } from "./errors.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import type { Step } from "./steps.ts";

export const claimless = (name: string, option = "whenStoreFails"): StepInvalidError =>
  new StepInvalidError(`step \`${name}\` needs a claim: leave \`${option}\` out`);

/** What the work of a step is given, and what became of its commit. */
interface RunningStep<Write> extends Step<Write> {
  committed: Promise<unknown> | undefined;
  /** From then on nothing can be committed. */
  isOver: boolean;
}

/** @param firstName the child key is derived from that */
export function runningStep<Write>(
  name: string,
  firstName: string,
  { attempt, identity, options }: OngoingCall<Write>,
  signalOf: () => AbortSignal,
  record: (result: unknown, writes: readonly Write[]) => Promise<unknown>,
): RunningStep<Write> {
  // Without `this`: handlers take methods out of their object.
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
        throw new StepInvalidError("a step commits once, before it returns");
      }
      const { writes, ...others } = Object(effects) as Partial<typeof effects>;
      const given = typeof writes === "function" ? [writes] : writes;
      if (!Array.isArray(given) || Object.keys(others).length > 0) {
        throw new StepInvalidError(
          "the commit of a step takes the result, then { writes }: messages go with the commit of the execution",
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
