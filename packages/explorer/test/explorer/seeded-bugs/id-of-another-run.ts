// A row under the caller's key keeps the order single; the answer names the id of the run that was refused.
import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());

async function createOrder(
  event: HttpEvent,
  idOfRefused: (error: ConditionalCheckFailedException) => unknown,
) {
  let orderId: unknown = randomUUID();
  try {
    await database.send(
      new PutCommand({
        TableName,
        Item: { tenant: "acme", id: event.headers["idempotency-key"], orderId },
        ConditionExpression: "attribute_not_exists(id)",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    orderId = idOfRefused(error) ?? orderId;
  }
  return { statusCode: 201, body: JSON.stringify({ orderId }) };
}

export const handler = (event: HttpEvent) => createOrder(event, () => undefined);

export const mended = (event: HttpEvent) => createOrder(event, ({ Item }) => Item?.orderId?.S);
