import { ConditionalCheckFailedException, DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { Context, EventBridgeEvent } from "aws-lambda";

const dynamodb = new DynamoDBClient({});

interface Signup {
  userId: string;
}

export const handler = async (event: EventBridgeEvent<"SignedUp", Signup>, context: Context) => {
  try {
    await dynamodb.send(
      new PutItemCommand({
        TableName: process.env.CREDITS_TABLE,
        Item: {
          creditId: { S: context.awsRequestId },
          userId: { S: event.detail.userId },
          euros: { N: "5" },
        },
        ConditionExpression: "attribute_not_exists(creditId)",
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    console.log("a retry of", context.awsRequestId);
  }
};
