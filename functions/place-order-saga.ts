// POST /shipped-orders: an order that is placed, charged and shipped, or none that is not undone. One saga over this
// shop's tables and two systems of others. create-order and charge-payment do it by messages.
import middy from "@middy/core";
import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from "aws-lambda";
import { callerFromAuthorizer, emfMetrics, httpIdempotency, type SagaStepContext, saga } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { newOrder, type Order, orderView, readOrderRequest } from "./order.ts";
import { json } from "./response.ts";
import { Declined, findCharge, refund, requireCharge, ship } from "./shipping-desk.ts";

type OrderEvent = APIGatewayProxyEventV2WithLambdaAuthorizer<{ tenant: string }>;

const { ORDERS_TABLE, STOCK_TABLE, IDEMPOTENCY_TABLE, METRICS_SERVICE } = process.env;

/** How many pieces of each article are there. */
const PIECES = 1_000_000;

/** Only a refusal turns the saga back. Without an answer a retry asks again, under the same key. */
const retryLater = (error: unknown) => !(error instanceof Declined);

const placeOrder = saga("place-order", [
  {
    name: "order",
    run: ({ input, commit }: SagaStepContext<Order, DynamoDBWrite>) =>
      commit("created", {
        writes: [
          {
            Put: {
              TableName: ORDERS_TABLE,
              Item: { ...input },
              ConditionExpression: "attribute_not_exists(id)",
            },
          },
        ],
      }),
    compensate: ({ input, result, commit }) =>
      result && commit("canceled", { writes: [stateOf(input, "canceled")] }),
  },
  {
    name: "stock",
    run: ({ input, commit }) => commit(input.quantity, { writes: [reservation(input, input.quantity)] }),
    compensate: ({ input, result, commit }) =>
      result && commit("released", { writes: [reservation(input, -input.quantity)] }),
  },
  {
    name: "charge",
    run: ({ input, childKey, signal }) => requireCharge(input, childKey(), signal),
    // Charged, the answer lost, and killed: the gateway is asked before anybody charges again.
    atMostOnce: true,
    verify: findCharge,
    didNotHappen: (error) => error instanceof Declined,
    retryLater,
    compensate: ({ stepKey, childKey, signal }) => refund(stepKey(), childKey(), signal),
  },
  {
    name: "ship",
    retryLater,
    run: ({ input, childKey, signal }) => ship(input, childKey(), signal),
  },
]);

export const handler = middy<OrderEvent>()
  .use(
    httpIdempotency({
      operation: "place-order",
      store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE }),
      scope: callerFromAuthorizer("tenant"),
      steps: ["input", ...placeOrder.steps],
      observe: emfMetrics({ service: METRICS_SERVICE }),
    }),
  )
  .handler(async (event, { idempotency }) => {
    const request = readOrderRequest(event);
    if ("problem" in request) return json(400, { message: request.problem });

    const { tenant } = event.requestContext.authorizer.lambda;
    // Its id is random, so each attempt has to see the same one.
    const order = await idempotency.step("input", () => newOrder(request, tenant, idempotency.key));
    await placeOrder.run(idempotency, order);
    const response = json(201, orderView({ ...order, state: "paid" }), { location: `/orders/${order.id}` });
    return idempotency.commit(response, { writes: [stateOf(order, "paid")] });
  });

function stateOf({ tenant, id }: Order, state: Order["state"]): DynamoDBWrite {
  return {
    Update: {
      TableName: ORDERS_TABLE,
      Key: { tenant, id },
      UpdateExpression: "SET #state = :state",
      ConditionExpression: "#state = :created",
      ExpressionAttributeNames: { "#state": "state" },
      ExpressionAttributeValues: { ":state": state, ":created": "created" },
    },
  };
}

function reservation({ sku }: Order, pieces: number): DynamoDBWrite {
  return {
    Update: {
      TableName: STOCK_TABLE,
      Key: { sku },
      UpdateExpression: "ADD reserved :pieces",
      ConditionExpression: "attribute_not_exists(reserved) OR reserved <= :most",
      ExpressionAttributeValues: { ":pieces": pieces, ":most": PIECES - Math.max(pieces, 0) },
    },
  };
}
