import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

async function applyStatus({ body }) {
  const { shipmentId, status } = JSON.parse(body);
  await db.send(
    new UpdateCommand({
      TableName: process.env.SHIPMENTS_TABLE,
      Key: { shipmentId },
      UpdateExpression: "SET #status = :status",
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: { ":status": status },
    }),
  );
}

export const handler = async ({ Records }) => {
  const batchItemFailures = [];
  for (const record of Records) {
    await applyStatus(record).catch(() => batchItemFailures.push({ itemIdentifier: record.messageId }));
  }
  return { batchItemFailures };
};
