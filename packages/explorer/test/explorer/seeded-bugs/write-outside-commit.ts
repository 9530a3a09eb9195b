// onceonly, used for the answer only: the order is written beside the commit.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { httpIdempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const options = {
  operation: "create-order",
  store: new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE }),
  scope: "public",
} as const;

export const handler = httpIdempotent(async (event: HttpEvent) => {
  const order = { tenant: "acme", id: randomUUID(), ...JSON.parse(event.body) };
  await database.send(new PutCommand({ TableName, Item: order }));
  return { statusCode: 201, body: JSON.stringify(order) };
}, options);

export const mended = httpIdempotent<unknown, HttpEvent, DynamoDBWrite>(async (event, { idempotency }) => {
  const order = { tenant: "acme", id: randomUUID(), ...JSON.parse(event.body) };
  return idempotency.commit(
    { statusCode: 201, body: JSON.stringify(order) },
    { writes: [{ Put: { TableName, Item: order } }] },
  );
}, options);
