// A table with an outbox on a real engine, commits of messages to it, and what lies in it.
import { randomUUID } from "node:crypto";
import { type DynamoDBClient, GetItemCommand, paginateScan } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import type { StoredMessage } from "../../lib/core/messages/outgoing-message.ts";
import type { Insertion } from "../../lib/core/store.ts";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { readStream } from "../kit/table-stream.ts";
import { createOutboxTable } from "../kit/tables.ts";
import { claimOf, NOW } from "./given.ts";

export const MODES = ["claimed", "optimistic"] as const;
export type Mode = (typeof MODES)[number];

export const COMMITTED_AT = NOW + 1000;

/** `bytes` of text that does not grow in JSON. */
export const messageOf = (key: string, bytes = 20): StoredMessage => ({
  queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo",
  key,
  group: "order-7",
  body: "x".repeat(bytes),
});

/** As an order asks for its payment: addresses and keys are as long as in AWS. */
export const paymentOf = (orderId: string) => ({
  queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/prod-shop-payments-queue.fifo",
  key: `${orderId}/created`,
  group: orderId,
  body: { orderId, total: 12.5, currency: "EUR", customerId: randomUUID() },
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
});

const SCHEMA = { partitionKey: "PK", sortKey: { name: "SK", value: "ONCE" }, ttlAttribute: "ttl" } as const;

/** With other keys, as of a single-table design, where asked. */
export async function newOutboxTable(client: DynamoDBClient, endpoint: string, hasOtherKeys = false) {
  const tableName = await createOutboxTable(client, ...(hasOtherKeys ? ["PK", "SK"] : []));
  const key = (pk: string) => (hasOtherKeys ? { PK: pk, SK: "ONCE" } : { pk });
  const options = { tableName, client, ...(hasOtherKeys && SCHEMA) };
  const store = new DynamoDBStore(options);
  const outbox = new DynamoDBOutbox(options);

  return {
    tableName,
    key,
    store,
    outbox,
    nextChanges: await readStream(client, endpoint, tableName, key),

    /** Claims where that is the mode; the insertion or settlement that is left to do. */
    async begin(mode: Mode, change: Partial<Insertion<DynamoDBWrite>> = {}) {
      const claim = claimOf(change.token ?? randomUUID());
      if (mode === "claimed") await store.claim(claim);
      const insertion: Insertion<DynamoDBWrite> = {
        ...claim,
        now: COMMITTED_AT,
        state: "completed",
        result: '"done"',
        writes: [],
        messages: [messageOf("order-7/created"), messageOf("order-7/paid")],
        ...change,
      };
      const finish = () => (mode === "claimed" ? store.settle(insertion) : store.insert(insertion));
      return { ...insertion, finish };
    },

    /** A business item in the same table. */
    put: (pk: string, more: object = {}): DynamoDBWrite => ({
      Put: { TableName: tableName, Item: { ...key(pk), ...more } },
    }),

    /** The keys of a record and of all that lies beside the record, in no order. */
    async itemKeys(recordKey: string): Promise<string[]> {
      const request = { TableName: tableName, ConsistentRead: true, ProjectionExpression: "pk" };
      const keys: string[] = [];
      for await (const { Items = [] } of paginateScan({ client }, request)) {
        keys.push(...Items.map(({ pk }) => String(pk?.S)));
      }
      return keys.filter((key) => key.startsWith(recordKey));
    },

    async read(pk: string): Promise<Record<string, unknown> | undefined> {
      const Key = marshall(key(pk));
      const { Item } = await client.send(
        new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }),
      );
      return Item && unmarshall(Item);
    },
  };
}

export type OutboxTable = Awaited<ReturnType<typeof newOutboxTable>>;
