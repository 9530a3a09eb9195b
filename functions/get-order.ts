// GET /orders/{id}: one order of the caller's tenant. Another tenant's order is not found, whatever its id.
import type {
  APIGatewayProxyEventV2WithLambdaAuthorizer,
  APIGatewayProxyStructuredResultV2,
} from "aws-lambda";
import { orderView } from "./order.ts";
import { findOrder } from "./order-table.ts";
import { json } from "./response.ts";

export const handler = async (
  event: APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const { tenant } = event.requestContext.authorizer.lambda;
  const order = await findOrder(tenant, event.pathParameters?.id ?? "");
  return order ? json(200, orderView(order)) : json(404, { message: "no such order" });
};
