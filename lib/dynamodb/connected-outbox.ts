/** The DynamoDB outbox: finds, takes and marks the records whose messages wait to be sent. */
import type { TransactWriteItem, Update } from "@aws-sdk/client-dynamodb";
import { OUTBOX_INDEX, OUTBOX_SHARDS, parkedShard } from "../contract.ts";
import { RecordCorruptError, StoreUnavailableError } from "../core/errors.ts";
import { type ChangedCommit, OperatedOutbox } from "../core/messages/operated-outbox.ts";
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
import type { Connection } from "./connection.ts";
import { messageItemWrites } from "./message-item-writes.ts";
import type { OutboxTableOptions } from "./options.ts";
import {
  type Complete,
  keepChange,
  markChanges,
  NOTES_KEY,
  notesChange,
  OutboxRequests,
  parkChange,
  senderOf,
  takeChange,
} from "./outbox-requests.ts";
import { type RecordTable, recordTable, type Values } from "./record-table.ts";
import type { Item } from "./values.ts";
import { readWaiting, refuseForeign, type WaitingRecord } from "./waiting-record.ts";

/** How many concurrent changes by other senders a merge tolerates. */
const MAX_MERGES = 5;

/** A DynamoDBOutbox over any connection. Its options are already checked. */
export class ConnectedOutbox extends OperatedOutbox implements Outbox {
  readonly shards: number;
  readonly #table: RecordTable;
  readonly #requests: OutboxRequests;

  constructor(options: OutboxTableOptions, connection: Connection) {
    super();
    this.shards = options.shards ?? OUTBOX_SHARDS;
    this.#table = recordTable(options);
    this.#requests = new OutboxRequests(this.#table, options.indexName ?? OUTBOX_INDEX, connection);
  }

  /**
   * @throws RecordCorruptError (`RECORD_CORRUPT`) for a change without a record key. PayloadInvalidError (`PAYLOAD_INVALID`) for
   * a change of another table, or of a stream without new images.
   */
  readChange(change: unknown): OutboxChange | undefined {
    const { names } = this.#table;
    refuseForeign(change, this.#table);
    const image = (change as { dynamodb?: { NewImage?: Item } } | null)?.dynamodb?.NewImage ?? {};
    // The stream also delivers the senders' own updates of a commit.
    if (!image[names.unsentSince] || image[names.delivery] || image[names.sendingUntil]) return undefined;
    const recordKey = image[names.partitionKey]?.S;
    if (recordKey === undefined)
      throw new RecordCorruptError("a change in the stream doesn't name its record");
    try {
      const { messages, ...waiting } = readWaiting(this.#table, image)!;
      const { committedAt } = waiting;
      return { recordKey, committedAt, ...(messages && { unsent: { ...waiting, messages } }) };
    } catch {
      // It may have been fixed since.
      return { recordKey, committedAt: 0 };
    }
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), RecordCorruptError (`RECORD_CORRUPT`) */
  async load(recordKey: string): Promise<Unsent | undefined> {
    return this.#requests.complete(readWaiting(this.#table, await this.#requests.get(recordKey)));
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), RecordCorruptError (`RECORD_CORRUPT`) */
  async take(recordKey: string, taking: Taking): Promise<Taken> {
    const change = takeChange(this.#table, recordKey, taking);
    const { Attributes, refusedBy } = await this.#requests.update({ ...change, ReturnValues: "ALL_NEW" });
    if (Attributes) {
      const unsent = await this.#requests.complete(readWaiting(this.#table, Attributes));
      return unsent ? { state: "taken", unsent } : { state: "over" };
    }
    const waiting = readWaiting(this.#table, refusedBy);
    if (!waiting || waiting.shard < 0) return { state: "over" };
    if (waiting.sender !== senderOf(taking))
      return { state: "held", unsent: waiting.messages && (waiting as Complete) };
    // This same request succeeded before, but its answer was lost and the client repeated it.
    const unsent = await this.#requests.complete(waiting);
    return unsent ? { state: "taken", unsent } : { state: "over" };
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), RecordCorruptError (`RECORD_CORRUPT`) */
  async keep(unsent: Unsent, progress: readonly MessageProgress[], dueAt: number): Promise<void> {
    let seen = unsent as Complete;
    let [kept, due] = [progress, dueAt];
    for (let merges = 0; merges < MAX_MERGES; merges++) {
      const isOwn = seen.sendingUntil === (unsent as Complete).sendingUntil;
      const { refusedBy } = await this.#requests.update(keepChange(this.#table, seen, kept, due, isOwn));
      if (!refusedBy) return;
      const theirs = await this.#requests.complete(readWaiting(this.#table, refusedBy));
      const merged = theirs?.token === unsent.token ? mergeProgress(progress, theirs) : undefined;
      // Either it is marked already, or this repeats a write whose answer was lost.
      if (!theirs || !merged) return;
      if (merged.every(isOver)) {
        await this.markSent(theirs, merged);
        return;
      }
      [seen, kept, due] = [theirs, merged, theirs.dueAt];
    }
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  markSent(unsent: Unsent, progress?: readonly MessageProgress[]): Promise<boolean> {
    // A refusal means that it is marked already.
    return this.#mark(unsent as WaitingRecord, progress);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async park(recordKey: string, now: number): Promise<boolean> {
    const { refusedBy } = await this.#requests.update(parkChange(this.#table, recordKey, now));
    return !refusedBy;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  leaseSweep(lease: SweepLease): Promise<boolean> {
    return this.#requests.lease(lease);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), also if the table has no such index. */
  async *findUnsent(shard: number, before: number): AsyncGenerator<readonly FoundUnsent[]> {
    const { names } = this.#table;
    for await (const { Items = [] } of this.#requests.query(shard, before, { Limit: 1000 })) {
      yield Items.map((item) => {
        const recordKey = item[names.partitionKey]?.S;
        if (recordKey === undefined) throw wrongKey(this.#table, item);
        return { recordKey, dueAt: Number(item[names.unsentSince]?.N) };
      });
    }
  }

  protected async decide(commit: Unsent, { progress, messages, evidence }: ChangedCommit): Promise<boolean> {
    const seen = commit as Complete;
    if (progress.every(isOver)) {
      return this.#mark(seen, progress, { evidence });
    }
    const isMoved = messages !== commit.messages;
    const text = isMoved && !seen.messageItems ? { messages: JSON.stringify(messages) } : {};
    const act = { evidence, ...text };
    const Update = keepChange(this.#table, seen, progress, commit.committedAt, false, act);
    const others = isMoved ? messageItemWrites(this.#table, seen, messages) : [];
    return this.#requests.apply(Update, others);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async readNotes(): Promise<string | undefined> {
    return (await this.#requests.get(NOTES_KEY))?.[this.#table.names.notes]?.S;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async replaceNotes(former: string | undefined, notes: string): Promise<boolean> {
    const { refusedBy } = await this.#requests.update(notesChange(this.#table, former, notes));
    // The refusal may be of a repeated request whose first answer was lost.
    return !refusedBy || refusedBy[this.#table.names.notes]?.S === notes;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), also if the table has no such index. */
  async count(): Promise<{ waiting: number; parked: number }> {
    const shards = Array.from({ length: this.shards }, (_, shard) => shard);
    const countOf = async (shard: number) => {
      const pages = this.#requests.query(shard, Number.MAX_SAFE_INTEGER, { Select: "COUNT" });
      // The first megabyte of keys is enough.
      for await (const { Count = 0 } of pages) return Count;
      return 0;
    };
    const sumOf = async (all: readonly number[]) =>
      (await Promise.all(all.map(countOf))).reduce((sum, count) => sum + count, 0);
    const [waiting, parked] = await Promise.all([sumOf(shards), sumOf(shards.map(parkedShard))]);
    return { waiting, parked };
  }

  #mark(
    record: WaitingRecord,
    progress: readonly MessageProgress[] | undefined,
    act?: Values,
  ): Promise<boolean> {
    const [{ Update }, ...others] = markChanges(this.#table, record, progress, act) as [
      { Update: Update },
      ...TransactWriteItem[],
    ];
    return this.#requests.apply(Update, others);
  }
}

/** A query for such a record would silently find nothing, and nothing would be sent. */
function wrongKey({ TableName, names }: RecordTable, item: Item): StoreUnavailableError {
  const found = Object.keys(item).filter((name) => name !== names.unsentShard && name !== names.unsentSince);
  return new StoreUnavailableError(
    "refused",
    undefined,
    `messages are waiting in the table ${TableName}, but its key is ${found.join(" and ")}, not ${names.partitionKey}: set \`partitionKey\`, and \`sortKey\` if it has one, on the outbox or on OutboxRelay`,
  );
}
