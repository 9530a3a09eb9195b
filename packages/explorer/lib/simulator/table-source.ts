/**
 * Feeds a function from the stream of a table: looks after each write, and keeps the order of the one shard.
 */
import type { DynamoDBModel } from "../aws/dynamodb/dynamodb-model.ts";
import { eventFilter } from "../aws/event-sources/event-filter.ts";
import { type BatchResult, deliverBatch } from "../aws/event-sources/stream-batch.ts";
import type { StreamRecord } from "../aws/event-sources/stream-record.ts";
import type { Invocation } from "./invocation.ts";
import type { SimulatedFunction } from "./simulated-function.ts";
import type { TableConnection } from "./simulator-options.ts";
import type { Stage } from "./stage.ts";
import { streamReader } from "./stream-reader.ts";

/** The time until a write is seen, in ms. */
const POLL_MS = [10, 250] as const;
/** Streams keep no older records. */
const RETENTION_SECONDS = 86_400;
const NEVER = new AbortController().signal;

export function connectTable(
  stage: Stage,
  model: DynamoDBModel,
  fn: SimulatedFunction,
  connection: TableConnection,
  onWrite: (listener: () => void) => void,
): void {
  const {
    tableName,
    batchSize = 100,
    reportsItemFailures = true,
    bisect = false,
    maxRetries = -1,
    filters = [],
  } = connection;
  const { time, trace, activities } = stage;
  const label = `${tableName} → ${fn.name}`;
  const random = stage.random.stream(label);
  const reader = streamReader(model, tableName);
  const passes = eventFilter({ Filters: filters.map((Pattern) => ({ Pattern })) });
  const note = (text: string, invocation?: number) =>
    trace.note({ kind: "source", hostId: label, invocation, text });
  let isReading = false;
  let hasNews = false;

  function wake(): void {
    hasNews = true;
    if (isReading) return;
    isReading = true;
    const endActivity = activities.begin();
    void read().finally(() => {
      isReading = false;
      endActivity();
    });
  }

  async function read(): Promise<void> {
    await reader.arn();
    while (hasNews) {
      hasNews = false;
      await time.sleep(random.between(...POLL_MS));
      for (let records = await reader.next(batchSize); records.length > 0; ) {
        const wanted = records.filter((record) => passes(record));
        if (wanted.length > 0) await handOn(wanted);
        reader.settle(records);
        records = await reader.next(batchSize);
      }
    }
  }

  async function handOn(records: readonly StreamRecord[]): Promise<void> {
    await deliverBatch(
      {
        clock: time,
        label,
        log: () => undefined,
        maxRetryAttempts: maxRetries,
        maxRecordAgeSeconds: RETENTION_SECONDS,
        bisects: bisect,
        reportsItemFailures,
        invoke: async (payload) => {
          const event: unknown = JSON.parse(payload);
          const invocation = await fn.invoke(event);
          note(`batch of ${Object(event).Records.length}`, invocation.number);
          return resultOf(invocation);
        },
        onFailure: async (batch) => note(`gives up on ${batch.records.length} records: ${batch.condition}`),
      },
      records,
      NEVER,
    );
  }

  onWrite(wake);
  wake();
}

function resultOf(invocation: Invocation): BatchResult {
  const { requestId, outcome } = invocation;
  if (outcome === "returned") return { outcome: "ok", requestId, payload: JSON.stringify(invocation.value) };
  return { outcome: outcome === "threw" ? "error" : "crashed", requestId, errorMessage: outcome };
}
