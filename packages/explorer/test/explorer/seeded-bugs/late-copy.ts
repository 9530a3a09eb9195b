// A commit whose first try is held up on its way is refused by its own condition at the second. The handler answers that
// nothing is ordered, and then the first try arrives.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { httpIdempotent, TransactionConditionError } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const tableName = process.env.IDEMPOTENCY_TABLE;

/** Takes a refusal for certain, although an earlier try may still be under way. */
class HastyStore extends DynamoDBStore {
  override async insert(...request: Parameters<DynamoDBStore["insert"]>) {
    return super.insert(...request).catch((error: TransactionConditionError) => {
      throw Object.assign(error, { mayStillApply: false });
    });
  }
}

const orderingWith = (store: DynamoDBStore) =>
  httpIdempotent<unknown, HttpEvent, DynamoDBWrite>(
    async (_, { idempotency }) => {
      const waiting = { tenant: "acme", id: "waiting" };
      const { Item } = await database.send(new GetCommand({ TableName, Key: waiting, ConsistentRead: true }));
      if (Item) return soldOut;
      try {
        return await idempotency.commit({ statusCode: 201, body: "ordered" }, { writes: [order] });
      } catch (error) {
        if (!(error instanceof TransactionConditionError)) throw error;
        // The supplier delivers for those who wait.
        await database.send(new PutCommand({ TableName, Item: waiting }));
        await database.send(new PutCommand({ TableName, Item: { tenant: "acme", id: "stock" } }));
        return soldOut;
      }
    },
    { operation: "order", store, scope: "public", mode: "optimistic", lookFirst: false },
  );

const soldOut = { statusCode: 422, body: "sold out" };

const order: DynamoDBWrite = {
  Update: {
    TableName,
    Key: { tenant: "acme", id: "stock" },
    UpdateExpression: "SET orders = :one",
    ConditionExpression: "attribute_exists(id)",
    ExpressionAttributeValues: { ":one": 1 },
  },
};

export const handler = orderingWith(new HastyStore({ tableName }));

export const mended = orderingWith(new DynamoDBStore({ tableName }));
