// An optimistic handler finds its own row and answers "is there already". Nobody asks whether another attempt has the
// answer, so that the retry of a call that succeeded is refused.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { httpIdempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { HttpEvent } from "../../../../../test/kit/shop/events.ts";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const tableName = process.env.IDEMPOTENCY_TABLE;

/** Its consistent reads see nothing: as if an attempt that records nothing did not ask. */
class BlindStore extends DynamoDBStore {
  override async find(recordKey: string, read: { consistent: boolean }) {
    return read.consistent ? undefined : super.find(recordKey, read);
  }
}

const openingWith = (store: DynamoDBStore) =>
  httpIdempotent<unknown, HttpEvent, DynamoDBWrite>(
    async (_, { idempotency }) => {
      const Key = { tenant: "acme", id: "account" };
      const { Item } = await database.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
      if (Item) return { statusCode: 422, body: "the account is there already" };
      return idempotency.commit(
        { statusCode: 201, body: "opened" },
        { writes: [{ Put: { TableName, Item: Key, ConditionExpression: "attribute_not_exists(id)" } }] },
      );
    },
    { operation: "open-account", store, scope: "public", mode: "optimistic", lookFirst: false },
  );

export const handler = openingWith(new BlindStore({ tableName }));

export const mended = openingWith(new DynamoDBStore({ tableName }));
