/** Runs one record under the engine. Never throws: an error of one record isn't an error of the batch. */
import type { Work } from "../../core/attempt.ts";
import { reportDecision } from "../../core/decisions.ts";
import { perform } from "../../core/engine.ts";
import { hasCode } from "../../core/error-code.ts";
import type { ExecutionInProgressError } from "../../core/errors.ts";
import type { CallInput } from "../../core/ongoing-call.ts";
import type { ResolvedOptions } from "../../core/resolved-options.ts";
import { type CallReading, readCall } from "../adapter.ts";
import type { BatchSettings } from "./batch-settings.ts";
import type { BatchItem } from "./item.ts";

export type RecordEnd =
  | { readonly end: "done" }
  /** The record stores the error: running again would only replay it. */
  | { readonly end: "final-error"; readonly error: unknown }
  | { readonly end: "in-progress"; readonly leaseEndsAt: number }
  /** An earlier attempt ended with an unknown outcome, and an operator must resolve it. */
  | { readonly end: "held"; readonly error: unknown }
  | { readonly end: "failed"; readonly error: unknown };

/**
 * If the user's `key` returns nothing, don't use another key: the record would run under it, and run again.
 * @throws as `readCall`, and IdempotencyKeyInvalidError for an envelope that can't be read.
 */
export function readItem<Write>(
  { reading, hasKey }: Pick<BatchSettings<Write>, "reading" | "hasKey">,
  item: BatchItem,
  context: unknown,
): CallInput {
  let isFallback = false;
  const keyOfItem: CallReading<Write>["key"] = () => {
    const named = item.envelopeKey?.();
    isFallback = named === undefined && item.isOwnKeyFallback;
    return named ?? item.ownKey;
  };
  const key = hasKey ? reading.key : keyOfItem;
  const call = readCall({ ...reading, key }, item, context);
  const { observe } = reading.options;
  if (isFallback) reportDecision(observe, call.identity, { decision: "key-fallback", durationMs: 0 });
  return { ...call, payload: item.record, traceparent: item.traceparent };
}

export async function runRecord<Write>(
  options: ResolvedOptions<Write>,
  call: CallInput,
  work: Work<Write>,
): Promise<RecordEnd> {
  try {
    const { failure } = await perform(options, { ...call, forgetsReturned: true }, work);
    if (!failure) return { end: "done" };
    return { end: failure.isRecorded ? "final-error" : "failed", error: failure.error };
  } catch (error) {
    // The handler's own errors are failures above, whatever their code: these errors are about this record.
    if (hasCode(error, "EXECUTION_IN_PROGRESS")) {
      return { end: "in-progress", leaseEndsAt: (error as ExecutionInProgressError).leaseExpiresAt };
    }
    if (hasCode(error, "OUTCOME_UNKNOWN")) return { end: "held", error };
    return hasCode(error, "RESULT_NOT_KEPT") ? { end: "done" } : { end: "failed", error };
  }
}
