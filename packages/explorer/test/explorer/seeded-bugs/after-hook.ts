// onceonly inside of Middy, with an effect in an `after` hook: it comes with every replay too.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import { idempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";

interface Order {
  readonly id: string;
}

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const store = new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE });

const count = {
  TableName,
  Key: { tenant: "acme", id: "count" },
  UpdateExpression: "ADD orders :one",
  ExpressionAttributeValues: { ":one": 1 },
};

function creating(writes: readonly DynamoDBWrite[]) {
  return idempotent<unknown, Order, DynamoDBWrite>(
    async ({ id }, { idempotency }) =>
      idempotency.commit(
        { id },
        { writes: [{ Put: { TableName, Item: { tenant: "acme", id } } }, ...writes] },
      ),
    { operation: "create-order", store, key: ({ id }) => id },
  );
}

export const handler = middy(creating([])).after(async () => {
  await database.send(new UpdateCommand(count));
});

export const mended = middy(creating([{ Update: count }]));
