/** Removes the entries that a fault refuses from a batch, and adds them to the answer as failed. */
import type { FailedEntry } from "../aws/sqs/operations.ts";
import type { RefusedEntries } from "./exchange.ts";

/** The entries that reach the service, and the refused ones. */
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

/** Failed entries in the form of SQS and SNS. */
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

export const REFUSED_BY_FAULT = "rejected by a fault";
