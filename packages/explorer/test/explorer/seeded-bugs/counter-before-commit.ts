// onceonly, with one of two writes in the commit: the stock goes down before it.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { httpIdempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const options = {
  operation: "reserve",
  store: new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE }),
  scope: "public",
} as const;

const stockDown = (count: number) => ({
  TableName,
  Key: { tenant: "acme", id: "stock" },
  UpdateExpression: "SET pieces = pieces - :count",
  ExpressionAttributeValues: { ":count": count },
});

const answer = (quantity: number) => ({ statusCode: 201, body: JSON.stringify({ reserved: quantity }) });

const reservation = (key: string, quantity: number): DynamoDBWrite => ({
  Put: { TableName, Item: { tenant: "acme", id: key, quantity } },
});

export const handler = httpIdempotent<unknown, HttpEvent, DynamoDBWrite>(async (event, { idempotency }) => {
  const { quantity } = JSON.parse(event.body);
  await database.send(new UpdateCommand(stockDown(quantity)));
  return idempotency.commit(answer(quantity), { writes: [reservation(idempotency.key, quantity)] });
}, options);

export const mended = httpIdempotent<unknown, HttpEvent, DynamoDBWrite>(async (event, { idempotency }) => {
  const { quantity } = JSON.parse(event.body);
  return idempotency.commit(answer(quantity), {
    writes: [reservation(idempotency.key, quantity), { Update: stockDown(quantity) }],
  });
}, options);
