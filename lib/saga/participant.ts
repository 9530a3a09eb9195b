/** The other side of a saga: a step and its compensation meet in one record, in whatever order their requests arrive. */
import { isOnceonlyError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import { aFunction, checkOptions } from "../core/option-checks.ts";
import { type RunOnceOptions, runOnce } from "../core/run-once.ts";

export interface ParticipantOptions<Input, Result, Write = unknown>
  extends Omit<RunOnceOptions<Write>, "fingerprint" | "isFinalError" | "shouldStore" | "mode" | "steps"> {
  /** The effect. `execution` is that of `runOnce`. */
  readonly run: (input: Input, execution: Execution<Write>) => Result | Promise<Result>;
  /**
   * Undoes the effect. `result` is what `run` resulted in; `undefined` where `run` may have had its effect, and has no result.
   */
  readonly compensate: (input: Input, result: Result | undefined, execution: Execution<Write>) => unknown;
}

export type ParticipantAnswer<Result> =
  | { readonly done: true; readonly result: Result }
  /** The compensation came first: nothing was done, and nothing will be. */
  | { readonly done: false };

export interface Participant<Input, Result> {
  /** Has the effect once per key, unless its compensation was there before. @throws as `runOnce` */
  run(key: string, input: Input): Promise<ParticipantAnswer<Result>>;
  /**
   * Undoes the effect once per key. Before the effect, or instead of it, this only takes care that the effect never happens.
   * @throws ExecutionInProgressError (`EXECUTION_IN_PROGRESS`) while `run` is at work: call again; and as `runOnce`
   */
  compensate(key: string, input: Input): Promise<void>;
}

/** What the record of the effect says. */
type Met<Result> =
  | { readonly met: "done"; readonly result?: Result }
  /** `mayHaveRun`: an attempt before was given back or abandoned, and nobody knows how far it got. */
  | { readonly met: "canceled"; readonly mayHaveRun: boolean };

/** As this participant records it; or the result of `run` alone, as a verdict of somebody who was asked gives that. */
function metOf<Result>(recorded: unknown): Met<Result> {
  const { met } = Object(recorded) as Partial<Met<Result>>;
  if (met === "done" || met === "canceled") return recorded as Met<Result>;
  return recorded === undefined ? { met: "done" } : { met: "done", result: recorded as Result };
}

/**
 * An operation that somebody else's saga calls, and may cancel. The compensation can be faster than the step, come without one, or
 * come twice. What arrives later does nothing: a compensation without an effect ("empty rollback"), and an effect after its
 * compensation ("suspension").
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function participant<Input, Result, Write = unknown>(
  options: ParticipantOptions<Input, Result, Write>,
): Participant<Input, Result> {
  const { run, compensate, ...given } = options;
  checkOptions({ run, compensate }, { run: aFunction, compensate: aFunction }, ["run", "compensate"]);
  // Step and compensation are about the same thing, and their requests may differ.
  const engine: RunOnceOptions<Write> = { ...given, fingerprint: () => "participant" };
  const back: RunOnceOptions<Write> = {
    ...engine,
    operation: `${given.operation}/compensate`,
    // A function is asked about the effect, not about what undoes it: that comes again.
    whenAbandoned: typeof given.whenAbandoned === "function" ? "run" : given.whenAbandoned,
  };
  return {
    async run(key, input) {
      const recorded = await runOnce<unknown, Write>(engine, key, null, async (execution) => {
        const result = await run(input, execution);
        return result === undefined ? { met: "done" } : { met: "done", result };
      });
      const met = metOf<Result>(recorded);
      return met.met === "done" ? { done: true, result: met.result as Result } : { done: false };
    },
    async compensate(key, input) {
      const recorded = await runOnce<unknown, Write>(engine, key, null, ({ attempt }) => ({
        met: "canceled",
        // A run without a claim has not seen what was there before.
        mayHaveRun: attempt !== 1,
      })).catch((error: unknown): Met<Result> => {
        // The effect was refused for good, and may have happened in part.
        if (isOnceonlyError(error) && error.code !== "PERMANENT") throw error;
        return { met: "canceled", mayHaveRun: true };
      });
      const met = metOf<Result>(recorded);
      if (met.met === "canceled" && !met.mayHaveRun) return;
      const result = met.met === "done" ? met.result : undefined;
      await runOnce(back, key, null, async (execution) => void (await compensate(input, result, execution)));
    },
  };
}
