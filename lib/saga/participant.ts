/** The called side of a saga: a step and its compensation share one record, whichever request arrives first. */
import { MAX_RETENTION_SECONDS } from "../contract.ts";
import { InvalidOptionError, isOnceonlyError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import { identify, PUBLIC_SCOPE } from "../core/identity.ts";
import { aFunction, checkOptions } from "../core/option-checks.ts";
import { DEFAULTS } from "../core/options.ts";
import { onceOutcomeOf, performOnce, type RunOnceOptions } from "../core/run-once.ts";

export interface ParticipantOptions<Input, Result, Write = unknown>
  extends Omit<
    RunOnceOptions<Write>,
    "fingerprint" | "isFinalError" | "shouldStore" | "mode" | "steps" | "whenKeyExpired"
  > {
  /** The effect. `execution` is the one of `runOnce`. */
  readonly run: (input: Input, execution: Execution<Write>) => Result | Promise<Result>;
  /**
   * Undoes the effect. `result` is the return value of `run`; `undefined` if `run` may have had its effect but has no
   * result.
   */
  readonly compensate: (input: Input, result: Result | undefined, execution: Execution<Write>) => unknown;
  /**
   * How long the participant remembers a step, in seconds. It must outlive every saga that calls it, and a saga can be
   * held for weeks. With less than the default, each call must pass `startedAt`.
   * @default 31622400 (366 days)
   */
  readonly retentionSeconds?: number;
}

/** What a participant knows about the saga that calls it. */
export interface ParticipantCall {
  /**
   * When the saga began (epoch ms): the `startedAt` of its step. If that's longer ago than the retention, a missing
   * record no longer proves that nothing happened, and the call is refused.
   * @default - unknown, so a missing record counts as "never ran"
   */
  readonly startedAt?: number;
}

export type ParticipantAnswer<Result> =
  | { readonly done: true; readonly result: Result }
  /** The compensation came first or has run: nothing was done and nothing will be, or the effect is undone. */
  | { readonly done: false };

export interface Participant<Input, Result> {
  /**
   * Has the effect once per key, unless the compensation came first.
   * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) if the record has expired or may have; and the errors
   * of `runOnce`
   */
  run(key: string, input: Input, about?: ParticipantCall): Promise<ParticipantAnswer<Result>>;
  /**
   * Undoes the effect once per key. If the effect hasn't happened, this only ensures that it never will.
   * @throws ExecutionInProgressError (`EXECUTION_IN_PROGRESS`) while `run` is running: call again.
   * IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) if the record has expired or may have, so nothing shows
   * whether there's something to undo. And the errors of `runOnce`.
   */
  compensate(key: string, input: Input, about?: ParticipantCall): Promise<void>;
}

/** The content of the effect's record. */
type Met<Result> =
  | { readonly met: "done"; readonly result?: Result }
  /** `mayHaveRun`: an earlier attempt was released or abandoned, and it's unknown how far it got. */
  | { readonly met: "canceled"; readonly mayHaveRun: boolean };

/** Reads the participant's own form, or the plain result of `run`, which a `verify` function returns. */
function metOf<Result>(recorded: unknown): Met<Result> {
  const { met } = Object(recorded) as Partial<Met<Result>>;
  if (met === "done" || met === "canceled") return recorded as Met<Result>;
  return recorded === undefined ? { met: "done" } : { met: "done", result: recorded as Result };
}

/**
 * An operation that another service's saga calls and may cancel. The compensation may arrive before the step, without it,
 * or twice. The later request does nothing: neither a compensation without an effect ("empty rollback") nor an effect
 * after its compensation ("suspension"). Both are remembered for `retentionSeconds`, and refused after that.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function participant<Input, Result, Write = unknown>(
  options: ParticipantOptions<Input, Result, Write>,
): Participant<Input, Result> {
  const { run, compensate, ...given } = options;
  checkOptions({ run, compensate }, { run: aFunction, compensate: aFunction }, ["run", "compensate"]);
  const { retentionSeconds = MAX_RETENTION_SECONDS, clockSkewSeconds = DEFAULTS.clockSkewSeconds } = given;
  const engine: RunOnceOptions<Write> = {
    ...given,
    retentionSeconds,
    // "No record" would be read as "never ran".
    whenKeyExpired: "reject",
    // Step and compensation concern the same thing, but their requests may differ.
    fingerprint: () => "participant",
  };
  const back: RunOnceOptions<Write> = {
    ...engine,
    operation: `${given.operation}/compensate`,
    // A function is asked only about the effect. The compensation simply runs again.
    whenAbandoned: typeof given.whenAbandoned === "function" ? "run" : given.whenAbandoned,
  };

  async function once(
    all: RunOnceOptions<Write>,
    key: string,
    { startedAt }: ParticipantCall,
    work: (execution: Execution<Write>) => unknown,
  ) {
    const isTime = typeof startedAt === "number" && Number.isFinite(startedAt);
    if (startedAt === undefined ? retentionSeconds < MAX_RETENTION_SECONDS : !isTime) {
      throw new InvalidOptionError(
        "startedAt",
        `must be the time when the saga began (epoch ms), as its step knows it; it is required while \`retentionSeconds\` is less than ${MAX_RETENTION_SECONDS} (366 days)`,
        startedAt,
      );
    }
    const usedSince = startedAt === undefined ? undefined : startedAt - clockSkewSeconds * 1000;
    return onceOutcomeOf(await performOnce(all, key, null, work, { usedSince }));
  }

  /** Checked for a replayed step: a later saga with the same key must not count on an effect that was undone. */
  async function isUndone(key: string): Promise<boolean> {
    const { recordKey } = identify(back.operation, given.scope ?? PUBLIC_SCOPE, key);
    return (await given.store.find(recordKey, { consistent: true })) !== undefined;
  }

  return {
    async run(key, input, about = {}) {
      const { result: recorded, replayed } = await once(engine, key, about, async (execution) => {
        const result = await run(input, execution);
        return result === undefined ? { met: "done" } : { met: "done", result };
      });
      const met = metOf<Result>(recorded);
      if (met.met === "canceled" || (replayed && (await isUndone(key)))) return { done: false };
      return { done: true, result: met.result as Result };
    },
    async compensate(key, input, about = {}) {
      const canceled = ({ attempt }: Execution<Write>): Met<Result> => ({
        met: "canceled",
        // A run without a claim hasn't seen earlier attempts.
        mayHaveRun: attempt !== 1,
      });
      const met = await once(engine, key, about, canceled).then(
        ({ result }) => metOf<Result>(result),
        (error: unknown): Met<Result> => {
          // The effect was refused for good, and may have happened in part.
          if (isOnceonlyError(error) && error.code !== "PERMANENT") throw error;
          return { met: "canceled", mayHaveRun: true };
        },
      );
      if (met.met === "canceled" && !met.mayHaveRun) return;
      const result = met.met === "done" ? met.result : undefined;
      await once(back, key, about, async (execution) => void (await compensate(input, result, execution)));
    },
  };
}
