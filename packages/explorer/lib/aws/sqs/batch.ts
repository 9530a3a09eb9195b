/** Shared by all batches: up to ten entries with ids, and a result for each entry. */
import type { BatchOf, FailedEntry, SqsBatchResult } from "./operations.ts";
import { SqsError } from "./sqs-error.ts";

const MAX_BATCH_ENTRIES = 10;
const ENTRY_ID = /^[A-Za-z0-9_-]{1,80}$/;

/** Throws when the request as a whole is wrong. */
export function checkBatch<Entry>({ Entries }: BatchOf<Entry>): BatchOf<Entry>["Entries"] {
  const entries = Entries ?? [];
  if (entries.length === 0) {
    throw new SqsError("EmptyBatchRequest", "There should be at least one entry in the request.");
  }
  if (entries.length > MAX_BATCH_ENTRIES) {
    throw new SqsError(
      "TooManyEntriesInBatchRequest",
      `Maximum number of entries per request are ${MAX_BATCH_ENTRIES}. You have sent ${entries.length}.`,
    );
  }
  const seen = new Set<string>();
  for (const { Id } of entries) {
    if (!ENTRY_ID.test(Id)) {
      throw new SqsError(
        "InvalidBatchEntryId",
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.",
      );
    }
    if (seen.has(Id)) throw new SqsError("BatchEntryIdsNotDistinct", `Id ${Id} repeated.`);
    seen.add(Id);
  }
  return entries;
}

/** Runs one entry after the other; a refused entry does not stop the next ones. */
export function eachEntry<Entry, Success extends object>(
  entries: BatchOf<Entry>["Entries"],
  doEntry: (entry: Entry) => Success,
  codeOf: (error: SqsError) => string = ({ code }) => code,
): SqsBatchResult<Success> {
  const successful: (Success & { Id: string })[] = [];
  const failed: FailedEntry[] = [];
  for (const entry of entries) {
    try {
      successful.push({ ...doEntry(entry), Id: entry.Id });
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      failed.push({ Id: entry.Id, Code: codeOf(error), Message: error.message, SenderFault: true });
    }
  }
  return {
    ...(successful.length > 0 && { Successful: successful }),
    ...(failed.length > 0 && { Failed: failed }),
  };
}
