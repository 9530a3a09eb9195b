import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export async function handler(event) {
  const order = JSON.parse(event.body);
  try {
    await db.send(
      new PutCommand({
        TableName: process.env.ORDERS_TABLE,
        Item: order,
        ConditionExpression: "attribute_not_exists(orderId)",
      }),
    );
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) {
      return { statusCode: 409, body: JSON.stringify({ message: `order ${order.orderId} exists` }) };
    }
    throw error;
  }
  return { statusCode: 201, body: JSON.stringify(order) };
}
