// Identifies each planned order: by the id that the service gives it, and by its records' keys.
import type { DynamoDBStreamEvent } from "aws-lambda";
import { identify, PUBLIC_SCOPE } from "../../../../lib/core/identity.ts";
import type { Plan, PlannedOrder } from "./plan.ts";
import type { NewOrder } from "./request-reading.ts";
import { nameOf } from "./seen.ts";

export interface OrderBook {
  /** @returns the planned order, if it is one and has not had this id yet */
  enter(order: NewOrder): PlannedOrder | undefined;
  /** Knows an order by each id that the service ever meant to give it. */
  find(orderId: string): PlannedOrder | undefined;
}

export function createOrderBook({ orders }: Pick<Plan, "orders">): OrderBook {
  const byName = new Map(orders.map((order) => [nameOf(order), order]));
  const byId = new Map<string, PlannedOrder>();
  return {
    enter({ id, ...named }) {
      const order = byName.get(nameOf(named));
      if (!order || byId.has(id)) return undefined;
      byId.set(id, order);
      return order;
    },
    find: (orderId) => byId.get(orderId),
  };
}

/** The operations of functions/create-order.ts, charge-payment.ts and place-order-saga.ts, and the demo's own. */
export const OPERATIONS = {
  order: "create-order",
  payment: "charge-payment",
  receipt: "send-receipt",
  saga: "place-order",
} as const;

export function orderRecordKey({ tenant, key }: Pick<NewOrder, "tenant" | "key">): string {
  return identify(OPERATIONS.order, tenant, key).recordKey;
}

export function paymentRecordKey(orderId: string): string {
  return identify(OPERATIONS.payment, PUBLIC_SCOPE, orderId).recordKey;
}

/** Whether a batch of the stream has a change of this record. */
export function bringsRecord({ Records }: DynamoDBStreamEvent, recordKey: string): boolean {
  return Records.some(({ dynamodb }) => dynamodb?.Keys?.pk?.S === recordKey);
}
