/** The stores on which the model's traces are played: one in memory, and one on a DynamoDB engine. */
import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBOutbox } from "../../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../../lib/dynamodb/writes.ts";
import { type Item, MemoryStore, type MemoryWrite } from "../../../lib/testing/index.ts";
import { connect, createOutboxTable } from "../../../test/kit/tables.ts";
import type { Ports, Rows } from "./store-play.ts";

/** Next to the records, under separate keys. */
function rowsIn(client: DynamoDBClient, TableName: string): Rows<DynamoDBWrite> {
  const key = (name: string) => ({ pk: { S: `row-${name}` } });
  return {
    insertion: (name) => ({
      Put: {
        TableName,
        Item: { pk: `row-${name}`, count: 1 },
        ConditionExpression: "attribute_not_exists(pk)",
      },
    }),
    increment: (name) => ({
      Update: {
        TableName,
        Key: { pk: `row-${name}` },
        UpdateExpression: "ADD #count :one",
        ExpressionAttributeNames: { "#count": "count" },
        ExpressionAttributeValues: { ":one": 1 },
      },
    }),
    put: async (name) => {
      const Item = { ...key(name), count: { N: "1" } };
      await client.send(new PutItemCommand({ TableName, Item }));
    },
    count: async (name) => {
      const read = new GetItemCommand({ TableName, Key: key(name), ConsistentRead: true });
      return Number((await client.send(read)).Item?.count?.N ?? 0);
    },
    delete: async (name) => void (await client.send(new DeleteItemCommand({ TableName, Key: key(name) }))),
  };
}

export function memoryPorts(): Ports<MemoryWrite> {
  const store = new MemoryStore();
  const table = store.table("rows") as Map<string, Item>;
  const count = (name: string) => Number(table.get(name)?.count ?? 0);
  const row = (name: string) => ({ table: "rows", key: name });
  const rows: Rows<MemoryWrite> = {
    insertion: (name) => ({ ...row(name), item: { count: 1 }, condition: (former) => former === undefined }),
    increment: (name) => ({ ...row(name), item: () => ({ count: count(name) + 1 }) }),
    put: async (name) => void table.set(name, { count: 1 }),
    count: async (name) => count(name),
    delete: async (name) => void table.delete(name),
  };
  return { store, outbox: store.outbox, rows, remove: async (key) => store.alter(key, undefined) };
}

export async function dynamodbPorts(endpoint: string): Promise<Ports<DynamoDBWrite>> {
  const client = connect(endpoint);
  const tableName = await createOutboxTable(client);
  // The model has an answer for every request: one that comes late on a busy machine isn't lost.
  const store = Object.assign(new DynamoDBStore({ tableName, client }), { patienceMs: undefined });
  const outbox = new DynamoDBOutbox({ tableName, client });
  const remove = async (pk: string) =>
    void (await client.send(new DeleteItemCommand({ TableName: tableName, Key: { pk: { S: pk } } })));
  return { store, outbox, rows: rowsIn(client, tableName), remove };
}
