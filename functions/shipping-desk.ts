// What a saga asks of the payment gateway besides a charge, and of its carrier.
import { httpLookup } from "onceonly/reconciler";
import type { Order } from "./order.ts";
import { charge, GATEWAY_TOKEN, GATEWAY_URL, post } from "./payment-gateway.ts";

/** Refused for good: nothing happened. */
export class Declined extends Error {}

/** @throws Declined, and Error without a verdict, as `charge` */
export async function requireCharge(order: Order, idempotencyKey: string, signal: AbortSignal) {
  const verdict = await charge(order, idempotencyKey, signal);
  if (verdict.state === "declined") throw new Declined(verdict.reason);
  return { chargeId: verdict.chargeId };
}

/** Asks the gateway whether a charge is there that nobody knows about. */
export const findCharge = httpLookup({
  url: ({ childKey }) => `${GATEWAY_URL}/charges?key=${childKey("place-order/charge")}`,
  headers: () => ({ authorization: `Bearer ${GATEWAY_TOKEN}` }),
  found: (body) => (body as { charges: { chargeId: string }[] }).charges[0],
});

/** Gives the money of a charge back, once. A key without a charge has none to give back. */
export async function refund(chargeKey: string, idempotencyKey: string, signal: AbortSignal): Promise<void> {
  await accepted(await post("/refunds", { chargeKey }, idempotencyKey, signal));
}

/** @throws Declined where the carrier does not take the article, and Error without an answer */
export async function ship({ id, sku }: Order, idempotencyKey: string, signal: AbortSignal): Promise<void> {
  await accepted(await post("/shipments", { orderId: id, sku }, idempotencyKey, signal));
}

async function accepted(response: Response): Promise<void> {
  await response.text();
  if (response.status === 422) throw new Declined("it does not take that");
  if (response.status !== 201) throw new Error(`the payment gateway answered ${response.status}`);
}
