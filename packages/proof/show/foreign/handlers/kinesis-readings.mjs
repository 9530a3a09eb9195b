import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const table = process.env.READINGS_TABLE;

export const handler = async (event) => {
  const requests = event.Records.map(({ kinesis }) => {
    const reading = JSON.parse(Buffer.from(kinesis.data, "base64").toString("utf8"));
    return { PutRequest: { Item: { ...reading, sequence: kinesis.sequenceNumber } } };
  });
  await db.send(new BatchWriteCommand({ RequestItems: { [table]: requests } }));
};
