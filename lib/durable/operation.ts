/** One operation that covers a whole durable execution, over all of its invocations. */
import type { Work } from "../core/attempt.ts";
import { perform } from "../core/engine.ts";
import { hasCode } from "../core/error-code.ts";
import { StoreUnavailableError } from "../core/errors.ts";
import { agedCall, commitTimeReader, MESSAGE_DEFAULTS } from "../core/message-age.ts";
import type { CallInput } from "../core/ongoing-call.ts";
import { type EngineOptions, withDefaults } from "../core/options.ts";
import { type Outcome, resultOf } from "../core/outcome.ts";
import { type ResolvedOptions, resolveOptions } from "../core/resolved-options.ts";
import { type CallReading, type Run, readCall } from "../lambda/adapter.ts";
import { warnOfBatch } from "../lambda/first-call.ts";
import { sentPart } from "../lambda/sent-part.ts";
import { cover, readDurableContext, refuseSecond, unlessSuspended, useKey } from "./context.ts";
import { type Ended, freeIfEnded, ownerFor } from "./ended-execution.ts";
import { invokeAgain, stopIfWithin } from "./invoke-again.ts";
import { coverScope } from "./once-plugin.ts";
import { checkDurableOptions, type DurableIdempotencyOptions, leaseSecondsOf } from "./options.ts";

/** Reads one event in a durable context, and returns what runs its work. */
export type DurableOperation<Write> = (event: unknown, context: unknown) => Run<Write>;

/**
 * @param resultOfEnded the operation's result, if that of the execution has it
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function durableOperation<Event, Write>(
  options: DurableIdempotencyOptions<Event, Write>,
  resultOfEnded: Ended["resultOf"],
): DurableOperation<Write> {
  checkDurableOptions(options as DurableIdempotencyOptions<never, never>);
  const {
    client,
    executionTimeoutSeconds,
    key,
    scope = "public",
    fingerprint = sentPart,
    ...given
  } = options as DurableIdempotencyOptions<unknown, Write>;
  const readTime = commitTimeReader(key);
  const engineOptions = resolveOptions({
    ...(readTime ? withDefaults(given, MESSAGE_DEFAULTS) : given),
    fingerprint,
  } as EngineOptions<Write>);
  const reading = { options: engineOptions, key, scope } as CallReading<Write>;
  // The claim lasts as long as an execution can, because nothing renews it while the execution is suspended.
  const lease = { leaseSeconds: leaseSecondsOf({ executionTimeoutSeconds }), renewal: "never" } as const;

  return (event, context) => {
    const durable = readDurableContext(context);
    refuseSecond(durable);
    warnOfBatch(engineOptions, event);
    const owner = ownerFor(durable.executionContext.durableExecutionArn);
    const call: CallInput = { ...readCall(reading, event, durable.lambdaContext), owner };
    const aged = agedCall(engineOptions, readTime?.(event as never), options);
    const { random } = engineOptions;
    // Also the token of a fence names the execution.
    const owned = { token: () => owner + random.token(), fraction: () => random.fraction() };
    const leased: ResolvedOptions<Write> = { ...aged.options, ...lease, random: owned };
    return async (work) => {
      const endUse = useKey(durable, call.identity.recordKey);
      try {
        const suspendable: Work<Write> = (attempt) => {
          const { recordKey } = call.identity;
          const [fingerprint = ""] = call.fingerprints;
          const covering = { recordKey, fingerprint, startedAt: attempt.startedAt };
          cover(durable, covering);
          coverScope(covering);
          return unlessSuspended(durable, async () => work(attempt));
        };
        const attempt = () => performDurably(leased, { ...call, ...aged.about }, suspendable);
        return resultOf(
          await orAfterEnded(attempt, { client, call, options: engineOptions, resultOf: resultOfEnded }),
        );
      } catch (error) {
        await stopIfWithin(durable, error);
        throw error;
      } finally {
        endUse();
      }
    };
  };
}

/** Another execution holds the key. If Lambda says that it has ended, this call goes on in its place. */
async function orAfterEnded<Write>(
  attempt: () => Promise<Outcome>,
  ended: Ended & { readonly options: ResolvedOptions<Write> },
): Promise<Outcome> {
  try {
    return await attempt();
  } catch (error) {
    if (!hasCode(error, "EXECUTION_IN_PROGRESS") || !(await freeIfEnded(ended))) throw error;
    return attempt();
  }
}

/**
 * An execution that fails has failed for good. So it must not fail because the store can't be reached, nor while its key isn't
 * free for another one: then the invocation fails, and Lambda calls the execution again.
 */
async function performDurably<Write>(
  options: ResolvedOptions<Write>,
  call: CallInput,
  work: Work<Write>,
): Promise<Outcome> {
  const decisions = new Set<string>();
  const observe: typeof options.observe = (event) => {
    decisions.add(event.decision);
    return options.observe(event);
  };
  let outcome: Outcome;
  try {
    outcome = await perform({ ...options, observe }, call, work);
  } catch (error) {
    throw hasCode(error, "STORE_UNAVAILABLE") ? invokeAgain(error) : error;
  }
  const { failure, replayed } = outcome;
  const isReleased = failure !== undefined && (decisions.has("released") || decisions.has("held"));
  const isRecorded = failure === undefined ? !decisions.has("completion-lost") : failure.isRecorded;
  if (replayed || isRecorded || isReleased) return outcome;
  throw invokeAgain(new StoreUnavailableError("unreachable", failure?.error));
}
