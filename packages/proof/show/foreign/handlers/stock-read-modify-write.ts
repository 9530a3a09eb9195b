import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const TableName = process.env.STOCK_TABLE;

export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  const { sku, quantity } = JSON.parse(event.body ?? "{}") as { sku: string; quantity: number };

  const { Item } = await db.send(new GetCommand({ TableName, Key: { sku } }));
  if (!Item || Item.quantity < quantity) {
    return { statusCode: 422, body: JSON.stringify({ message: "not enough in stock" }) };
  }
  await db.send(new PutCommand({ TableName, Item: { ...Item, quantity: Item.quantity - quantity } }));

  return { statusCode: 200, body: JSON.stringify({ sku, taken: quantity }) };
};
