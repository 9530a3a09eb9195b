// onceonly, with the message sent beside the commit, to a standard queue.
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { httpIdempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const MAILS_QUEUE_URL = "https://sqs.us-east-1.amazonaws.com/000000000000/mails";
const TableName = process.env.ORDERS_TABLE;
const sqs = new SQSClient();
const options = {
  operation: "create-order",
  store: new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE }),
  scope: "public",
} as const;

const orderOf = (event: HttpEvent, key: string) => ({ tenant: "acme", id: key, ...JSON.parse(event.body) });

export const handler = httpIdempotent<unknown, HttpEvent, DynamoDBWrite>(async (event, { idempotency }) => {
  const order = orderOf(event, idempotency.key);
  await sqs.send(
    new SendMessageCommand({ QueueUrl: MAILS_QUEUE_URL, MessageBody: JSON.stringify({ orderId: order.id }) }),
  );
  return idempotency.commit({ statusCode: 201 }, { writes: [{ Put: { TableName, Item: order } }] });
}, options);

export const mended = httpIdempotent<unknown, HttpEvent, DynamoDBWrite>(async (event, { idempotency }) => {
  const order = orderOf(event, idempotency.key);
  return idempotency.commit(
    { statusCode: 201 },
    {
      writes: [{ Put: { TableName, Item: order } }],
      messages: [{ queue: MAILS_QUEUE_URL, key: order.id, body: { orderId: order.id } }],
    },
  );
}, options);
