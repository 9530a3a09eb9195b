// POST /fulfilled-orders: starts one execution of fulfil-order per idempotency key. The order is paid and shipped later, so the
// answer is 202 with the execution's name.
import { Lambda } from "@aws-sdk/client-lambda";
import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from "aws-lambda";
import { callerFromAuthorizer, type LambdaContext } from "onceonly";
import { startOnce } from "onceonly/durable";
import type { Fulfilment } from "./fulfil-order.ts";
import { type OrderRequest, readOrderRequest } from "./order.ts";
import { json } from "./response.ts";

type OrderEvent = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

const start = startOnce<OrderEvent>({
  operation: "fulfil-order",
  client: new Lambda(),
  functionName: process.env.DURABLE_FUNCTION,
  scope: callerFromAuthorizer("tenant"),
  payload: (event, key): Fulfilment => ({
    tenant: event.requestContext.authorizer.lambda.tenant,
    key,
    request: readOrderRequest(event) as OrderRequest,
  }),
});

export const handler = async (event: OrderEvent, context: LambdaContext) => {
  const request = readOrderRequest(event);
  return "problem" in request ? json(400, { message: request.problem }) : start(event, context);
};
