// An order handler with a seeded bug, for the schedules to find: it looks whether the order is there, and then writes it.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";

const orders = DynamoDBDocumentClient.from(new DynamoDBClient());

export async function naiveCreateOrder(event: { readonly headers: Readonly<Record<string, string>> }) {
  const idempotencyKey = event.headers["idempotency-key"]?.slice(1, -1);
  const { Items = [] } = await orders.send(new ScanCommand({ TableName: "orders", ConsistentRead: true }));
  const found = Items.find((item) => item.idempotencyKey === idempotencyKey);
  if (found) return { statusCode: 201, body: JSON.stringify(found) };
  const order = { tenant: "acme", id: randomUUID(), idempotencyKey };
  await orders.send(new PutCommand({ TableName: "orders", Item: order }));
  return { statusCode: 201, body: JSON.stringify(order) };
}
