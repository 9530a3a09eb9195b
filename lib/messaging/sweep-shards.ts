/** Reads shards of the outbox, and sends their due commits. */
import type { FoundUnsent, Unsent } from "../core/messages/outbox.ts";
import type { Turn } from "../core/turn.ts";
import { progressOf } from "./commit-end.ts";
import { isMarkedPlace } from "./line-notes.ts";
import type { OldestWaiting } from "./oldest-waiting.ts";
import type { OutboxSettings } from "./outbox-options.ts";
import { passOver } from "./pass-over.ts";
import { type CommitOutcome, sendCommit } from "./send-commit.ts";
import { COMMITS_AT_ONCE, type Sender } from "./sender.ts";
import type { SharedNotes } from "./shared-notes.ts";

/** One sweep's commits by outcome. */
export interface SweepReport {
  /** All messages were sent. */
  sent: number;
  /** Some messages were refused, or couldn't be read. */
  failed: number;
  /** Not sent: left for the next sweep, queued after others in a group, or taken by another sender. */
  waiting: number;
}

export interface Sweep {
  readonly sender: Sender;
  /** Epoch ms: a commit due later belongs to the relay, unless it waits in a line. */
  readonly before: number;
  readonly report: SweepReport;
  readonly oldest: OldestWaiting;
  readonly turn: Turn;
}

/** More at the same time would only use more memory. */
const SHARDS_AT_ONCE = 8;

/** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) if the index can't be read, once all shards have ended. */
export async function sweepShards(shards: readonly number[], sweep: Sweep): Promise<void> {
  const left = [...shards];
  const sweepers = Array.from({ length: SHARDS_AT_ONCE }, async () => {
    for (let shard = left.shift(); shard !== undefined; shard = left.shift()) await sweepShard(shard, sweep);
  });
  // Work that continued after the response would be frozen with the process, and resume in another invocation.
  const failed = (await Promise.allSettled(sweepers)).find(({ status }) => status === "rejected");
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

async function sweepShard(shard: number, sweep: Sweep): Promise<void> {
  const { sender, before, report, turn } = sweep;
  const { outbox, rules } = sender.settings;
  const hasNotes = Object.keys(sender.lines.notes.current).length > 0;
  const latest = hasNotes ? Math.max(before, rules.clock.now()) : before;
  for await (const chunk of inChunks(outbox.findUnsent(shard, latest), sender.lines.notes)) {
    if (!sender.time.hasMore() || !(await turn.isMine())) return;
    const found = await Promise.all(chunk.map((each) => takeFound(each, sweep)));
    const cut = found.indexOf("unreachable");
    const ends = found.map((commit, index) => {
      if (typeof commit === "string") return commit;
      // The unreachable commit may be in any group: no later commit may overtake it.
      return cut >= 0 && index > cut ? release(commit, sender) : sendTaken(commit, sweep);
    });
    for (const end of await Promise.all(ends)) count(end, report);
    await sender.lines.notes.save();
    if (cut >= 0) return;
  }
}

function count(end: CommitOutcome | Exclude<Swept, Unsent>, report: SweepReport): void {
  if (end === "sent") report.sent++;
  else if (end === "held" || end === "waiting" || end === "again") report.waiting++;
  else if (end !== "over") report.failed++;
}

/** The first commit that waits for a line is alone: if it can't be sent, those after it needn't be taken. */
async function* inChunks(
  pages: AsyncIterable<readonly FoundUnsent[]>,
  notes: SharedNotes,
): AsyncGenerator<readonly FoundUnsent[]> {
  let isFirst = true;
  for await (const page of pages) {
    if (page.some(({ dueAt }) => isMarkedPlace(dueAt))) await notes.read();
    for (let start = 0, end = 0; start < page.length; start = end) {
      end = start + COMMITS_AT_ONCE;
      const chunk = page.slice(start, end);
      const waits: number = isFirst ? chunk.findIndex(({ dueAt }) => isMarkedPlace(dueAt)) : -1;
      if (waits >= 0) end = start + Math.max(waits, 1);
      isFirst &&= waits !== 0;
      yield page.slice(start, end);
    }
  }
}

type Swept = Unsent | "over" | "held" | "unreadable" | "unreachable";

async function takeFound(
  { recordKey, dueAt }: FoundUnsent,
  { sender, before, oldest }: Sweep,
): Promise<Swept> {
  const { settings, time, lines } = sender;
  const { outbox } = settings;
  if (lines.passes(dueAt) && !isDueAnyway(dueAt, settings)) return "held";
  try {
    if (dueAt >= before) {
      const young = await outbox.load(recordKey);
      // A relay may still send a young commit.
      if (young && !lines.isLeftToSweeper(young)) return block(young, sender);
    }
    const taken = await outbox.take(recordKey, { by: "sweeper", dueAt, ...time.taking() });
    if (taken.state === "over") {
      oldest.forget(recordKey);
      return "over";
    }
    if (taken.unsent) oldest.note(taken.unsent);
    if (taken.state === "taken") return taken.unsent;
    const held = taken.unsent ?? (await outbox.load(recordKey));
    return held ? block(held, sender) : "over";
  } catch (error) {
    const next = await passOver(settings, { recordKey, committedAt: before }, error);
    return next === "again" ? "unreachable" : "unreadable";
  }
}

/** How many of the commits that needn't be taken are taken nevertheless, in case that their lines have no note any more. */
const CHECKED = 1 / 240;

/** An old commit is parked, even if its turn never comes. */
function isDueAnyway(dueAt: number, { rules, parking }: OutboxSettings): boolean {
  const { clock, random } = rules;
  return clock.now() - dueAt >= parking.parkAfterSeconds * 1000 || random.fraction() < CHECKED;
}

/** Another sender has the commit, and no other may overtake it. */
function block(unsent: Unsent, { lines }: Sender): "held" {
  lines.block(unsent);
  return "held";
}

async function sendTaken(commit: Unsent, { sender, oldest }: Sweep): Promise<CommitOutcome> {
  const outcome = await sendCommit(sender, commit, true);
  if (outcome === "sent") oldest.forget(commit.recordKey);
  return outcome;
}

async function release(commit: Unsent, { settings }: Sender): Promise<"waiting"> {
  // If that fails too, the commit comes back without it.
  await settings.outbox.keep(commit, progressOf(commit), commit.dueAt).catch(() => {});
  return "waiting";
}
