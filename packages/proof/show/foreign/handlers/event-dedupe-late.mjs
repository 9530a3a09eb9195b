import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { PublishCommand, SNSClient } from "@aws-sdk/client-sns";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const sns = new SNSClient({});
const TableName = process.env.PROCESSED_TABLE;

export const handler = async (event) => {
  const { Item } = await db.send(new GetCommand({ TableName, Key: { eventId: event.id } }));
  if (Item) {
    console.log("duplicate", event.id);
    return;
  }
  await sns.send(
    new PublishCommand({ TopicArn: process.env.ALERTS_TOPIC, Message: JSON.stringify(event.detail) }),
  );
  await db.send(new PutCommand({ TableName, Item: { eventId: event.id } }));
};
