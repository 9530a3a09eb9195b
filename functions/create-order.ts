// POST /orders: one order per idempotency key, however often it is asked for. The order and its record commit in
// one transaction, so that no crash leaves one without the other.
import middy from "@middy/core";
import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from "aws-lambda";
import { callerFromAuthorizer, DynamoDBStore, httpIdempotency } from "onceonly";
import { newOrder, readOrderRequest } from "./order.ts";
import { json } from "./response.ts";

type OrderEvent = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

const ORDERS_TABLE = process.env.ORDERS_TABLE;
const store = new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE });

export const handler = middy<OrderEvent>()
  .use(httpIdempotency({ operation: "create-order", store, scope: callerFromAuthorizer("tenant") }))
  .handler(async (event, context) => {
    const request = readOrderRequest(event);
    if ("problem" in request) return json(400, { message: request.problem });

    const { tenant } = event.requestContext.authorizer.lambda;
    const order = newOrder(request, tenant, context.idempotency.key);
    const { id, sku, quantity, createdAt } = order;
    const response = json(201, { id, sku, quantity, createdAt }, { location: `/orders/${id}` });
    return context.idempotency.commit(response, {
      writes: [{ Put: { TableName: ORDERS_TABLE, Item: { ...order } } }],
    });
  });
