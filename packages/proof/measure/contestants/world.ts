// Shared by both sides of a benchmark: one engine, one client, and a table for each purpose.
import { type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { Context } from "aws-lambda";
import { fakeLambdaContext } from "onceonly/testing";
import { createTable } from "../../../../test/kit/tables.ts";
import type { HttpAnswer, LambdaHandler } from "./lambda-call.ts";

/** The partition key of Powertools' table. */
export const POWERTOOLS_PARTITION_KEY = "id";

export interface World {
  readonly client: DynamoDBClient;
  readonly onceonlyTable: string;
  readonly powertoolsTable: string;
  readonly ordersTable: string;
}

export async function createWorld(client: DynamoDBClient): Promise<World> {
  const [onceonlyTable, powertoolsTable, ordersTable] = await Promise.all([
    createTable(client),
    createTable(client, POWERTOOLS_PARTITION_KEY),
    createTable(client, "id"),
  ]);
  return { client, onceonlyTable, powertoolsTable, ordersTable };
}

export function lambdaContext(): Context {
  return fakeLambdaContext({ clock: { now: () => performance.now() }, functionName: "create-order" });
}

/** A handler that does nothing but answer. */
export function answering(body = '{"order":"1"}'): LambdaHandler {
  return async () => created(body);
}

/** A handler that fails before it has done anything. */
export const failing: LambdaHandler = async () => {
  throw new Error("the handler fails");
};

/** A handler that writes an order separately from the record. */
export function puttingOrder(
  { client, ordersTable }: Pick<World, "client" | "ordersTable">,
  orderOf = newOrder,
): LambdaHandler {
  return async () => {
    const order = orderOf();
    const Item = { id: { S: order.id }, item: { S: order.item } };
    await client.send(new PutItemCommand({ TableName: ordersTable, Item }));
    return created(JSON.stringify(order));
  };
}

export function newOrder(): { readonly id: string; readonly item: string } {
  return { id: crypto.randomUUID(), item: "book" };
}

export function created(body: string): HttpAnswer {
  return { statusCode: 201, headers: { "content-type": "application/json" }, body };
}
