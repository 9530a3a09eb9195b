/** The port between the senders of committed messages and a database: the messages that wait, and how they end. */
import type { Lease } from "../turn.ts";
import type { StoredMessage } from "./outgoing-message.ts";

/** A message waits, its destination has it, or somebody has to decide, or has decided, about it. */
export const MESSAGE_STATES = ["waiting", "sent", "parked", "dropped"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** How far a message of a commit has got. */
export interface MessageProgress {
  readonly state: MessageState;
  /** In how many invocations the message was sent, or failed, alone or with all of its destination. */
  readonly tries: number;
  /**
   * Epoch ms: the time of the last try, of parking or of dropping. Absent while nobody has tried. Present with no tries
   * where somebody has the message sent again.
   */
  readonly at?: number | undefined;
  /** The destination that has the message: its name only. */
  readonly to?: string | undefined;
  /** Why the last try failed, or why the message is parked: the code of a service, or the name of an error. */
  readonly code?: string | undefined;
}

/** The messages that one commit has to send. */
export interface Unsent {
  readonly recordKey: string;
  /** The claim token of the attempt that committed. */
  readonly token: string;
  /** Epoch ms. */
  readonly committedAt: number;
  /** All messages of the commit, in their order. The sender checks each, since they come from a database. */
  readonly messages: readonly StoredMessage[];
  /** The progress of each message; absent while nobody has tried to send any. */
  readonly progress?: readonly MessageProgress[] | undefined;
  /** As the record holds it in JSON: the last verdict about the key, and what was decided about messages. */
  readonly evidence?: string | undefined;
  /** The part of the outbox that holds the commit: a parked commit is in none of the shards. */
  readonly shard: number;
  /** Epoch ms: the time of the commit, then that of the next try. */
  readonly dueAt: number;
}

/** A change that left messages to be sent. */
export interface OutboxChange {
  readonly recordKey: string;
  /** Epoch ms; 0 where the time cannot be read. */
  readonly committedAt: number;
  /** Absent where the change does not hold the messages readably: then the commit has to be taken. */
  readonly unsent?: Unsent;
}

/** Says who takes a commit, and for how long. Times are in epoch ms. */
export interface Taking {
  readonly by: "relay" | "sweeper";
  /** Names the invocation, so that a repeated request is recognised. */
  readonly id: string;
  readonly now: number;
  /** The time at which the commit was found due: with another time it has another place among the others. */
  readonly dueAt?: number;
  /** Until then nobody else takes the commit, except a relay after a relay: only one relay at a time has a commit. */
  readonly until: number;
}

/** What became of the try to take a commit. */
export type Taken =
  | { readonly state: "taken"; readonly unsent: Unsent }
  /** The commit is not due yet, or somebody else has it. */
  | { readonly state: "held"; readonly unsent: Unsent | undefined }
  /** All messages are sent or parked, or the record is gone. */
  | { readonly state: "over" };

/**
 * Merges the progress of two who sent the messages of one commit. A message that I have sent is sent; about all others
 * the other one, who wrote later, knows best. `undefined` where mine adds nothing to the other one's.
 */
export function mergeProgress(
  mine: readonly MessageProgress[],
  { messages, progress }: Unsent,
): readonly MessageProgress[] | undefined {
  const theirs = progress ?? messages.map(() => UNTRIED);
  const isNews = (index: number) => mine[index]?.state === "sent" && theirs[index]?.state !== "sent";
  if (!theirs.some((_, index) => isNews(index))) return undefined;
  return theirs.map((each, index) => (isNews(index) ? mine[index]! : each));
}

export const UNTRIED: MessageProgress = { state: "waiting", tries: 0 };

/** Nobody sends it any more. */
export const isOver = ({ state }: MessageProgress): boolean => state === "sent" || state === "dropped";

/** A commit that the index of a shard tells of. */
export interface FoundUnsent {
  readonly recordKey: string;
  /** Epoch ms. */
  readonly dueAt: number;
}

/** Says which sweep holds the outbox, and for how long. */
export type SweepLease = Lease;

export interface Outbox {
  /** How many shards there are for `findUnsent`, from 0. */
  readonly shards: number;

  /**
   * Reads a record of the database's change stream. `undefined` for a change that leaves a relay nothing to send: it is no
   * commit of messages, or a sender's own write about a commit.
   * @throws RecordCorruptError for a change that cannot be read; PayloadInvalidError where no change of its source can.
   */
  readChange(change: unknown): OutboxChange | undefined;

  /** The commit that a record has to send now: a consistent read. `undefined` once all is sent, or the record is gone. */
  load(recordKey: string): Promise<Unsent | undefined>;

  /** Loads the commit, and keeps it from others for as long as `taking` says: one write. */
  take(recordKey: string, taking: Taking): Promise<Taken>;

  /**
   * Keeps, under the token, how far the messages have got, while some of them wait or are parked. A message that somebody
   * else has sent meanwhile stays sent. Gives a taken commit back, which is due again at `dueAt` (epoch ms).
   */
  keep(unsent: Unsent, progress: readonly MessageProgress[], dueAt: number): Promise<void>;

  /**
   * Ends the commit under the token: from now on the record expires as others do. Repeating that changes nothing.
   * `progress` is kept with the record, without the messages. Answers `false` if the commit had ended already.
   */
  markSent(unsent: Unsent, progress?: readonly MessageProgress[]): Promise<boolean>;

  /** Takes an unreadable record out of the senders' way. Answers whether it did: a record of a later version stays. */
  park(recordKey: string, now: number): Promise<boolean>;

  /**
   * Leases the whole outbox to one sweep, with one write. Answers `false` while another sweep holds it. The lease only saves
   * work: each commit still has to be taken.
   */
  leaseSweep(lease: SweepLease): Promise<boolean>;

  /**
   * Finds records of one shard that are due before `before` (epoch ms) and may still have messages to send, first due
   * first, in pages. May name records that were marked meanwhile.
   */
  findUnsent(shard: number, before: number): AsyncIterable<readonly FoundUnsent[]>;

  /**
   * Reads the notes of senders about lines that have to wait, kept beside the records: a consistent read. `undefined`
   * where nobody has written any.
   */
  readNotes(): Promise<string | undefined>;

  /** Replaces the notes, if they are still `former`. Answers whether it did. */
  replaceNotes(former: string | undefined, notes: string): Promise<boolean>;

  /** Counts the commits that wait, due or not, and those that are parked; where there are very many, at least so many. */
  count(): Promise<{ readonly waiting: number; readonly parked: number }>;
}
