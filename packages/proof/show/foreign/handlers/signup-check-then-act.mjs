import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const TableName = process.env.USERS_TABLE;

export const handler = async (event) => {
  const { email, name } = JSON.parse(event.body);

  const { Items } = await db.send(
    new QueryCommand({
      TableName,
      IndexName: "by-email",
      KeyConditionExpression: "email = :email",
      ExpressionAttributeValues: { ":email": email },
    }),
  );
  if (Items.length === 0) {
    await db.send(new PutCommand({ TableName, Item: { userId: crypto.randomUUID(), email, name } }));
  }
  return { statusCode: 200, body: JSON.stringify({ message: `welcome, ${name}` }) };
};
