// A transaction that DynamoDB knows again by its token, but for 10 minutes only.
import { DynamoDBClient, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());

const visit = {
  Update: {
    TableName,
    Key: { tenant: "acme", id: "visits" },
    UpdateExpression: "ADD visits :one",
    ExpressionAttributeValues: { ":one": 1 },
  },
};

const keyOf = ({ headers }: HttpEvent) => headers["idempotency-key"];

export const handler = async (event: HttpEvent) => {
  await database.send(new TransactWriteCommand({ ClientRequestToken: keyOf(event), TransactItems: [visit] }));
  return { statusCode: 204 };
};

export const mended = async (event: HttpEvent) => {
  const mark = {
    Put: {
      TableName,
      Item: { tenant: "acme", id: `visit ${keyOf(event)}` },
      ConditionExpression: "attribute_not_exists(id)",
    },
  };
  try {
    await database.send(new TransactWriteCommand({ TransactItems: [mark, visit] }));
  } catch (error) {
    const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
    if (reasons[0]?.Code !== "ConditionalCheckFailed") throw error;
  }
  return { statusCode: 204 };
};
