// A DynamoDBStore, its outbox and a table of counters, as the store contract asks for them.
import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBStoreOptions } from "../../lib/dynamodb/options.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import type { StoreSubject } from "../../lib/testing/contract/store-contract.ts";
import { createOutboxTable, createTable } from "../kit/tables.ts";

const put = (Item: Record<string, unknown>): DynamoDBWrite => ({ Put: { TableName: "orders", Item } });
const remove = (id: string): DynamoDBWrite => ({ Delete: { TableName: "orders", Key: { id } } });

const UNACCEPTABLE = [
  [null],
  [{}],
  [{ Get: { TableName: "orders", Key: { id: "1" } } }],
  [{ ...put({ id: "1" }), ...remove("2") }],
  [{ Put: { Item: { id: "1" } } }],
  [{ Put: { TableName: undefined, Item: { id: "1" } } }],
  [{ Put: { TableName: "orders", Key: { id: "1" } } }],
  [{ Update: { TableName: "orders", Item: { id: "1" } } }],
  [put({ id: "1", callback: Symbol("not a value") })],
  [remove("1"), remove("1")],
  [put({ id: "1", blob: "x".repeat(410_000) })],
  Array.from({ length: 100 }, (_, index) => put({ id: `${index}` })),
  Array.from({ length: 11 }, (_, index) => put({ id: `${index}`, blob: "x".repeat(399_000) })),
] as unknown as readonly DynamoDBWrite[][];

/**
 * @param key what a record's item is found by
 * @param make the store and the outbox on a table
 */
export async function contractSubject(
  client: DynamoDBClient,
  key: (recordKey: string) => Record<string, string>,
  options: Omit<DynamoDBStoreOptions, "tableName" | "client"> = {},
  make: (tableName: string) => Pick<StoreSubject<DynamoDBWrite>, "store" | "outbox"> = (tableName) => ({
    store: new DynamoDBStore({ tableName, client, ...options }),
    outbox: new DynamoDBOutbox({ tableName, client, ...options }),
  }),
): Promise<StoreSubject<DynamoDBWrite>> {
  // One after the other: the order in which tables are made does not depend on who answers first.
  const counters = await createTable(client, "name");
  const tableName = await createOutboxTable(client, ...(Object.keys(key("")) as [string, string?]));
  return {
    ...make(tableName),
    unacceptableWrites: UNACCEPTABLE,
    countUp: (name, condition) => ({
      Update: {
        TableName: counters,
        Key: { name },
        UpdateExpression: "ADD #count :one",
        ...(condition && { ConditionExpression: "attribute_not_exists(#count)" }),
        ExpressionAttributeNames: { "#count": "count" },
        ExpressionAttributeValues: { ":one": 1 },
      },
    }),
    readCount: async (name) => {
      const input = { TableName: counters, Key: marshall({ name }), ConsistentRead: true };
      const { Item } = await client.send(new GetItemCommand(input));
      return Item === undefined ? 0 : Number(unmarshall(Item).count);
    },
    alter: async (recordKey, change) => {
      for (const [name, value] of Object.entries(change)) {
        await client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: marshall(key(recordKey)),
            UpdateExpression: "SET #name = :value",
            ExpressionAttributeNames: { "#name": name },
            ExpressionAttributeValues: marshall({ ":value": value }),
          }),
        );
      }
    },
    remove: async (recordKey) => {
      await client.send(new DeleteItemCommand({ TableName: tableName, Key: marshall(key(recordKey)) }));
    },
  };
}
