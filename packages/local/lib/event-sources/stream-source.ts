// Feeds a function from the stream of a table: each shard in order, a child after its parent, a batch at a time.
import {
  deliverBatch,
  type EventFilter,
  lambdaRecord,
  type StreamBatchOptions,
  type StreamRecord,
} from "onceonly-explorer/aws";
import { type SourceSwitch, switchable, untilDone } from "./event-source.ts";
import { type Position, type StreamClient, streamClient } from "./stream-client.ts";

export interface StreamSourceOptions extends StreamBatchOptions {
  readonly endpoint: string;
  readonly streamArn: string;
  /** The function's region. */
  readonly region: string;
  readonly enabled: boolean;
  readonly startingPosition: "TRIM_HORIZON" | "LATEST";
  readonly batchSize: number;
  /** How long a batch may be filled up; 0 passes on whatever is available. */
  readonly batchingWindowSeconds: number;
  /** Records that do not pass are left out. */
  readonly passes: EventFilter;
}

interface ShardState {
  readonly id: string;
  readonly parentId: string | undefined;
  /** The position from which reading continues, even if the source was disabled in between. */
  position: Position;
  /** The place of `LATEST` when the source started, kept until a record is settled. */
  latest?: string | undefined;
  isRead: boolean;
}

const POLL_MS = 100;
const NEVER = new AbortController().signal;

/** Resolves once it is settled which records come: with `LATEST`, all that are written from then on. */
export async function startStreamSource(options: StreamSourceOptions): Promise<SourceSwitch> {
  const client = streamClient(options.endpoint, options.streamArn, NEVER);
  const shards = new Map<string, ShardState>();
  if (options.startingPosition === "LATEST") {
    await discover(client, shards);
    for (const shard of shards.values()) {
      shard.latest = await client.iterator(shard.id, { ShardIteratorType: "LATEST" });
    }
  }
  return switchable((signal) => readStream(options, shards, signal), options.enabled);
}

async function discover(client: StreamClient, shards: Map<string, ShardState>): Promise<void> {
  for (const { ShardId, ParentShardId } of await client.shards()) {
    if (shards.has(ShardId)) continue;
    const position: Position = { ShardIteratorType: "TRIM_HORIZON" };
    shards.set(ShardId, { id: ShardId, parentId: ParentShardId, position, isRead: false });
  }
}

async function readStream(
  options: StreamSourceOptions,
  shards: Map<string, ShardState>,
  signal: AbortSignal,
): Promise<void> {
  const client = streamClient(options.endpoint, options.streamArn, signal);
  const reading = new Set<ShardState>();
  const readShards = async (): Promise<void> => {
    await discover(client, shards);
    const ready = [...shards.values()].filter(
      (shard) => !shard.isRead && !reading.has(shard) && (shards.get(shard.parentId ?? "")?.isRead ?? true),
    );
    for (const shard of ready) reading.add(shard);
    await Promise.all(ready.map((shard) => untilDone(options, signal, () => readToEnd(shard))));
  };
  const readToEnd = async (shard: ShardState): Promise<void> => {
    while (!signal.aborted && !shard.isRead) await readBatch(options, client, shard, signal);
    // The children of a shard that is read to its end are there by then.
    if (!signal.aborted) await readShards();
  };
  await untilDone(options, signal, readShards);
}

async function readBatch(
  options: StreamSourceOptions,
  client: StreamClient,
  shard: ShardState,
  signal: AbortSignal,
): Promise<void> {
  const { clock, batchSize, batchingWindowSeconds } = options;
  const batch: StreamRecord[] = [];
  let iterator: string | undefined = shard.latest ?? (await client.iterator(shard.id, shard.position));
  let until = Number.POSITIVE_INFINITY;
  while (iterator !== undefined) {
    const { records, next }: Awaited<ReturnType<StreamClient["records"]>> = await client.records(
      iterator,
      batchSize - batch.length,
    );
    iterator = next;
    batch.push(...records.map((record) => lambdaRecord(record, options.streamArn, options.region)));
    if (batch.length === 0 && shard.latest !== undefined) shard.latest = next;
    if (batch.length > 0) until = Math.min(until, clock.now() + batchingWindowSeconds * 1000);
    if (batch.length >= batchSize || clock.now() >= until) break;
    if (next !== undefined) await clock.sleep(Math.min(POLL_MS, until - clock.now()), signal);
    if (signal.aborted) break;
  }
  const wanted = batch.filter((record) => options.passes(record));
  if (wanted.length > 0 && !(await deliverBatch(options, wanted, signal))) return;
  const last = batch.at(-1)?.dynamodb.SequenceNumber;
  if (last !== undefined) {
    shard.latest = undefined;
    shard.position = { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: last };
  }
  if (iterator === undefined) shard.isRead = true;
}
