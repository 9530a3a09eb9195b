/** Takes a few commits that a sweep has found, and sends them. */
import { type FoundUnsent, isQueued, queuedTime, type Unsent } from "../core/messages/outbox.ts";
import type { Turn } from "../core/turn.ts";
import { isTooOld, progressOf } from "./commit-end.ts";
import type { OldestWaiting } from "./oldest-waiting.ts";
import { passOver } from "./pass-over.ts";
import { type CommitOutcome, sendCommit } from "./send-commit.ts";
import type { Sender } from "./sender.ts";

/** One sweep's commits by outcome. */
export interface SweepReport {
  /** All messages were sent. */
  sent: number;
  /** Some messages were refused, or couldn't be read. */
  failed: number;
  /**
   * Not sent: left for the next sweep, queued after others, or taken by another sender. A commit that was queued before isn't
   * counted.
   */
  waiting: number;
}

export interface Sweep {
  readonly sender: Sender;
  /** Epoch ms: a commit due later belongs to the relay, unless it waits in a line. */
  readonly before: number;
  readonly report: SweepReport;
  readonly oldest: OldestWaiting;
  /** By shard: where the next look at what waits begins (epoch ms). */
  readonly looks: Map<number, number>;
  /** Whether this is such a look. */
  readonly isLook?: boolean;
  readonly turn: Turn;
}

/** Why a commit wasn't taken. */
type NotTaken =
  /** Nothing is left to send. */
  | "over"
  /** Another sender has it. */
  | "held"
  /** It isn't its turn: nothing of it was written. */
  | "queued"
  | "unreadable"
  | "unreachable";

/** How a found commit ended, and what it was before that. */
export interface Swept {
  readonly end: CommitOutcome | NotTaken;
  readonly commit?: Unsent | undefined;
}

/** `undefined` if no later commit of the shard may be sent in this invocation. */
export async function sweepChunk(
  chunk: readonly FoundUnsent[],
  sweep: Sweep,
): Promise<readonly Swept[] | undefined> {
  const { sender, report, turn } = sweep;
  if (!sender.time.hasMore() || !(await turn.isMine())) return undefined;
  const found = await Promise.all(chunk.map((each) => takeFound(each, sweep)));
  const cut = found.indexOf("unreachable");
  const swept = await Promise.all(
    found.map(async (each, index): Promise<Swept> => {
      if (typeof each === "string") return { end: each };
      if ("end" in each) return each;
      // The unreachable commit may be in any group: no later commit may overtake it.
      const isCut = cut >= 0 && index > cut;
      return { commit: each, end: isCut ? await release(each, sender) : await sendTaken(each, sweep) };
    }),
  );
  for (const { end } of swept) count(end, report);
  await sender.lines.notes.save();
  return cut < 0 ? swept : undefined;
}

function count(end: Swept["end"], report: SweepReport): void {
  if (end === "sent") report.sent++;
  else if (end === "held" || end === "waiting" || end === "again") report.waiting++;
  else if (end !== "over" && end !== "queued") report.failed++;
}

/** Resolves to the commit if it was taken. */
async function takeFound(found: FoundUnsent, sweep: Sweep): Promise<Unsent | Swept | NotTaken> {
  const { recordKey, dueAt } = found;
  const { sender, before, oldest } = sweep;
  const { settings, time } = sender;
  const { outbox } = settings;
  try {
    const committedAt = isQueued(found) ? queuedTime(found) : dueAt;
    if (isQueued(found) || committedAt >= before) {
      const seen = await outbox.load(recordKey);
      if (!seen) return over(recordKey, sweep);
      // A relay may still send a young commit.
      if (committedAt >= before && !sender.lines.isLeftToSweeper(seen)) return block(seen, sender);
      if (isQueued(found) && !mayGo(seen, sweep)) {
        sender.lines.leave(seen);
        return { end: "queued", commit: seen };
      }
    }
    const taken = await outbox.take(recordKey, { by: "sweeper", dueAt, ...time.taking() });
    if (taken.state === "over") return over(recordKey, sweep);
    if (taken.unsent) oldest.note(taken.unsent);
    if (taken.state === "taken") return taken.unsent;
    const held = taken.unsent ?? (await outbox.load(recordKey));
    return held ? block(held, sender) : "over";
  } catch (error) {
    const next = await passOver(settings, { recordKey, committedAt: before }, error);
    return next === "again" ? "unreachable" : "unreadable";
  }
}

function mayGo(commit: Unsent, { sender, isLook = false }: Pick<Sweep, "sender" | "isLook">): boolean {
  const { lines, settings } = sender;
  const { rules, parking } = settings;
  return lines.mayGo(commit, isLook) || isTooOld(commit, rules.clock.now(), parking);
}

function over(recordKey: string, { sender, oldest }: Sweep): "over" {
  oldest.forget(recordKey);
  sender.lines.forget(recordKey);
  return "over";
}

/** Another sender has the commit, and no other may overtake it. */
function block(commit: Unsent, { lines }: Sender): Swept {
  lines.block(commit);
  return { end: "held", commit };
}

async function sendTaken(commit: Unsent, sweep: Sweep): Promise<CommitOutcome> {
  const { sender } = sweep;
  const outcome = await sendCommit(sender, commit, true);
  if (outcome === "sent") over(commit.recordKey, sweep);
  // It may not have got its place.
  if (outcome === "again") sender.lines.block(commit);
  return outcome;
}

async function release(commit: Unsent, { settings }: Sender): Promise<"waiting"> {
  // If that fails too, the commit comes back without it.
  await settings.outbox.keep(commit, progressOf(commit), commit.dueAt).catch(() => {});
  return "waiting";
}
