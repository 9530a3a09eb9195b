// POST /orders: the order, the answer and the message that has it paid are one transaction. `OutboxRelay` sends the message.
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from "aws-lambda";
import { callerFromJwt, httpIdempotent, readBody } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";

const { ORDERS_TABLE, PAYMENTS_QUEUE_URL, IDEMPOTENCY_TABLE, IDEMPOTENCY_OUTBOX } = process.env;
const headers = { "content-type": "application/json" };

export const handler = httpIdempotent(
  async (event: APIGatewayProxyEventV2WithJWTAuthorizer, { idempotency }) => {
    const { cents } = JSON.parse(readBody(event));
    if (!Number.isInteger(cents) || cents < 1) {
      return { statusCode: 400, headers, body: JSON.stringify({ message: "an order needs its cents" }) };
    }
    const id = crypto.randomUUID();
    const order = { id, customer: idempotency.scope, cents, state: "created" };
    return idempotency.commit(
      { statusCode: 201, headers, body: JSON.stringify(order) },
      {
        writes: [{ Put: { TableName: ORDERS_TABLE, Item: order } }],
        messages: [{ queue: PAYMENTS_QUEUE_URL, key: `${id}/pay`, group: id, body: { orderId: id, cents } }],
      },
    );
  },
  {
    operation: "create-order",
    // With the variable that `UseIdempotency` sets, a table without an outbox refuses the message before it is stored.
    store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE, outbox: IDEMPOTENCY_OUTBOX }),
    scope: callerFromJwt(),
  },
);
