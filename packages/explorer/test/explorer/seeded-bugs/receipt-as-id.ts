// A batch that names its failed records by their receipts: Lambda knows none of them, and sends the whole batch again.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSEvent, SQSRecord } from "aws-lambda";

const database = DynamoDBDocumentClient.from(new DynamoDBClient());

function consuming(idOf: (record: SQSRecord) => string) {
  return async ({ Records }: SQSEvent) => {
    const batchItemFailures: { itemIdentifier: string }[] = [];
    for (const record of Records) {
      const Item = { tenant: "acme", id: record.messageId };
      const command = new PutCommand({ TableName: process.env.ORDERS_TABLE, Item });
      await database.send(command).catch(() => batchItemFailures.push({ itemIdentifier: idOf(record) }));
    }
    return { batchItemFailures };
  };
}

export const handler = consuming(({ receiptHandle }) => receiptHandle);

export const mended = consuming(({ messageId }) => messageId);
