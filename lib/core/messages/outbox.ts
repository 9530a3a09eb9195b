/** The port between the senders of committed messages and a database: the messages that wait, and how they end. */
import type { Lease } from "../turn.ts";
import type { StoredMessage } from "./outgoing-message.ts";

/** A message waits to be sent, was sent, is parked until an operator decides, or was dropped by one. */
export const MESSAGE_STATES = ["waiting", "sent", "parked", "dropped"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** How far a message of a commit has got. */
export interface MessageProgress {
  readonly state: MessageState;
  /** In how many invocations the message was sent or failed, alone or together with its whole destination. */
  readonly tries: number;
  /**
   * Epoch ms: the time of the last try, of parking or of dropping. Absent until the first try. Present without tries if an
   * operator has the message sent again.
   */
  readonly at?: number | undefined;
  /** The name of the destination that has the message. */
  readonly to?: string | undefined;
  /** Why the last try failed, or why the message is parked: a service's code, or an error's name. */
  readonly code?: string | undefined;
}

/** The messages that one commit has to send. */
export interface Unsent {
  readonly recordKey: string;
  /** The claim token of the attempt that committed. */
  readonly token: string;
  /** Epoch ms. */
  readonly committedAt: number;
  /** All messages of the commit, in order. The sender checks each one, since they come from a database. */
  readonly messages: readonly StoredMessage[];
  /** The progress of each message; absent until the first try to send any. */
  readonly progress?: readonly MessageProgress[] | undefined;
  /** The record's JSON: the last verdict about the key, and decisions about messages. */
  readonly evidence?: string | undefined;
  /** The part of the outbox that contains the commit: a parked commit is in none of the shards. */
  readonly shard: number;
  /** Epoch ms: the time of the commit, then that of the next try. */
  readonly dueAt: number;
}

/** A change that left messages to be sent. */
export interface OutboxChange {
  readonly recordKey: string;
  /** Epoch ms; 0 if the time can't be read. */
  readonly committedAt: number;
  /** Absent if the change doesn't contain the messages readably: then take the commit. */
  readonly unsent?: Unsent;
}

/** Which sender takes a commit, and for how long. Times are in epoch ms. */
export interface Taking {
  readonly by: "relay" | "sweeper";
  /** Identifies the invocation, so that a repeated request is recognised. */
  readonly id: string;
  readonly now: number;
  /** When the commit was found due: with another time it has a different position among the others. */
  readonly dueAt?: number;
  /** Until then no other sender takes the commit, except a relay after a relay: only one relay at a time has a commit. */
  readonly until: number;
}

/** The result of the try to take a commit. */
export type Taken =
  | { readonly state: "taken"; readonly unsent: Unsent }
  /** The commit isn't due yet, or another sender has it. */
  | { readonly state: "held"; readonly unsent: Unsent | undefined }
  /** All messages are sent or parked, or the record is gone. */
  | { readonly state: "over" };

/**
 * Merges the progress of two senders of one commit's messages. A message that this sender sent is sent; for all others the
 * other sender's progress is newer and wins. `undefined` if `mine` adds nothing to it.
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

/** It is never sent again. */
export const isOver = ({ state }: MessageProgress): boolean => state === "sent" || state === "dropped";

/** A commit found in the index of a shard. */
export interface FoundUnsent {
  readonly recordKey: string;
  /** Epoch ms. */
  readonly dueAt: number;
}

/** Which sweep holds the outbox, and for how long. */
export type SweepLease = Lease;

export interface Outbox {
  /** The number of shards for `findUnsent`, from 0. */
  readonly shards: number;

  /**
   * Reads a record of the database's change stream. `undefined` if the change leaves a relay nothing to send: it isn't a commit
   * of messages, or it is a sender's own write about a commit.
   * @throws RecordCorruptError for a change that can't be read; PayloadInvalidError if no change of its source can.
   */
  readChange(change: unknown): OutboxChange | undefined;

  /** The messages that a record has to send now: a consistent read. `undefined` once all are sent, or the record is gone. */
  load(recordKey: string): Promise<Unsent | undefined>;

  /** Loads the commit and keeps other senders from it for as long as `taking` says: one write. */
  take(recordKey: string, taking: Taking): Promise<Taken>;

  /**
   * Stores the messages' progress, under the token, while some of them wait or are parked. A message that another sender has
   * sent meanwhile stays sent. Releases a taken commit, which is due again at `dueAt` (epoch ms).
   */
  keep(unsent: Unsent, progress: readonly MessageProgress[], dueAt: number): Promise<void>;

  /**
   * Ends the commit under the token: from now on the record expires as others do. Repeating that changes nothing. `progress` is
   * kept with the record, without the messages. Resolves to `false` if the commit had ended already.
   */
  markSent(unsent: Unsent, progress?: readonly MessageProgress[]): Promise<boolean>;

  /** Removes an unreadable record from the senders' list. Resolves to whether it did: a record with a later version stays. */
  park(recordKey: string, now: number): Promise<boolean>;

  /**
   * Leases the whole outbox to one sweep, with one write. Resolves to `false` while another sweep holds it. The lease only
   * saves work: each commit still has to be taken.
   */
  leaseSweep(lease: SweepLease): Promise<boolean>;

  /**
   * Finds records of one shard that are due before `before` (epoch ms) and may still have messages to send, first due first, in
   * pages. May include records that were marked meanwhile.
   */
  findUnsent(shard: number, before: number): AsyncIterable<readonly FoundUnsent[]>;

  /** Reads the senders' notes about waiting lines, kept beside the records: a consistent read. `undefined` if there are none. */
  readNotes(): Promise<string | undefined>;

  /** Replaces the notes, if they are still `former`. Resolves to whether it did. */
  replaceNotes(former: string | undefined, notes: string): Promise<boolean>;

  /** Counts the commits that wait, due or not, and those that are parked; a lower bound if there are very many. */
  count(): Promise<{ readonly waiting: number; readonly parked: number }>;
}
