// A row under the caller's key, and the day: what is sent again after midnight is another row.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const database = DynamoDBDocumentClient.from(new DynamoDBClient());

async function putUnder(id: string, day: string) {
  await database.send(
    new PutCommand({ TableName: process.env.ORDERS_TABLE, Item: { tenant: "acme", id, day } }),
  );
  return { statusCode: 201 };
}

const today = () => new Date().toISOString().slice(0, 10);

export const handler = ({ headers }: HttpEvent) =>
  putUnder(`${headers["idempotency-key"]}/${today()}`, today());

export const mended = ({ headers }: HttpEvent) => putUnder(`${headers["idempotency-key"]}`, today());
