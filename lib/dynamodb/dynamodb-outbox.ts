/** The outbox on DynamoDB: finds, reads and marks the records whose messages wait to be sent. */
import {
  GetItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { OUTBOX_INDEX, RECORD_VERSION } from "../contract.ts";
import { RecordCorruptError } from "../core/errors.ts";
import { checkOptions, text } from "../core/option-checks.ts";
import type { Outbox, OutboxChange, Unsent } from "../core/outbox.ts";
import type { StoredMessage } from "../core/outgoing-message.ts";
import { STILL_UNSENT } from "./conditions.ts";
import { messageItemKey } from "./messages.ts";
import { CHECKS, clientOf, type DynamoDBStoreOptions } from "./options.ts";
import { type RecordTable, recordTable } from "./record-table.ts";
import { type Request, send } from "./send.ts";
import { ownResult } from "./stored-record.ts";
import { type Item, toItem } from "./values.ts";

export interface DynamoDBOutboxOptions extends DynamoDBStoreOptions {
  /**
   * Name of the sparse index by which the sweeper finds what the stream lost.
   * @default "outbox"
   */
  readonly indexName?: string;
}

/** The part of a record that the relay needs to send its messages and to mark them. */
interface Waiting extends Omit<Unsent, "messages"> {
  readonly expiresOnceSent: number | undefined;
  /** The result is in an item of its own, under this key. */
  readonly resultItem: string | undefined;
  /** The messages are in so many items of their own. */
  readonly messageItems: number;
  readonly messages: readonly StoredMessage[] | undefined;
}

/**
 * Reads what `commit` stored to be sent, from the table's stream (with new images), the records themselves, and the
 * sparse index; marks it as sent. The options are those of the DynamoDBStore that commits.
 */
export class DynamoDBOutbox implements Outbox {
  readonly #table: RecordTable;
  readonly #indexName: string;
  readonly #send: (request: Request) => ReturnType<typeof send>;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: DynamoDBOutboxOptions) {
    checkOptions(options, { ...CHECKS, indexName: text(255) }, ["tableName"]);
    const client = clientOf(options);
    this.#table = recordTable(options);
    this.#indexName = options.indexName ?? OUTBOX_INDEX;
    this.#send = (request) => send(client, request);
  }

  /** @throws RecordCorruptError (`RECORD_CORRUPT`) for a record that cannot be read. */
  readChange(change: unknown): OutboxChange | undefined {
    const waiting = this.#read((change as { dynamodb?: { NewImage?: Item } } | null)?.dynamodb?.NewImage);
    if (!waiting) return undefined;
    const { recordKey, committedAt, messages } = waiting;
    return { recordKey, committedAt, ...(messages && { unsent: { ...waiting, messages } }) };
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), RecordCorruptError (`RECORD_CORRUPT`) */
  async load(recordKey: string): Promise<Unsent | undefined> {
    const waiting = this.#read(await this.#get(recordKey));
    if (!waiting || waiting.messages) return waiting as Unsent | undefined;
    const items = await Promise.all(this.#itemKeys(waiting).map((key) => this.#get(key)));
    if (items.every(Boolean))
      return { ...waiting, messages: items.flatMap((item) => this.#messagesIn(item as Item)) };
    // Somebody has sent them between the two reads, or they are lost.
    if (await this.#get(recordKey).then((item) => this.#read(item))) {
      throw new RecordCorruptError("items that hold outgoing messages are gone");
    }
    return undefined;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), also where the table has no such index. */
  async *findUnsent(shard: number, before: number): AsyncGenerator<readonly string[]> {
    const { TableName, names } = this.#table;
    let ExclusiveStartKey: Item | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await this.#send(
        new QueryCommand({
          TableName,
          IndexName: this.#indexName,
          KeyConditionExpression: "#unsentShard = :shard AND #unsentSince < :before",
          ExpressionAttributeNames: { "#unsentShard": names.unsentShard, "#unsentSince": names.unsentSince },
          ExpressionAttributeValues: toItem({ ":shard": shard, ":before": before }),
          Limit: 100,
          ...(ExclusiveStartKey && { ExclusiveStartKey }),
        }),
      );
      yield Items.flatMap((item) => item[names.partitionKey]?.S ?? []);
      ExclusiveStartKey = LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async markSent(unsent: Unsent): Promise<void> {
    const { recordKey, token, expiresOnceSent, resultItem, messageItems } = unsent as Waiting;
    const { TableName, updateOf, expiryOf, keyOf } = this.#table;
    const sent = {
      expiresAt: expiresOnceSent,
      messages: undefined,
      messageItems: undefined,
      unsentShard: undefined,
      unsentSince: undefined,
      expiresOnceSent: undefined,
    };
    const Update = updateOf(recordKey, STILL_UNSENT, sent, { token });
    const deletions = this.#itemKeys({ recordKey, token, messageItems }).map((key) => ({
      Delete: { TableName, Key: keyOf(key) },
    }));
    const ofResult = resultItem && expiresOnceSent ? [{ Update: expiryOf(resultItem, expiresOnceSent) }] : [];
    const others = [...deletions, ...ofResult];
    // A refusal says that it is marked already.
    await this.#send(
      others.length > 0
        ? new TransactWriteItemsCommand({ TransactItems: [{ Update }, ...others] })
        : new UpdateItemCommand(Update),
    );
  }

  #itemKeys({
    recordKey,
    token,
    messageItems,
  }: Pick<Waiting, "recordKey" | "token" | "messageItems">): string[] {
    return Array.from({ length: messageItems }, (_, index) => messageItemKey(recordKey, token, index));
  }

  async #get(key: string): Promise<Item | undefined> {
    const { TableName, keyOf } = this.#table;
    return (await this.#send(new GetItemCommand({ TableName, Key: keyOf(key), ConsistentRead: true }))).Item;
  }

  #read(item: Item = {}): Waiting | undefined {
    const { names } = this.#table;
    if (!item[names.unsentSince]) return undefined;
    const numberOf = (name: string) => item[name] && Number(item[name].N);
    const version = numberOf(names.version);
    const committedAt = numberOf(names.unsentSince);
    const messageItems = numberOf(names.messageItems) ?? 0;
    const recordKey = item[names.partitionKey]?.S;
    const token = item[names.token]?.S;
    if (version !== RECORD_VERSION || !recordKey || !token || !committedAt) {
      throw new RecordCorruptError(
        `a record of version ${String(version)} has messages that this code cannot read`,
      );
    }
    const messages = messageItems ? undefined : this.#messagesIn(item);
    const expiresOnceSent = numberOf(names.expiresOnceSent);
    const address = item[names.resultItem]?.S;
    const resultItem = address === undefined ? undefined : ownResult(recordKey, address);
    return { recordKey, token, committedAt, expiresOnceSent, resultItem, messageItems, messages };
  }

  #messagesIn(item: Item): readonly StoredMessage[] {
    let messages: unknown;
    try {
      messages = JSON.parse(item[this.#table.names.messages]?.S as string);
    } catch (cause) {
      throw new RecordCorruptError("stored messages cannot be read", { cause });
    }
    if (Array.isArray(messages) && messages.every(isStored)) return messages;
    throw new RecordCorruptError("stored messages are none, or not all of them are");
  }
}

function isStored(message: unknown): message is StoredMessage {
  const { key, body } = Object(message) as Partial<StoredMessage>;
  return typeof key === "string" && typeof body === "string";
}
