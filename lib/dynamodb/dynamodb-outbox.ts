/** The outbox on DynamoDB: finds, takes and marks the records whose messages wait to be sent. */
import {
  GetItemCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { OUTBOX_INDEX, OUTBOX_SHARDS, parkedShard } from "../contract.ts";
import { RecordCorruptError } from "../core/errors.ts";
import { checkOptions, text } from "../core/option-checks.ts";
import {
  type FoundUnsent,
  type MessageProgress,
  mergeProgress,
  type Outbox,
  type OutboxChange,
  type Taken,
  type Taking,
  type Unsent,
} from "../core/outbox.ts";
import { CHECKS, clientOf, type DynamoDBTableOptions, shardsCheck } from "./options.ts";
import {
  keepChange,
  markChanges,
  messageItemKeys,
  NOTES_KEY,
  notesChange,
  parkChange,
  senderOf,
  takeChange,
} from "./outbox-changes.ts";
import { type RecordTable, recordTable } from "./record-table.ts";
import { type Answer, type Request, send } from "./send.ts";
import { type Item, toItem } from "./values.ts";
import { readWaiting, type WaitingRecord, withMessages } from "./waiting-record.ts";

export interface DynamoDBOutboxOptions extends DynamoDBTableOptions {
  /**
   * Name of the sparse index by which the sweeper finds what the stream lost.
   * @default "outbox"
   */
  readonly indexName?: string;
  /**
   * Into how many shards commits that wait are divided, 1 to 1000: as many as any store of the table has had. It can be
   * raised at any time, here first and then in the stores.
   * @default 8
   */
  readonly shards?: number;
}

type Complete = WaitingRecord & Unsent;

/** So many changes of others can come between. */
const MAX_MERGES = 5;

/**
 * Reads what `commit` stored to be sent, from the table's stream (with new images), the records themselves, and the
 * sparse index; marks it as sent. The options are those of the DynamoDBStore that commits.
 */
export class DynamoDBOutbox implements Outbox {
  readonly shards: number;
  readonly #table: RecordTable;
  readonly #indexName: string;
  readonly #send: (request: Request) => Promise<Answer>;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: DynamoDBOutboxOptions) {
    const { outbox: _outbox, ...checks } = CHECKS;
    checkOptions(options, { ...checks, indexName: text(255), shards: shardsCheck }, ["tableName"]);
    const client = clientOf(options);
    this.shards = options.shards ?? OUTBOX_SHARDS;
    this.#table = recordTable(options);
    this.#indexName = options.indexName ?? OUTBOX_INDEX;
    this.#send = (request) => send(client, request);
  }

  /** @throws RecordCorruptError (`RECORD_CORRUPT`) for a change that does not even name its record. */
  readChange(change: unknown): OutboxChange | undefined {
    const { names } = this.#table;
    const image = (change as { dynamodb?: { NewImage?: Item } } | null)?.dynamodb?.NewImage ?? {};
    // What senders write about a commit comes by the stream as well.
    if (!image[names.unsentSince] || image[names.delivery] || image[names.sendingUntil]) return undefined;
    const recordKey = image[names.partitionKey]?.S;
    if (recordKey === undefined) throw new RecordCorruptError("a change does not name its record");
    try {
      const { messages, ...waiting } = readWaiting(this.#table, image)!;
      const { committedAt } = waiting;
      return { recordKey, committedAt, ...(messages && { unsent: { ...waiting, messages } }) };
    } catch {
      // It may have been mended since.
      return { recordKey, committedAt: 0 };
    }
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), RecordCorruptError (`RECORD_CORRUPT`) */
  async load(recordKey: string): Promise<Unsent | undefined> {
    return this.#complete(readWaiting(this.#table, await this.#get(recordKey)));
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), RecordCorruptError (`RECORD_CORRUPT`) */
  async take(recordKey: string, taking: Taking): Promise<Taken> {
    const change = takeChange(this.#table, recordKey, taking);
    const { Attributes, refusedBy } = await this.#send(
      new UpdateItemCommand({ ...change, ReturnValues: "ALL_NEW" }),
    );
    if (Attributes) {
      const unsent = await this.#complete(readWaiting(this.#table, Attributes));
      return unsent ? { state: "taken", unsent } : { state: "over" };
    }
    const waiting = readWaiting(this.#table, refusedBy);
    if (!waiting || waiting.shard < 0) return { state: "over" };
    if (waiting.sender !== senderOf(taking))
      return { state: "held", unsent: waiting.messages && (waiting as Complete) };
    // The answer of this very request was lost, and it was repeated.
    const unsent = await this.#complete(waiting);
    return unsent ? { state: "taken", unsent } : { state: "over" };
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), RecordCorruptError (`RECORD_CORRUPT`) */
  async keep(unsent: Unsent, progress: readonly MessageProgress[], dueAt: number): Promise<void> {
    let seen = unsent as Complete;
    let [kept, due] = [progress, dueAt];
    for (let merges = 0; merges < MAX_MERGES; merges++) {
      const isOwn = seen.sendingUntil === (unsent as Complete).sendingUntil;
      const { refusedBy } = await this.#send(
        new UpdateItemCommand(keepChange(this.#table, seen, kept, due, isOwn)),
      );
      if (!refusedBy) return;
      const theirs = await this.#complete(readWaiting(this.#table, refusedBy));
      const merged = theirs?.token === unsent.token ? mergeProgress(progress, theirs) : undefined;
      // It is marked already, or this repeats a write whose answer was lost.
      if (!theirs || !merged) return;
      if (merged.every(({ state }) => state === "sent" || state === "dropped")) {
        return this.markSent(theirs, merged);
      }
      [seen, kept, due] = [theirs, merged, theirs.dueAt];
    }
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async markSent(unsent: Unsent, progress?: readonly MessageProgress[]): Promise<void> {
    const changes = markChanges(this.#table, unsent as WaitingRecord, progress);
    const [{ Update }, ...others] = changes as [{ Update: never }, ...object[]];
    // A refusal says that it is marked already.
    await this.#send(
      others.length > 0
        ? new TransactWriteItemsCommand({ TransactItems: [...changes] })
        : new UpdateItemCommand(Update),
    );
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async park(recordKey: string, now: number): Promise<boolean> {
    const { refusedBy } = await this.#send(new UpdateItemCommand(parkChange(this.#table, recordKey, now)));
    return !refusedBy;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), also where the table has no such index. */
  async *findUnsent(shard: number, before: number): AsyncGenerator<readonly FoundUnsent[]> {
    const { names } = this.#table;
    for await (const { Items = [] } of this.#query(shard, before, { Limit: 100 })) {
      yield Items.map((item) => ({
        recordKey: item[names.partitionKey]?.S as string,
        dueAt: Number(item[names.unsentSince]?.N),
      }));
    }
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async readNotes(): Promise<string | undefined> {
    return (await this.#get(NOTES_KEY))?.[this.#table.names.notes]?.S;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async replaceNotes(former: string | undefined, notes: string): Promise<boolean> {
    const { refusedBy } = await this.#send(new UpdateItemCommand(notesChange(this.#table, former, notes)));
    // Of a request that was repeated the first answer may have been lost.
    return !refusedBy || refusedBy[this.#table.names.notes]?.S === notes;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), also where the table has no such index. */
  async count(): Promise<{ waiting: number; parked: number }> {
    const shards = Array.from({ length: this.shards }, (_, shard) => shard);
    const countOf = async (shard: number) => {
      const pages = this.#query(shard, Number.MAX_SAFE_INTEGER, { Select: "COUNT" });
      // Of very many the first megabyte of keys tells enough.
      for await (const { Count = 0 } of pages) return Count;
      return 0;
    };
    const sumOf = async (all: readonly number[]) =>
      (await Promise.all(all.map(countOf))).reduce((sum, count) => sum + count, 0);
    const [waiting, parked] = await Promise.all([sumOf(shards), sumOf(shards.map(parkedShard))]);
    return { waiting, parked };
  }

  async *#query(shard: number, before: number, more: Partial<QueryCommandInput>): AsyncGenerator<Answer> {
    const { TableName, names } = this.#table;
    let ExclusiveStartKey: Item | undefined;
    do {
      const answer = await this.#send(
        new QueryCommand({
          TableName,
          IndexName: this.#indexName,
          KeyConditionExpression: "#unsentShard = :shard AND #unsentSince < :before",
          ExpressionAttributeNames: { "#unsentShard": names.unsentShard, "#unsentSince": names.unsentSince },
          ExpressionAttributeValues: toItem({ ":shard": shard, ":before": before }),
          ...more,
          ...(ExclusiveStartKey && { ExclusiveStartKey }),
        }),
      );
      yield answer;
      ExclusiveStartKey = answer.LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }

  /** With its messages, wherever they are. */
  async #complete(record: WaitingRecord | undefined): Promise<Complete | undefined> {
    if (!record || record.messages) return record as Complete | undefined;
    const { recordKey, token, messageItems } = record;
    const keys = messageItemKeys(recordKey, token, messageItems);
    const items = await Promise.all(keys.map((key) => this.#get(key)));
    const { messages } = this.#table.names;
    if (items.every(Boolean))
      return withMessages(
        record,
        items.map((item) => item?.[messages]?.S),
      ) as Complete;
    // Somebody has sent them between the two reads, or they are lost.
    if (!readWaiting(this.#table, await this.#get(recordKey))) return undefined;
    throw new RecordCorruptError("items that hold outgoing messages are gone");
  }

  async #get(key: string): Promise<Item | undefined> {
    const { TableName, keyOf } = this.#table;
    return (await this.#send(new GetItemCommand({ TableName, Key: keyOf(key), ConsistentRead: true }))).Item;
  }
}
