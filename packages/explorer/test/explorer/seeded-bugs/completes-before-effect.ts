// An idempotency layer of its own: what has a mark is done. The mark comes before the work.
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";

interface Shipment {
  readonly id: string;
}

const database = DynamoDBDocumentClient.from(new DynamoDBClient());

function markOf({ id }: Shipment) {
  return {
    TableName: process.env.IDEMPOTENCY_TABLE,
    Item: { pk: `shipped#${id}` },
    ConditionExpression: "attribute_not_exists(pk)",
  };
}

function rowOf({ id }: Shipment) {
  return { TableName: process.env.ORDERS_TABLE, Item: { tenant: "acme", id, state: "shipped" } };
}

export const handler = async (event: Shipment) => {
  try {
    await database.send(new PutCommand(markOf(event)));
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { shipped: true };
    throw error;
  }
  await database.send(new PutCommand(rowOf(event)));
  return { shipped: true };
};

export const mended = async (event: Shipment) => {
  try {
    await database.send(
      new TransactWriteCommand({ TransactItems: [{ Put: markOf(event) }, { Put: rowOf(event) }] }),
    );
  } catch (error) {
    const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
    if (reasons[0]?.Code !== "ConditionalCheckFailed") throw error;
  }
  return { shipped: true };
};
