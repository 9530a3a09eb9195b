import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = async (event) => {
  const { feedbackId, text } = JSON.parse(event.body);
  try {
    await db.send(new PutCommand({ TableName: process.env.FEEDBACK_TABLE, Item: { feedbackId, text } }));
  } catch (err) {
    console.error("could not save feedback", err);
    return { statusCode: 503, body: JSON.stringify({ message: "please try again" }) };
  }
  return { statusCode: 200, body: JSON.stringify({ message: "thank you" }) };
};
