/** The port between the senders of committed messages and a database: what waits to be sent, and how that ends. */
import type { StoredMessage } from "./outgoing-message.ts";

/** What can become of a message: it waits, its destination has it, or somebody has to decide, or has decided, about it. */
export const MESSAGE_STATES = ["waiting", "sent", "parked", "dropped"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** How far a message of a commit has got. */
export interface MessageProgress {
  readonly state: MessageState;
  /** In how many invocations it was sent, or was to be sent and failed, alone or with all of its destination. */
  readonly tries: number;
  /**
   * Epoch ms: of the last try, or when it was parked or dropped. Absent while nobody has tried; with no tries it is there
   * where somebody has it sent again.
   */
  readonly at?: number | undefined;
  /** Which destination has it: its name only. */
  readonly to?: string | undefined;
  /** Why the last try failed, or why it is parked: the code of a service, or the name of an error. */
  readonly code?: string | undefined;
}

/** What one commit has to send. */
export interface Unsent {
  readonly recordKey: string;
  /** The claim token of the attempt that committed. */
  readonly token: string;
  /** Epoch ms. */
  readonly committedAt: number;
  /** All that were given to `commit`, in that order. Who sends them checks each: they come from a database. */
  readonly messages: readonly StoredMessage[];
  /** Of each of them; absent while nobody has tried to send any. */
  readonly progress?: readonly MessageProgress[] | undefined;
  /** Where it is found: a commit that is parked is in none of the shards. */
  readonly shard: number;
  /** Epoch ms: the time of the commit, then that of the next try. */
  readonly dueAt: number;
}

/** A change that left messages to be sent. */
export interface OutboxChange {
  readonly recordKey: string;
  /** Epoch ms; 0 where it cannot be read. */
  readonly committedAt: number;
  /** Absent where the change does not hold the messages, or not readably: then they have to be taken. */
  readonly unsent?: Unsent;
}

/** Who takes a commit, and for how long. Times are in epoch ms. */
export interface Taking {
  readonly by: "relay" | "sweeper";
  /** Names the invocation: by it a repeated request is known. */
  readonly id: string;
  readonly now: number;
  /** As it was found: once it is due at another time it has another place among the others. */
  readonly dueAt?: number;
  /** Until then nobody else takes it, but a relay after a relay: of those only one at a time has the same commit. */
  readonly until: number;
}

export type Taken =
  | { readonly state: "taken"; readonly unsent: Unsent }
  /** It is not due yet, or somebody else has it. */
  | { readonly state: "held"; readonly unsent: Unsent | undefined }
  /** All its messages are sent, or parked, or its record is gone. */
  | { readonly state: "over" };

/**
 * What is known of a commit by two who sent its messages: what I have sent is sent, and of the rest the other one, who
 * wrote later, knows best. `undefined` where that adds nothing to what the other one wrote.
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

export interface FoundUnsent {
  readonly recordKey: string;
  /** Epoch ms. */
  readonly dueAt: number;
}

export interface Outbox {
  /** How many shards there are for `findUnsent`, from 0. */
  readonly shards: number;

  /**
   * Reads a record of the database's change stream; `undefined` for a change that leaves nothing for a relay to send: it is
   * no commit of messages, or what a sender has written about one.
   */
  readChange(change: unknown): OutboxChange | undefined;

  /** What a record has to send now: a consistent read. `undefined` once all is sent, or the record is gone. */
  load(recordKey: string): Promise<Unsent | undefined>;

  /** The same, and keeps it from others for as long as `taking` says: one write. */
  take(recordKey: string, taking: Taking): Promise<Taken>;

  /**
   * Keeps, under the token, how far the messages have got, while some of them wait or are parked; what somebody else has
   * sent meanwhile stays sent. Whoever had taken it gives it back. It is due again at `dueAt` (epoch ms).
   */
  keep(unsent: Unsent, progress: readonly MessageProgress[], dueAt: number): Promise<void>;

  /**
   * Ends it under the token: from now on the record expires as others do. Repeating it changes nothing. `progress` is
   * kept with the record, without the messages.
   */
  markSent(unsent: Unsent, progress?: readonly MessageProgress[]): Promise<void>;

  /** Takes a record that cannot be read out of the senders' way. Whether it did: what it does not know it leaves alone. */
  park(recordKey: string, now: number): Promise<boolean>;

  /**
   * Records of one shard that are due before `before` (epoch ms) and may still have something to send, first due first, in
   * pages. May name records that were marked meanwhile.
   */
  findUnsent(shard: number, before: number): AsyncIterable<readonly FoundUnsent[]>;

  /**
   * What senders tell each other about message groups that have to wait, kept beside the records: a consistent read.
   * `undefined` where nobody has said anything.
   */
  readNotes(): Promise<string | undefined>;

  /** Replaces the notes, if they are still `former`. Whether it did. */
  replaceNotes(former: string | undefined, notes: string): Promise<boolean>;

  /** How many commits wait, due or not, and how many are parked; at least this many, where there are very many. */
  count(): Promise<{ readonly waiting: number; readonly parked: number }>;
}
