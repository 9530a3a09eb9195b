// Durable function: places an order, charges it, waits while it can still be canceled, and ships it. start-fulfilment starts one
// execution per idempotency key, and each of its steps has its effect once.

import { type DurableContext, withDurableExecution } from "@aws/durable-execution-sdk-js";
import { Lambda } from "@aws-sdk/client-lambda";
import { emfMetrics, type WithIdempotency } from "onceonly";
import { idempotentDurable, onceStep } from "onceonly/durable";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { newOrder, type Order, type OrderRequest } from "./order.ts";
import { charge, type Verdict } from "./payment-gateway.ts";

const { ORDERS_TABLE, SHIPMENTS_TABLE, IDEMPOTENCY_TABLE, METRICS_SERVICE } = process.env;
const { COOLING_OFF_SECONDS = "86400" } = process.env;
const store = new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE });
const observe = emfMetrics({ service: METRICS_SERVICE });

/** What start-fulfilment passes on. */
export interface Fulfilment {
  readonly tenant: string;
  /** The caller's idempotency key. */
  readonly key: string;
  readonly request: OrderRequest;
}

type Context = DurableContext & WithIdempotency<DynamoDBWrite>;

export const handler = withDurableExecution(
  idempotentDurable(
    async ({ tenant, key, request }: Fulfilment, context: Context) => {
      // An order's id is random, so the step's record has it: each later attempt gets the same order.
      const order = await onceStep<Order, DynamoDBWrite>(
        context,
        "place",
        ({ commit }) => {
          const placed = newOrder(request, tenant, key);
          return commit(placed, { writes: [{ Put: { TableName: ORDERS_TABLE, Item: { ...placed } } }] });
        },
        { store, observe },
      );

      // The gateway's decision and the order's state are written in one transaction with the step.
      const verdict = await onceStep<Verdict, DynamoDBWrite>(
        context,
        "charge",
        async ({ childKey, signal, commit }) => {
          const decided = await charge(order, childKey(), signal);
          return commit(decided, { writes: [stateOf(order, decided.state)] });
        },
        { store, observe },
      );
      if (verdict.state === "declined") return { orderId: order.id, state: "declined" };

      await context.wait("cooling off", { seconds: Number(COOLING_OFF_SECONDS) });
      await onceStep<unknown, DynamoDBWrite>(
        context,
        "ship",
        ({ commit }) => {
          const Item = { tenant, orderId: order.id, shippedAt: new Date().toISOString() };
          return commit("shipped", { writes: [{ Put: { TableName: SHIPMENTS_TABLE, Item } }] });
        },
        { store, observe },
      );
      return { orderId: order.id, state: "shipped" };
    },
    {
      operation: "fulfil-order",
      store,
      observe,
      // Asks whether the execution that holds a key has ended.
      client: new Lambda(),
      key: ({ key }) => key,
      scope: ({ tenant }) => tenant,
    },
  ),
);

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
