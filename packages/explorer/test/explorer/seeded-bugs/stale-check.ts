// A lock with a lease, and all effects fenced by it. Whether the work is done already is read with eventual consistency: who
// comes right after does not see that it is.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";

const TableName = process.env.IDEMPOTENCY_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());

const counting = {
  Update: {
    TableName: process.env.ORDERS_TABLE,
    Key: { tenant: "acme", id: "count" },
    UpdateExpression: "ADD orders :one",
    ExpressionAttributeValues: { ":one": 1 },
  },
};

function locked(ConsistentRead: boolean) {
  return async ({ id }: { id: string }) => {
    const now = Date.now();
    const token = randomUUID();
    await database.send(
      new PutCommand({
        TableName,
        Item: { pk: `lock ${id}`, token, endsAt: now + 60_000 },
        ConditionExpression: "attribute_not_exists(pk) OR endsAt < :now",
        ExpressionAttributeValues: { ":now": now },
      }),
    );
    const done = { pk: `done ${id}` };
    const { Item } = await database.send(new GetCommand({ TableName, Key: done, ConsistentRead }));
    const unlock = {
      Update: {
        TableName,
        Key: { pk: `lock ${id}` },
        UpdateExpression: "SET endsAt = :past",
        ConditionExpression: "#token = :token",
        ExpressionAttributeNames: { "#token": "token" },
        ExpressionAttributeValues: { ":past": 0, ":token": token },
      },
    };
    const work = Item === undefined ? [counting, { Put: { TableName, Item: done } }] : [];
    await database.send(new TransactWriteCommand({ TransactItems: [unlock, ...work] }));
  };
}

export const handler = locked(false);

export const mended = locked(true);
