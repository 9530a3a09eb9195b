import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";

const client = new DynamoDBClient({});

export const handler = async (event) => {
  for (const { eventName, dynamodb } of event.Records) {
    if (eventName !== "INSERT") continue;
    const { productId, stars } = unmarshall(dynamodb.NewImage);
    await client.send(
      new UpdateItemCommand({
        TableName: process.env.RATINGS_TABLE,
        Key: { productId: { S: productId } },
        UpdateExpression: "ADD reviews :one, stars :stars",
        ExpressionAttributeValues: { ":one": { N: "1" }, ":stars": { N: String(stars) } },
      }),
    );
  }
};
