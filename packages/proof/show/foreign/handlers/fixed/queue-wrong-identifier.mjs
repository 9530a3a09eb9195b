import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = async (event) => {
  const results = await Promise.all(
    event.Records.map(async (record) => {
      const invoice = JSON.parse(record.body);
      try {
        await db.send(new PutCommand({ TableName: process.env.INVOICES_TABLE, Item: invoice }));
        return null;
      } catch (error) {
        console.error("failed:", invoice.invoiceId, error);
        return { itemIdentifier: record.messageId };
      }
    }),
  );
  return { batchItemFailures: results.filter((result) => result !== null) };
};
