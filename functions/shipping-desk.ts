// A saga's calls to the payment gateway, other than a charge, and to its carrier.
import { httpLookup } from "onceonly/reconciler";
import type { Order } from "./order.ts";
import { charge, GATEWAY_TOKEN, GATEWAY_URL, post } from "./payment-gateway.ts";

/** Refused for good: nothing happened. */
export class Declined extends Error {}

/** @throws Declined, and Error if the outcome is unknown, like `charge` */
export async function requireCharge(order: Order, idempotencyKey: string, signal: AbortSignal) {
  const verdict = await charge(order, idempotencyKey, signal);
  if (verdict.state === "declined") throw new Declined(verdict.reason);
  return { chargeId: verdict.chargeId };
}

/** Asks the gateway whether it has a charge whose response was lost. */
export const findCharge = httpLookup({
  url: ({ childKey }) => `${GATEWAY_URL}/charges?key=${childKey("place-order/charge")}`,
  headers: () => ({ authorization: `Bearer ${GATEWAY_TOKEN}` }),
  found: (body) => (body as { charges: { chargeId: string }[] }).charges[0],
});

/** Refunds a charge, once. A key without a charge has nothing to refund. */
export async function refund(chargeKey: string, idempotencyKey: string, signal: AbortSignal): Promise<void> {
  await accepted(await post("/refunds", { chargeKey }, idempotencyKey, signal), "refunded");
}

/** @throws Declined if the carrier doesn't accept the article, and Error without a response */
export async function ship({ id, sku }: Order, idempotencyKey: string, signal: AbortSignal): Promise<void> {
  await accepted(await post("/shipments", { orderId: id, sku }, idempotencyKey, signal), "shipped");
}

/** @param done the field that says so: an error may come with 201 too */
async function accepted(response: Response, done: "refunded" | "shipped"): Promise<void> {
  const text = await response.text();
  if (response.status === 422) throw new Declined("it does not take that");
  if (response.status !== 201) throw new Error(`the payment gateway answered ${response.status}`);
  if (JSON.parse(text)[done] !== true) throw new Error(`the payment gateway answered 201, but not ${done}`);
}
