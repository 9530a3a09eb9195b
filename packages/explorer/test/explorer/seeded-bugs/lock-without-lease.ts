// An idempotency layer of its own: a lock that only who took it opens. When that one dies, it stays shut.
import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { httpIdempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const locks = process.env.IDEMPOTENCY_TABLE;
const TableName = process.env.ORDERS_TABLE;
const created = { statusCode: 201 };

export const handler = async (event: HttpEvent) => {
  const pk = event.headers["idempotency-key"];
  try {
    await database.send(
      new PutCommand({
        TableName: locks,
        Item: { pk, state: "started" },
        ConditionExpression: "attribute_not_exists(pk)",
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    const { Item } = await database.send(
      new GetCommand({ TableName: locks, Key: { pk }, ConsistentRead: true }),
    );
    return Item?.state === "done" ? created : { statusCode: 409, headers: { "Retry-After": "5" } };
  }
  await database.send(new PutCommand({ TableName, Item: { tenant: "acme", id: pk } }));
  await database.send(new PutCommand({ TableName: locks, Item: { pk, state: "done" } }));
  return created;
};

export const mended = httpIdempotent<unknown, HttpEvent, DynamoDBWrite>(
  async (_event, { idempotency }) =>
    idempotency.commit(created, {
      writes: [{ Put: { TableName, Item: { tenant: "acme", id: idempotency.key } } }],
    }),
  { operation: "create-order", store: new DynamoDBStore({ tableName: locks }), scope: "public" },
);
