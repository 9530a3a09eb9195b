// The store on the model: what the store relies on in DynamoDB, the model has.
import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, describe, it } from "vitest";
import { DynamoDBOutbox } from "../../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../../lib/dynamodb/writes.ts";
import { DynamoDBModel } from "../../../lib/testing/dynamodb/dynamodb-model.ts";
import { type StoreSubject, storeContract } from "../../../lib/testing/store-contract.ts";
import { createOutboxTable, createTable } from "../../dynamodb/tables.ts";

const put = (Item: Record<string, unknown>): DynamoDBWrite => ({ Put: { TableName: "orders", Item } });
const remove = (id: string): DynamoDBWrite => ({ Delete: { TableName: "orders", Key: { id } } });

const UNACCEPTABLE = [
  [{ Get: { TableName: "orders", Key: { id: "1" } } }],
  [put({ id: "1", callback: Symbol("not a value") })],
  [remove("1"), remove("1")],
  [put({ id: "1", blob: "x".repeat(410_000) })],
  Array.from({ length: 100 }, (_, index) => put({ id: `${index}` })),
  Array.from({ length: 11 }, (_, index) => put({ id: `${index}`, blob: "x".repeat(399_000) })),
] as unknown as readonly DynamoDBWrite[][];

describe("DynamoDBStore on DynamoDBModel", () => {
  const client = new DynamoDBClient(new DynamoDBModel().clientConfig());
  let subject: StoreSubject<DynamoDBWrite>;

  beforeAll(async () => {
    const [counters, tableName] = [await createTable(client, "name"), await createOutboxTable(client)];
    subject = {
      store: new DynamoDBStore({ tableName, client }),
      outbox: new DynamoDBOutbox({ tableName, client }),
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
      alter: async (pk, change) => {
        for (const [name, value] of Object.entries(change)) {
          const ExpressionAttributeValues = marshall({ ":value": value });
          const update = {
            UpdateExpression: "SET #name = :value",
            ExpressionAttributeNames: { "#name": name },
          };
          const input = { TableName: tableName, Key: marshall({ pk }), ...update, ExpressionAttributeValues };
          await client.send(new UpdateItemCommand(input));
        }
      },
      remove: async (pk) => {
        await client.send(new DeleteItemCommand({ TableName: tableName, Key: marshall({ pk }) }));
      },
    };
  });

  for (const { name, run } of storeContract(() => subject)) it(name, run);
});
