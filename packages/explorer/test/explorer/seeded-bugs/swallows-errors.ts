// The key is the row's key, so that a repetition is refused by a condition: and every error is taken for that refusal.
import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());

async function createOrder(event: HttpEvent, isExpected: (error: unknown) => boolean) {
  const order = { tenant: "acme", id: event.headers["idempotency-key"], ...JSON.parse(event.body) };
  try {
    await database.send(
      new PutCommand({ TableName, Item: order, ConditionExpression: "attribute_not_exists(id)" }),
    );
  } catch (error) {
    if (!isExpected(error)) throw error;
  }
  return { statusCode: 201, body: JSON.stringify({ id: order.id }) };
}

export const handler = (event: HttpEvent) => createOrder(event, () => true);

export const mended = (event: HttpEvent) =>
  createOrder(event, (error) => error instanceof ConditionalCheckFailedException);
