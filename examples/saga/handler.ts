// POST /orders: stock is reserved, the card is charged and the parcel is booked; or everything is undone.
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from "aws-lambda";
import { callerFromJwt, httpIdempotent, readBody, type SagaStepContext, saga } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { charge, findCharge, Refused, refund, reserve, ship } from "./systems.ts";

type Step = SagaStepContext<{ sku: string; cents: number }, DynamoDBWrite>;
const isRefusal = (error: unknown) => error instanceof Refused;
/** Without an answer the saga stays where it is, and a retry goes on under the same key. */
const retryLater = (error: unknown) => !isRefusal(error);

const placeOrder = saga("place-order", [
  {
    name: "stock",
    run: ({ input, commit }: Step) => commit("reserved", { writes: [reserve(input.sku, 1)] }),
    // Without a result nothing was reserved, so there is nothing to release.
    compensate: ({ input, result, commit }) =>
      result && commit("released", { writes: [reserve(input.sku, -1)] }),
  },
  {
    name: "charge",
    run: ({ input, childKey, signal }) => charge(input.cents, childKey(), signal),
    // A charge without an answer isn't repeated: the provider is asked first.
    ...{ verify: findCharge, didNotHappen: isRefusal, retryLater },
    compensate: ({ stepKey, childKey, signal }) => refund(stepKey(), childKey(), signal),
  },
  { name: "ship", run: ({ input, childKey, signal }) => ship(input.sku, childKey(), signal), retryLater },
]);

export const handler = httpIdempotent(
  async (event: APIGatewayProxyEventV2WithJWTAuthorizer, { idempotency }) => {
    const { sku, cents } = JSON.parse(readBody(event));
    if (typeof sku !== "string" || !Number.isInteger(cents))
      return { statusCode: 400, body: "what, for how much?" };
    const results = await placeOrder.run(idempotency, { sku, cents });
    const body = JSON.stringify({ charge: results.charge.id, shipment: results.ship.id });
    return { statusCode: 201, body };
  },
  {
    operation: "place-order",
    store: new DynamoDBStore({ tableName: process.env.IDEMPOTENCY_TABLE }),
    scope: callerFromJwt(),
    steps: placeOrder.steps,
  },
);
