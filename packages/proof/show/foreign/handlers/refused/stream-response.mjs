import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = awslambda.streamifyResponse(async (event, responseStream) => {
  const { questionId, text } = JSON.parse(event.body);
  responseStream.write("thinking… ");
  await db.send(new PutCommand({ TableName: process.env.QUESTIONS_TABLE, Item: { questionId, text } }));
  responseStream.end("saved");
});
