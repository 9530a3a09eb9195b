// The audit row is written by the way: nobody waits for it.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());

const putOrder = (key: string) =>
  database.send(new PutCommand({ TableName, Item: { tenant: "acme", id: key } }));
const putAudit = (key: string) =>
  database.send(new PutCommand({ TableName, Item: { tenant: "acme", id: `audit#${key}` } }));
const keyOf = (event: HttpEvent) => event.headers["idempotency-key"] ?? "";

export const handler = async (event: HttpEvent) => {
  await putOrder(keyOf(event));
  void putAudit(keyOf(event));
  return { statusCode: 201 };
};

export const mended = async (event: HttpEvent) => {
  await putOrder(keyOf(event));
  await putAudit(keyOf(event));
  return { statusCode: 201 };
};
