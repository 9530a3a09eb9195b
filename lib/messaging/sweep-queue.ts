/**
 * Sends the commits of one shard that wait behind others, in the order of the commits. A line or destination that fails again
 * costs one commit, however many wait for it.
 */
import { type FoundUnsent, isQueued, queuedTime, queuePlace } from "../core/messages/outbox.ts";
import { type Waiting, withLess } from "./line-notes.ts";
import { COMMITS_AT_ONCE, type Sender } from "./sender.ts";
import { type Sweep, type Swept, sweepChunk } from "./sweep-chunk.ts";

/** Tries each line and destination that is due in the shard. */
export async function sweepQueue(shard: number, sweep: Sweep): Promise<void> {
  const { lines } = sweep.sender;
  for (const waiting of lines.dueIn(shard)) {
    if (lines.isStopped(waiting.name, waiting.from)) continue;
    if ((await sweepWaiting(shard, waiting, sweep)) === "cut") return;
  }
  await lines.notes.save();
}

async function sweepWaiting(shard: number, waiting: Waiting, sweep: Sweep): Promise<"cut" | undefined> {
  const { settings, lines } = sweep.sender;
  const { name, lastKey, from, to } = waiting;
  let reached = from;
  let isDone = true;
  let hasLast = false;
  for await (const chunk of queued(sweep.sender, shard, from, to)) {
    const at = queuedTime(chunk[0]!);
    if (isDone) reached = at;
    if (lines.isStopped(name, at)) return stop();
    const swept = await sweepChunk(chunk, sweep);
    if (!swept) return "cut";
    hasLast ||= chunk.some(({ recordKey }) => recordKey === lastKey);
    isDone &&= !swept.some(({ end, commit }) => end !== "sent" && commit && lines.needs(name, commit));
    if (lines.isStopped(name, at)) return stop();
  }
  // The index may be behind the table, and the youngest commit elsewhere.
  hasLast ||= isDone && !(await isWaiting());
  if (isDone && hasLast && !lines.isHeld(name))
    lines.notes.change((notes) => withLess(notes, waiting, shard));

  /** The next try begins where this one has ended. */
  function stop(): undefined {
    if (reached > from) lines.notes.change((notes) => withLess(notes, waiting, shard, reached));
  }

  async function isWaiting(): Promise<boolean> {
    const commit = await settings.outbox.load(lastKey);
    return commit !== undefined && lines.needs(name, commit);
  }
}

/**
 * Sends the first commits if no note holds them up, such as when a note was lost, and parks those that are too old. Finds out
 * what has waited longest.
 */
export async function lookIntoQueue(shard: number, sweep: Sweep): Promise<void> {
  let isFirst = true;
  for await (const chunk of queued(sweep.sender, shard)) {
    const [first] = chunk as [FoundUnsent];
    if (isFirst) sweep.oldest.note({ recordKey: first.recordKey, committedAt: queuedTime(first) });
    isFirst = false;
    const swept = await sweepChunk(chunk, sweep);
    if (!swept?.some(isGone)) return;
  }
}

/** Whether the commit no longer waits where it did. */
const isGone = ({ end }: Swept) => end === "sent" || end === "over" || end === "failed";

/** Commits of the shard that wait behind others: one to begin with, so that a failure costs little, then more at a time. */
async function* queued(
  sender: Sender,
  shard: number,
  from = 0,
  to = Number.MAX_SAFE_INTEGER - queuePlace(1),
): AsyncGenerator<readonly FoundUnsent[]> {
  let size = 1;
  for await (const found of pagesOf(sender, shard, queuePlace(from), queuePlace(to + 1))) {
    for (let start = 0; start < found.length; ) {
      yield found.slice(start, start + size);
      start += size;
      size = COMMITS_AT_ONCE;
    }
  }
}

/** The index shows a commit in its place a moment after it got there, so those of this invocation are added. */
async function* pagesOf(
  { settings, lines }: Sender,
  shard: number,
  from: number,
  before: number,
): AsyncGenerator<readonly FoundUnsent[]> {
  const moved = lines.movedIn(shard).filter(({ dueAt }) => dueAt >= from && dueAt < before);
  const isMoved = new Set(moved.map(({ recordKey }) => recordKey));
  for await (const page of settings.outbox.findUnsent(shard, before, from)) {
    const end = page.at(-1)?.dueAt ?? from;
    const later = moved.findIndex(({ dueAt }) => dueAt > end);
    const found = page.filter((each) => isQueued(each) && !isMoved.has(each.recordKey));
    const all = [...found, ...moved.splice(0, later < 0 ? moved.length : later)];
    yield all.sort((one, other) => one.dueAt - other.dueAt);
  }
  yield moved;
}
