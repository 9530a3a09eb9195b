// A consumer that logs what fails, and reports the whole batch as done.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSEvent } from "aws-lambda";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());

async function store({ Records }: SQSEvent) {
  const failed: { itemIdentifier: string }[] = [];
  for (const { body, messageId } of Records) {
    try {
      await database.send(
        new PutCommand({ TableName, Item: { tenant: "acme", id: JSON.parse(body).orderId } }),
      );
    } catch {
      failed.push({ itemIdentifier: messageId });
    }
  }
  return failed;
}

export const handler = async (event: SQSEvent) => {
  await store(event);
  return { batchItemFailures: [] };
};

export const mended = async (event: SQSEvent) => ({ batchItemFailures: await store(event) });
