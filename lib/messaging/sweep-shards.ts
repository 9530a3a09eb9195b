/** Reads shards of the outbox, and sends their due commits. */
import { COMMITS_AT_ONCE } from "./sender.ts";
import { type Sweep, sweepChunk } from "./sweep-chunk.ts";
import { lookIntoQueue, sweepQueue } from "./sweep-queue.ts";

/** More at the same time would only use more memory. */
const SHARDS_AT_ONCE = 8;

/** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) if the index can't be read, once all shards have ended. */
export function sweepShards(shards: readonly number[], sweep: Sweep): Promise<void> {
  return eachShard(shards, async (shard) => {
    // A commit that has to wait gets its place first: then all that wait are sent in their order.
    if (await sweepShard(shard, sweep)) await sweepQueue(shard, sweep);
  });
}

/** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) if the index can't be read, once all shards have ended. */
export async function lookIntoQueues(shards: readonly number[], sweep: Sweep): Promise<void> {
  // A sweep that was frozen may not know yet what has joined a line.
  await sweep.sender.lines.notes.read();
  await eachShard(shards, (shard) => lookIntoQueue(shard, { ...sweep, isLook: true }));
}

async function eachShard(shards: readonly number[], work: (shard: number) => Promise<void>): Promise<void> {
  const left = [...shards];
  const workers = Array.from({ length: SHARDS_AT_ONCE }, async () => {
    for (let shard = left.shift(); shard !== undefined; shard = left.shift()) await work(shard);
  });
  // Work that continued after the response would be frozen with the process, and resume in another invocation.
  const failed = (await Promise.allSettled(workers)).find(({ status }) => status === "rejected");
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

/** Resolves to `false` if it ended early. */
async function sweepShard(shard: number, sweep: Sweep): Promise<boolean> {
  const { sender, before } = sweep;
  const { outbox, rules } = sender.settings;
  const hasNotes = Object.keys(sender.lines.notes.current).length > 0;
  const latest = hasNotes ? Math.max(before, rules.clock.now()) : before;
  for await (const page of outbox.findUnsent(shard, latest)) {
    for (let start = 0; start < page.length; start += COMMITS_AT_ONCE) {
      if (!(await sweepChunk(page.slice(start, start + COMMITS_AT_ONCE), sweep))) return false;
    }
  }
  return true;
}
