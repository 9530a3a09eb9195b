// POST /orders: the handler under test.
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from "aws-lambda";
import { callerFromJwt, httpIdempotent, readBody } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";

const { ORDERS_TABLE, IDEMPOTENCY_TABLE } = process.env;

export const handler = httpIdempotent(
  async (event: APIGatewayProxyEventV2WithJWTAuthorizer, { idempotency }) => {
    const order = {
      id: crypto.randomUUID(),
      customer: idempotency.scope,
      items: JSON.parse(readBody(event)),
    };
    return idempotency.commit(
      { statusCode: 201, body: JSON.stringify(order) },
      { writes: [{ Put: { TableName: ORDERS_TABLE, Item: order } }] },
    );
  },
  {
    operation: "create-order",
    store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE }),
    scope: callerFromJwt(),
  },
);
