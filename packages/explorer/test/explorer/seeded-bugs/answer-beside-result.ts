// onceonly inside a function that adds to its answer: the receipt is another one each time.
import { randomUUID } from "node:crypto";
import { httpIdempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const TableName = process.env.ORDERS_TABLE;

function creating(content: (order: object) => object) {
  return httpIdempotent<{ statusCode: number; body: string }, HttpEvent, DynamoDBWrite>(
    async (event, { idempotency }) => {
      const order = { tenant: "acme", id: idempotency.key, ...JSON.parse(event.body) };
      return idempotency.commit(
        { statusCode: 201, body: JSON.stringify(content(order)) },
        { writes: [{ Put: { TableName, Item: order } }] },
      );
    },
    {
      operation: "create-order",
      store: new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE }),
      scope: "public",
    },
  );
}

const createOrder = creating((order) => order);

export const handler = async (...call: Parameters<typeof createOrder>) => {
  const answer = await createOrder(...call);
  return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), receipt: randomUUID() }) };
};

export const mended = creating((order) => ({ ...order, receipt: randomUUID() }));
