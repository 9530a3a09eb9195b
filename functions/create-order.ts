// POST /orders: one order per idempotency key, however often the client sends the request. The order, its record and
// the payment message commit in one transaction, so no crash leaves one without the others.
import middy from "@middy/core";
import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from "aws-lambda";
import { callerFromAuthorizer, emfMetrics, httpIdempotency } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { newOrder, orderView, readOrderRequest } from "./order.ts";
import { json } from "./response.ts";

type OrderEvent = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

const { ORDERS_TABLE, PAYMENTS_QUEUE_URL, IDEMPOTENCY_TABLE, IDEMPOTENCY_OUTBOX, METRICS_SERVICE } =
  process.env;

export const handler = middy<OrderEvent>()
  .use(
    httpIdempotency({
      operation: "create-order",
      store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE, outbox: IDEMPOTENCY_OUTBOX }),
      scope: callerFromAuthorizer("tenant"),
      observe: emfMetrics({ service: METRICS_SERVICE }),
    }),
  )
  .handler(async (event, context) => {
    const request = readOrderRequest(event);
    if ("problem" in request) return json(400, { message: request.problem });

    const { tenant } = event.requestContext.authorizer.lambda;
    const order = newOrder(request, tenant, context.idempotency.key);
    const { id } = order;
    const response = json(201, orderView(order), { location: `/orders/${id}` });
    return context.idempotency.commit(response, {
      writes: [{ Put: { TableName: ORDERS_TABLE, Item: { ...order } } }],
      messages: [{ queue: PAYMENTS_QUEUE_URL, key: id, group: id, body: { tenant, orderId: id } }],
    });
  });
