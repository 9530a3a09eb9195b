import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

const processRecord = async ({ messageId, body }) => {
  const { customer, text } = JSON.parse(body);
  await db.send(
    new PutCommand({ TableName: process.env.NOTIFICATIONS_TABLE, Item: { messageId, customer, text } }),
  );
};

export const handler = async (event) => {
  const batchItemFailures = [];
  for (const record of event.Records) {
    try {
      await processRecord(record);
    } catch (error) {
      console.error(record.messageId, error);
      batchItemFailures.push({ itemIdentifier: record.messageId });
    }
  }
  return { batchItemFailures };
};
