/**
 * Sends the commits of one shard that wait behind others, in the order of the commits. A line or destination that fails again
 * costs one commit, however many wait for it.
 */
import { type FoundUnsent, isQueued, queuedTime, queuePlace } from "../core/messages/outbox.ts";
import { isOwn, type Waiting, withLess } from "./line-notes.ts";
import { passOver } from "./pass-over.ts";
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
  const { name, lastKey, from, to, skip, joinedAt } = waiting;
  // The index may not show yet what joined just before, and a sender may still have a commit that isn't in its place.
  const isSettled = settings.rules.clock.now() - joinedAt >= INDEX_LAG_MS;
  const mayForget = () => isSettled && !lines.isHeld(name);
  let reached = from;
  let isDone = true;
  let hasLast = false;
  for await (const chunk of queued(sweep.sender, shard, { from, to, skip })) {
    const at = queuedTime(chunk[0]!);
    if (isDone) reached = at;
    if (lines.isStopped(name, at)) return stop();
    const swept = await sweepChunk(chunk, sweep);
    if (!swept) return "cut";
    hasLast ||= chunk.some(({ recordKey }) => recordKey === lastKey);
    isDone &&= !swept.some(stillWaits);
    if (lines.isStopped(name, at)) return stop();
  }
  // The index may be behind the table, and the youngest commit elsewhere.
  hasLast ||= isDone && !(await isWaiting());
  if (isDone && hasLast && mayForget()) lines.notes.change((notes) => withLess(notes, waiting, shard));

  function stillWaits({ end, commit }: Swept): boolean {
    if (isOwn(name)) return end === "held";
    return end !== "sent" && commit !== undefined && lines.needs(name, commit);
  }

  /** The next try begins where this one has ended. */
  function stop(): undefined {
    if (skip === 0 && reached > from && mayForget())
      lines.notes.change((notes) => withLess(notes, waiting, shard, reached));
  }

  async function isWaiting(): Promise<boolean> {
    try {
      const commit = await settings.outbox.load(lastKey);
      return commit !== undefined && lines.needs(name, commit);
    } catch (error) {
      return (await passOver(settings, { recordKey: lastKey, committedAt: to }, error)) === "again";
    }
  }
}

/** A longer lag can cost the order, but no message: the sweeper also looks at what no note covers. */
const INDEX_LAG_MS = 1000;

/** How many commits each look at a shard reads, besides the first. */
const LOOKED_AT = 5;

/**
 * Looks at a few of the commits that wait, beginning with the first and then where the last look has ended. Sends those that no
 * note holds up, such as when a note was lost, and parks those that are too old. So what no note covers is delayed, but not
 * lost. Also finds out what has waited longest.
 */
export async function lookIntoQueue(shard: number, sweep: Sweep): Promise<void> {
  const { looks, sender } = sweep;
  const { clock, random } = sender.settings.rules;
  let first: number | undefined;
  for await (const chunk of queued(sender, shard)) {
    const { recordKey, dueAt } = chunk[0]!;
    const committedAt = queuedTime({ dueAt });
    if (first === undefined) sweep.oldest.note({ recordKey, committedAt });
    first ??= committedAt;
    const swept = await sweepChunk(chunk, sweep);
    if (!swept) return;
    if (!swept.some(hasMoved)) break;
  }
  if (first === undefined) return;
  // A new process begins anywhere, or it might never get to the end.
  const from = looks.get(shard) ?? first + Math.floor(random.fraction() * (clock.now() - first));
  for await (const chunk of queued(sender, shard, { from, size: LOOKED_AT })) {
    looks.set(shard, queuedTime(chunk.at(-1)!) + 1);
    const swept = await sweepChunk(chunk, sweep);
    if (!swept?.some(hasMoved)) return;
  }
  looks.set(shard, 0);
}

/** Whether something of the commit was sent, or it no longer waits where it did. */
const hasMoved = ({ end }: Swept) =>
  end === "sent" || end === "over" || end === "failed" || end === "waiting";

interface Part {
  /** Epoch ms. */
  readonly from?: number;
  readonly to?: number;
  /** How many of the first commits come last, one at a time. */
  readonly skip?: number;
  /** How many commits come first. */
  readonly size?: number;
}

/** Commits of the shard that wait behind others: one to begin with, so that a failure costs little, then more at a time. */
async function* queued(
  sender: Sender,
  shard: number,
  { from = 0, to = Number.MAX_SAFE_INTEGER - queuePlace(1), skip = 0, size = 1 }: Part = {},
): AsyncGenerator<readonly FoundUnsent[]> {
  const skipped: FoundUnsent[] = [];
  let next = size;
  for await (const found of pagesOf(sender, shard, queuePlace(from), queuePlace(to + 1))) {
    let start = skip - skipped.length;
    skipped.push(...found.slice(0, start));
    while (start < found.length) {
      // Commits of one time stay together: a look continues after its time.
      let end = start + next;
      while (size > 1 && found[end]?.dueAt === found[end - 1]?.dueAt && end < found.length) end++;
      yield found.slice(start, end);
      start = end;
      next = COMMITS_AT_ONCE;
    }
  }
  for (const each of skipped) yield [each];
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
