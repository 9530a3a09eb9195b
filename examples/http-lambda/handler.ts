// POST /orders: however often a client retries, there is one order, and every try gets the same answer.
import middy from "@middy/core";
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from "aws-lambda";
import { callerFromJwt, httpIdempotency, readBody } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";

const { ORDERS_TABLE, IDEMPOTENCY_TABLE } = process.env;
const headers = { "content-type": "application/json" };

export const handler = middy<APIGatewayProxyEventV2WithJWTAuthorizer>()
  .use(
    httpIdempotency({
      operation: "create-order",
      store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE }),
      // The API's JWT authorizer has verified this caller. Keys of different callers never meet.
      scope: callerFromJwt(),
    }),
  )
  .handler(async (event, { idempotency }) => {
    const { sku, quantity } = JSON.parse(readBody(event));
    if (typeof sku !== "string" || !Number.isInteger(quantity) || quantity < 1) {
      return {
        statusCode: 400,
        headers,
        body: JSON.stringify({ message: "an order needs a sku and a quantity" }),
      };
    }
    const order = { id: crypto.randomUUID(), customer: idempotency.scope, sku, quantity };
    // One transaction writes the order and the answer: no crash leaves one without the other.
    return idempotency.commit(
      { statusCode: 201, headers, body: JSON.stringify(order) },
      { writes: [{ Put: { TableName: ORDERS_TABLE, Item: order } }] },
    );
  });
