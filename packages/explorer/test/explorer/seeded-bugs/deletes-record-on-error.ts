// An idempotency layer of its own, with a lock and its lease: when the work fails, the lock is deleted. Whether the work
// has failed, or only its answer was lost, it does not know.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, DynamoDBDocumentClient, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { idempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";

interface Invoice {
  readonly id: string;
}

const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const locks = process.env.IDEMPOTENCY_TABLE;
const TableName = process.env.ORDERS_TABLE;

export const handler = async ({ id }: Invoice) => {
  const now = Date.now();
  await database.send(
    new PutCommand({
      TableName: locks,
      Item: { pk: id, endsAt: now + 120_000 },
      ConditionExpression: "attribute_not_exists(pk) OR endsAt < :now",
      ExpressionAttributeValues: { ":now": now },
    }),
  );
  try {
    await database.send(new PutCommand({ TableName, Item: { tenant: "acme", id: randomUUID(), of: id } }));
    await database.send(
      new UpdateCommand({
        TableName: locks,
        Key: { pk: id },
        UpdateExpression: "SET endsAt = :never",
        ExpressionAttributeValues: { ":never": Number.MAX_SAFE_INTEGER },
      }),
    );
  } catch (error) {
    await database.send(new DeleteCommand({ TableName: locks, Key: { pk: id } }));
    throw error;
  }
  return { invoiced: id };
};

export const mended = idempotent<unknown, Invoice, DynamoDBWrite>(
  async ({ id }, { idempotency }) =>
    idempotency.commit(
      { invoiced: id },
      { writes: [{ Put: { TableName, Item: { tenant: "acme", id: randomUUID(), of: id } } }] },
    ),
  { operation: "invoice", store: new DynamoDBStore({ tableName: locks }), key: ({ id }) => id },
);
