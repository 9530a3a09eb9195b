// A consumer of a FIFO queue goes on behind a failed record, and returns that record alone. The record comes again after
// those that were sent later.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSEvent, SQSRecord } from "aws-lambda";

const database = DynamoDBDocumentClient.from(new DynamoDBClient());

async function setState({ body }: SQSRecord) {
  const { orderId, state } = JSON.parse(body);
  await database.send(
    new UpdateCommand({
      TableName: process.env.ORDERS_TABLE,
      Key: { tenant: "acme", id: orderId },
      UpdateExpression: "SET #state = :state",
      ExpressionAttributeNames: { "#state": "state" },
      ExpressionAttributeValues: { ":state": state },
    }),
  );
}

const failuresOf = (records: readonly SQSRecord[]) => ({
  batchItemFailures: records.map(({ messageId }) => ({ itemIdentifier: messageId })),
});

export const handler = async ({ Records }: SQSEvent) => {
  const failed: SQSRecord[] = [];
  for (const record of Records) await setState(record).catch(() => failed.push(record));
  return failuresOf(failed);
};

export const mended = async ({ Records }: SQSEvent) => {
  for (const [index, record] of Records.entries()) {
    try {
      await setState(record);
    } catch {
      return failuresOf(Records.slice(index));
    }
  }
  return failuresOf([]);
};
