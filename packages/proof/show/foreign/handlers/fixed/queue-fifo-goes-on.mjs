import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

async function applyStatus({ body }) {
  const { shipmentId, status, version } = JSON.parse(body);
  await db.send(
    new UpdateCommand({
      TableName: process.env.SHIPMENTS_TABLE,
      Key: { shipmentId },
      UpdateExpression: "SET #status = :status, version = :version",
      // A late or repeated message must not undo a newer one.
      ConditionExpression: "attribute_not_exists(version) OR version <= :version",
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: { ":status": status, ":version": version },
    }),
  );
}

export const handler = async ({ Records }) => {
  for (const [index, record] of Records.entries()) {
    try {
      await applyStatus(record);
    } catch (error) {
      if (error.name === "ConditionalCheckFailedException") continue;
      // Everything from here on comes again, so nothing overtakes.
      return {
        batchItemFailures: Records.slice(index).map(({ messageId }) => ({ itemIdentifier: messageId })),
      };
    }
  }
  return { batchItemFailures: [] };
};
