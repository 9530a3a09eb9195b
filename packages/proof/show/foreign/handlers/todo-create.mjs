import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";

const documentClient = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = async (event) => {
  console.log("event:", JSON.stringify(event));
  const { title } = JSON.parse(event.body);
  const todo = { id: randomUUID(), title, done: false, createdAt: Date.now() };

  await documentClient.send(new PutCommand({ TableName: process.env.TODO_TABLE, Item: todo }));

  return { statusCode: 201, body: JSON.stringify(todo) };
};
