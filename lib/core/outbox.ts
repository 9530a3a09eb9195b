/** The port between the senders of committed messages and a database: what waits to be sent, and how that ends. */
import type { StoredMessage } from "./outgoing-message.ts";

/** What one commit has to send. */
export interface Unsent {
  readonly recordKey: string;
  /** The claim token of the attempt that committed. */
  readonly token: string;
  /** Epoch ms. */
  readonly committedAt: number;
  /** In the order in which they were given to `commit`. */
  readonly messages: readonly StoredMessage[];
}

/** A change that left messages to be sent. */
export interface OutboxChange {
  readonly recordKey: string;
  /** Epoch ms. */
  readonly committedAt: number;
  /** Absent where the messages do not fit into the record: then they have to be loaded. */
  readonly unsent?: Unsent;
}

export interface Outbox {
  /** Reads a record of the database's change stream; `undefined` for a change that leaves nothing to send. */
  readChange(change: unknown): OutboxChange | undefined;

  /** What a record has to send now: a consistent read. `undefined` once it is marked as sent, or gone. */
  load(recordKey: string): Promise<Unsent | undefined>;

  /**
   * Keys of records of one shard (from 0 to `OUTBOX_SHARDS` - 1) that committed before `before` (epoch ms) and may still
   * have something to send, oldest first, in pages. May name records that were marked meanwhile.
   */
  findUnsent(shard: number, before: number): AsyncIterable<readonly string[]>;

  /** Ends it under the token: from now on the record expires as others do. Repeating it changes nothing. */
  markSent(unsent: Unsent): Promise<void>;
}
