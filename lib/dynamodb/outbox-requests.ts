/** Requests about the records of an outbox: reads them whole, finds them, changes them. */
import type { QueryInput, TransactWriteItem, Update, UpdateItemInput } from "@aws-sdk/client-dynamodb";
import { RecordCorruptError } from "../core/errors.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import type { Connection } from "./connection.ts";
import { messageItemKeys } from "./outbox-changes.ts";
import type { RecordTable } from "./record-table.ts";
import { type Sent, send } from "./send.ts";
import { type Item, toItem } from "./values.ts";
import { readWaiting, type WaitingRecord, withMessages } from "./waiting-record.ts";

export type Complete = WaitingRecord & Unsent;

export class OutboxRequests {
  readonly #table: RecordTable;
  readonly #indexName: string;
  readonly #connection: Connection;

  constructor(table: RecordTable, indexName: string, connection: Connection) {
    this.#table = table;
    this.#indexName = indexName;
    this.#connection = connection;
  }

  update(change: UpdateItemInput): Promise<Sent<"UpdateItem">> {
    return send(this.#connection, "UpdateItem", change);
  }

  /** Whether the condition of the first write held. */
  async apply(Update: Update, others: readonly TransactWriteItem[]): Promise<boolean> {
    const { refusedBy } =
      others.length > 0
        ? await send(this.#connection, "TransactWriteItems", { TransactItems: [{ Update }, ...others] })
        : await this.update(Update);
    return !refusedBy;
  }

  async *query(shard: number, before: number, more: Partial<QueryInput>): AsyncGenerator<Sent<"Query">> {
    const { TableName, names } = this.#table;
    let ExclusiveStartKey: Item | undefined;
    do {
      const answer: Sent<"Query"> = await send(this.#connection, "Query", {
        TableName,
        IndexName: this.#indexName,
        KeyConditionExpression: "#unsentShard = :shard AND #unsentSince < :before",
        ExpressionAttributeNames: { "#unsentShard": names.unsentShard, "#unsentSince": names.unsentSince },
        ExpressionAttributeValues: toItem({ ":shard": shard, ":before": before }),
        ...more,
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      });
      yield answer;
      ExclusiveStartKey = answer.LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }

  /** With its messages, wherever they are. */
  async complete(record: WaitingRecord | undefined): Promise<Complete | undefined> {
    if (!record || record.messages) return record as Complete | undefined;
    const { recordKey, token, messageItems } = record;
    const keys = messageItemKeys(recordKey, token, messageItems);
    const items = await Promise.all(keys.map((key) => this.get(key)));
    const { messages } = this.#table.names;
    if (items.every(Boolean))
      return withMessages(
        record,
        items.map((item) => item?.[messages]?.S),
      ) as Complete;
    // Somebody has sent them between the two reads, or they are lost.
    if (!readWaiting(this.#table, await this.get(recordKey))) return undefined;
    throw new RecordCorruptError("items that hold outgoing messages are gone");
  }

  async get(key: string): Promise<Item | undefined> {
    const { TableName, keyOf } = this.#table;
    const input = { TableName, Key: keyOf(key), ConsistentRead: true };
    return (await send(this.#connection, "GetItem", input)).Item;
  }
}
