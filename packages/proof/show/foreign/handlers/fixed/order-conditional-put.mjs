import { isDeepStrictEqual } from "node:util";
import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export async function handler(event) {
  const order = JSON.parse(event.body);
  try {
    await db.send(
      new PutCommand({
        TableName: process.env.ORDERS_TABLE,
        Item: order,
        ConditionExpression: "attribute_not_exists(orderId)",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    // The same order again is a retry, and gets the first answer. Another order under this id is a conflict.
    if (!isDeepStrictEqual(unmarshall(error.Item), order)) {
      return { statusCode: 422, body: JSON.stringify({ message: `order ${order.orderId} is another one` }) };
    }
  }
  return { statusCode: 201, body: JSON.stringify(order) };
}
