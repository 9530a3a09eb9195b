// Durable function: charges an order, waits while it can still be canceled, and ships it. However often an order is delivered, one
// execution fulfils it, and each of its steps has its effect once.

import { type DurableContext, withDurableExecution } from "@aws/durable-execution-sdk-js";
import { Lambda } from "@aws-sdk/client-lambda";
import { PermanentError, type WithIdempotency } from "onceonly";
import { idempotentDurable, onceStep } from "onceonly/durable";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { findOrder } from "./order-table.ts";
import { charge, type Verdict } from "./payment-gateway.ts";

const { ORDERS_TABLE, SHIPMENTS_TABLE, IDEMPOTENCY_TABLE, COOLING_OFF_SECONDS = "86400" } = process.env;
const store = new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE });

interface Fulfilment {
  readonly tenant: string;
  readonly orderId: string;
}

export const handler = withDurableExecution(
  idempotentDurable(
    async ({ tenant, orderId }: Fulfilment, context: DurableContext & WithIdempotency<DynamoDBWrite>) => {
      const order = await context.step("find", () => findOrder(tenant, orderId));
      if (!order) throw new PermanentError("the order does not exist");

      // The gateway's decision and the order's state are written in one transaction with the step.
      const verdict = await onceStep<Verdict, DynamoDBWrite>(
        context,
        "charge",
        async ({ childKey, signal, commit }) => {
          const decided = await charge(order, childKey(), signal);
          return commit(decided, { writes: [stateOf(tenant, orderId, decided.state)] });
        },
        { store },
      );
      if (verdict.state === "declined") return { state: "declined" };

      await context.wait("cooling off", { seconds: Number(COOLING_OFF_SECONDS) });
      return onceStep<{ state: string }, DynamoDBWrite>(
        context,
        "ship",
        ({ commit }) => {
          const Item = { tenant, orderId, shippedAt: new Date().toISOString() };
          return commit({ state: "shipped" }, { writes: [{ Put: { TableName: SHIPMENTS_TABLE, Item } }] });
        },
        { store },
      );
    },
    {
      operation: "fulfil-order",
      store,
      // Asks whether the execution that holds an order has ended.
      client: new Lambda(),
      key: ({ orderId }) => orderId,
      scope: ({ tenant }) => tenant,
    },
  ),
);

function stateOf(tenant: string, id: string, state: string): DynamoDBWrite {
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
