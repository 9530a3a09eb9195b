// Reads the orders table. Writing it is left to commits.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import type { Order } from "./order.ts";

const TableName = process.env.ORDERS_TABLE;
const orders = DynamoDBDocumentClient.from(new DynamoDBClient());

/** The order as it is now, or `undefined`. */
export async function findOrder(tenant: string, id: string): Promise<Order | undefined> {
  const { Item } = await orders.send(
    new GetCommand({ TableName, Key: { tenant, id }, ConsistentRead: true }),
  );
  return Item as Order | undefined;
}
