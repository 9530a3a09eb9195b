import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

const save = async (item) => {
  try {
    await db.send(new PutCommand({ TableName: process.env.FEEDBACK_TABLE, Item: item }));
  } catch (err) {
    console.error("could not save feedback", err);
  }
};

export const handler = async (event) => {
  const { feedbackId, text } = JSON.parse(event.body);
  await save({ feedbackId, text });
  return { statusCode: 200, body: JSON.stringify({ message: "thank you" }) };
};
