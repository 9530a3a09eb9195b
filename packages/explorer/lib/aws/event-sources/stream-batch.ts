/**
 * Passes one batch of a shard to the function: again, in smaller pieces, or finally to the failure
 * destination. https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html
 */
import type { Clock } from "onceonly/kit";
import { failedIds } from "./partial-batch.ts";
import type { StreamRecord } from "./stream-record.ts";

/** The outcome of the invocation for a batch. */
export type BatchResult =
  | { readonly outcome: "ok"; readonly requestId: string; readonly payload: string }
  | {
      readonly outcome: "error" | "timedOut" | "crashed";
      readonly requestId: string;
      readonly errorMessage: string;
    };

export interface BatchContext {
  readonly clock: Clock;
  /** Gets one line for each batch. */
  readonly log: (line: string) => void;
  /** The range of records, for log lines. */
  readonly label: string;
  readonly invoke: (payload: string) => Promise<BatchResult>;
}

export interface StreamBatchOptions extends BatchContext {
  /** -1 retries until the records are too old. */
  readonly maxRetryAttempts: number;
  /** -1 means no maximum age. */
  readonly maxRecordAgeSeconds: number;
  readonly bisects: boolean;
  readonly reportsItemFailures: boolean;
  /** Called with the records that are given up. */
  readonly onFailure: (batch: GivenUpBatch) => Promise<void>;
}

export interface GivenUpBatch {
  readonly condition: "RetryAttemptsExhausted" | "RecordAgeExceeded";
  readonly requestId: string;
  readonly invokeCount: number;
  readonly records: readonly StreamRecord[];
}

interface Piece {
  readonly records: readonly StreamRecord[];
  readonly retries: number;
  readonly invokeCount: number;
}

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 10_000;

/**
 * The records are in the form of the function's event.
 * @returns whether the shard may go on; `false` when the signal aborted before the batch was settled
 */
export async function deliverBatch(
  options: StreamBatchOptions,
  records: readonly StreamRecord[],
  signal: AbortSignal,
): Promise<boolean> {
  const pieces: Piece[] = [{ records, retries: 0, invokeCount: 0 }];
  for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
    if (signal.aborted) return false;
    const { left, requestId } = await attempt(options, piece);
    if (left.length === 0) continue;
    const tried = { ...piece, records: left, invokeCount: piece.invokeCount + 1 };
    const condition = reasonToGiveUp(options, tried);
    const parts = options.bisects ? partsOf(piece.records, left) : [];
    if (condition === "RecordAgeExceeded" || (condition && parts.length === 0)) {
      await options.onFailure({ condition, requestId, invokeCount: tried.invokeCount, records: left });
      continue;
    }
    // A split isn't a retry, and happens immediately.
    if (parts.length > 0) {
      pieces.unshift(...parts.map((part) => ({ ...tried, records: part })));
      continue;
    }
    await options.clock.sleep(Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** piece.retries), signal);
    pieces.unshift({ ...tried, retries: piece.retries + 1 });
  }
  return true;
}

/** Splits at the record that the function named; otherwise in the middle. */
function partsOf<T>(records: readonly T[], left: readonly T[]): (readonly T[])[] {
  if (left.length < records.length) return [left];
  if (left.length === 1) return [];
  const middle = Math.ceil(left.length / 2);
  return [left.slice(0, middle), left.slice(middle)];
}

function reasonToGiveUp(
  { clock, maxRetryAttempts, maxRecordAgeSeconds }: StreamBatchOptions,
  { records, retries }: Piece,
): GivenUpBatch["condition"] | undefined {
  const createdAtMs = Number(records[0]?.dynamodb.ApproximateCreationDateTime) * 1000;
  if (maxRecordAgeSeconds >= 0 && clock.now() - createdAtMs > maxRecordAgeSeconds * 1000) {
    return "RecordAgeExceeded";
  }
  return maxRetryAttempts >= 0 && retries >= maxRetryAttempts ? "RetryAttemptsExhausted" : undefined;
}

/** The rest of the piece from the first failed record on, because records stay in order. */
async function attempt(
  options: StreamBatchOptions,
  { records }: Piece,
): Promise<{ left: readonly StreamRecord[]; requestId: string }> {
  const { clock, label, log } = options;
  const startedAtMs = clock.now();
  const ids = records.map(({ dynamodb }) => dynamodb.SequenceNumber);
  const result = await options.invoke(JSON.stringify({ Records: records }));
  const failed = failedIds(answerIn(result), ids, options.reportsItemFailures);
  const at = ids.findIndex((id) => failed.has(id));
  const left = at < 0 ? [] : records.slice(at);
  const failures = left.length > 0 ? `, ${left.length} left` : "";
  log(`${label}: batch of ${records.length} ${outcomeOf(result)}${failures} ${clock.now() - startedAtMs} ms`);
  return { left, requestId: result.requestId };
}

/** The answer as JSON; `undefined` when the function failed. */
export function answerIn(result: BatchResult): string | undefined {
  return result.outcome === "ok" ? result.payload : undefined;
}

/** For a log line. */
export function outcomeOf(result: BatchResult): string {
  return result.outcome === "ok" ? "ok" : `${result.outcome}: ${result.errorMessage}`;
}
