import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";

const client = new DynamoDBClient({});

export const handler = async (event) => {
  for (const record of event.Records) {
    const { id, email } = JSON.parse(record.body);
    await client.send(
      new PutItemCommand({
        TableName: process.env.SUBSCRIBERS_TABLE,
        Item: { id: { S: id }, email: { S: email } },
      }),
    );
    console.log(`subscribed ${id}`);
  }
};
