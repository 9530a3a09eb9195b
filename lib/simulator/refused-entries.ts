/** Takes those entries out of a batch that a fault refuses, and says so in its answer. */
import type { FailedEntry } from "../aws/sqs/operations.ts";
import type { RefusedEntries } from "./exchange.ts";

/** What reaches the service, and what does not. */
export function splitEntries<Entry>(
  entries: readonly Entry[],
  { entries: places }: RefusedEntries,
): { readonly passed: readonly Entry[]; readonly refused: readonly Entry[] } {
  const isRefused = (_: Entry, place: number) => places.includes(place);
  return {
    passed: entries.filter((entry, place) => !isRefused(entry, place)),
    refused: entries.filter(isRefused),
  };
}

/** As SQS and SNS tell of them. */
export function failedEntries(
  refused: readonly { readonly Id: string }[],
  { code, senderFault = false }: RefusedEntries,
): FailedEntry[] {
  return refused.map(({ Id }) => ({
    Id,
    Code: code,
    Message: REFUSED_BY_FAULT,
    SenderFault: senderFault,
  }));
}

export const REFUSED_BY_FAULT = "refused by a fault";
