// GET /orders/{id}: one order of the caller's tenant. Another tenant's order is not found, whatever its id.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import type {
  APIGatewayProxyEventV2WithLambdaAuthorizer,
  APIGatewayProxyStructuredResultV2,
} from "aws-lambda";
import { json } from "./response.ts";

const TableName = process.env.ORDERS_TABLE;
const orders = DynamoDBDocumentClient.from(new DynamoDBClient());

export const handler = async (
  event: APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const { tenant } = event.requestContext.authorizer.lambda;
  const id = event.pathParameters?.id;
  const { Item: order } = await orders.send(
    new GetCommand({ TableName, Key: { tenant, id }, ConsistentRead: true }),
  );
  if (!order) return json(404, { message: "no such order" });
  const { sku, quantity, createdAt } = order;
  return json(200, { id, sku, quantity, createdAt });
};
