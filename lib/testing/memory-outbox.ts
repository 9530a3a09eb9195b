/** Keeps the messages of a MemoryStore's commits, as the Outbox port shows them. A change is the key of a record. */
import { OUTBOX_SHARDS, parkedShard } from "../contract.ts";
import { hashTuple } from "../core/identity.ts";
import {
  type FoundUnsent,
  isOver,
  type MessageProgress,
  mergeProgress,
  type Outbox,
  type OutboxChange,
  type SweepLease,
  type Taken,
  type Taking,
  type Unsent,
} from "../core/messages/outbox.ts";

/** A commit, including fields that senders don't see. */
interface WaitingCommit extends Unsent {
  readonly sendingUntil?: number;
  readonly sender?: Pick<Taking, "by" | "id">;
  /** Counts the changes since the commit. */
  readonly revision: number;
}

type CommittedMessages = Pick<Unsent, "recordKey" | "token" | "committedAt" | "messages">;

/** The outbox of a MemoryStore, with access to its data. */
export class MemoryOutbox implements Outbox {
  readonly shards = OUTBOX_SHARDS;
  /** The progress of finished commits, keyed by their records' keys. */
  readonly sent = new Map<string, readonly MessageProgress[]>();
  readonly #waiting = new Map<string, WaitingCommit>();
  readonly #onSent: (unsent: Unsent) => void;
  #notes: string | undefined;
  #sweep: SweepLease | undefined;

  /** `onSent` is called once for each commit, when its messages are sent. */
  constructor(onSent: (unsent: Unsent) => void) {
    this.#onSent = onSent;
  }

  /** Called within the store's one atomic decision. */
  add(commit: CommittedMessages): void {
    const { recordKey, committedAt, messages } = commit;
    const shard = shardOf(messages);
    this.#waiting.set(recordKey, structuredClone({ ...commit, shard, dueAt: committedAt, revision: 0 }));
  }

  /** Called when the record is gone. */
  forget(recordKey: string): void {
    this.#waiting.delete(recordKey);
  }

  /** Keys of the records that wait, in the order of their commits, like a stream of changes. */
  get changes(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  readChange(change: unknown): OutboxChange | undefined {
    const unsent = this.#waiting.get(String(change));
    if (unsent === undefined) return undefined;
    const { recordKey, committedAt, revision } = unsent;
    // A stream holds the image of the commit. This outbox holds the latest state, so a changed commit has to be taken.
    return structuredClone({ recordKey, committedAt, ...(revision === 0 && { unsent }) });
  }

  async load(recordKey: string): Promise<Unsent | undefined> {
    return structuredClone(this.#waiting.get(recordKey));
  }

  async take(recordKey: string, { by, id, now, until, ...found }: Taking): Promise<Taken> {
    const waiting = this.#waiting.get(recordKey);
    if (waiting === undefined || waiting.shard < 0) return { state: "over" };
    const { sendingUntil = now, sender, dueAt } = waiting;
    const isOwn = sender?.id === id || (by === "relay" && sender?.by === "relay");
    const isFree = sendingUntil <= now || isOwn;
    const isDue = dueAt <= now && dueAt === (found.dueAt ?? dueAt);
    if (!isDue || !isFree) return { state: "held", unsent: structuredClone(waiting) };
    const unsent = { ...waiting, sendingUntil: until, sender: { by, id }, revision: waiting.revision + 1 };
    this.#waiting.set(recordKey, unsent);
    return { state: "taken", unsent: structuredClone(unsent) };
  }

  async keep(unsent: Unsent, progress: readonly MessageProgress[], dueAt: number): Promise<void> {
    const seen = unsent as WaitingCommit;
    const waiting = this.#waiting.get(seen.recordKey);
    if (waiting?.token !== seen.token) return;
    const isSeen = waiting.revision === seen.revision;
    const kept = isSeen ? progress : mergeProgress(progress, waiting);
    if (kept === undefined) return;
    if (kept.every(isOver)) {
      await this.markSent(seen, kept);
      return;
    }
    const { sendingUntil, sender, ...given } = waiting;
    const isTaken = !isSeen && sendingUntil !== undefined && sendingUntil !== seen.sendingUntil;
    const shard = waiting.shard < 0 ? parkedShard(waiting.shard) : waiting.shard;
    this.#waiting.set(seen.recordKey, {
      ...given,
      ...(isTaken && { sendingUntil, ...(sender && { sender }) }),
      progress: structuredClone(kept),
      shard: kept.some(({ state }) => state === "waiting") ? shard : parkedShard(shard),
      dueAt: isSeen ? dueAt : waiting.dueAt,
      revision: waiting.revision + 1,
    });
  }

  async markSent({ recordKey, token }: Unsent, progress?: readonly MessageProgress[]): Promise<boolean> {
    const waiting = this.#waiting.get(recordKey);
    if (waiting?.token !== token) return false;
    this.#waiting.delete(recordKey);
    if (progress) this.sent.set(recordKey, progress);
    this.#onSent(waiting);
    return true;
  }

  async park(recordKey: string, now: number): Promise<boolean> {
    const waiting = this.#waiting.get(recordKey);
    if (waiting === undefined || waiting.shard < 0) return false;
    this.#waiting.set(recordKey, { ...waiting, shard: parkedShard(waiting.shard), dueAt: now });
    return true;
  }

  async leaseSweep(lease: SweepLease): Promise<boolean> {
    const isHeld = this.#sweep && this.#sweep.until > lease.now && this.#sweep.id !== lease.id;
    if (!isHeld) this.#sweep = lease;
    return !isHeld;
  }

  async *findUnsent(shard: number, before: number): AsyncGenerator<readonly FoundUnsent[]> {
    const found = this.#in(shard).filter(({ dueAt }) => dueAt < before);
    yield found.sort((a, b) => a.dueAt - b.dueAt).map(({ recordKey, dueAt }) => ({ recordKey, dueAt }));
  }

  async readNotes(): Promise<string | undefined> {
    return this.#notes;
  }

  async replaceNotes(former: string | undefined, notes: string): Promise<boolean> {
    // A repetition counts as the same change.
    if (this.#notes !== former) return this.#notes === notes;
    this.#notes = notes;
    return true;
  }

  async count(): Promise<{ waiting: number; parked: number }> {
    const all = [...this.#waiting.values()];
    const parked = all.filter(({ shard }) => shard < 0).length;
    return { waiting: all.length - parked, parked };
  }

  #in(shard: number): WaitingCommit[] {
    return [...this.#waiting.values()].filter((unsent) => unsent.shard === shard);
  }
}

function shardOf([first]: Unsent["messages"]): number {
  const { group, key } = first!;
  return hashTuple(group ?? key).charCodeAt(0) % OUTBOX_SHARDS;
}
