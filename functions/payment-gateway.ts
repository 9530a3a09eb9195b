// The client of the payment gateway: asks it for one charge over HTTP.
import type { Order } from "./order.ts";

export const GATEWAY_URL = process.env.GATEWAY_URL;
export const GATEWAY_TOKEN = process.env.GATEWAY_TOKEN;
const TIMEOUT_MS = 4000;

/** The gateway's final decision: a repeated call under the same key gets the same decision. */
export type Verdict =
  | { readonly state: "paid"; readonly chargeId: string }
  | { readonly state: "declined"; readonly reason: string };

/**
 * Charges an order's card.
 * @throws Error if the outcome is unknown, such as after a timeout or a status of 500. The card may have been charged
 * anyway, so call again under the same key.
 */
export async function charge(order: Order, idempotencyKey: string, signal: AbortSignal): Promise<Verdict> {
  const body = { orderId: order.id, amountCents: order.totalCents, card: order.card };
  const response = await post("/charges", body, idempotencyKey, signal);
  if (response.status === 201) {
    const { chargeId } = (await response.json()) as { chargeId?: string };
    // An error may come with 201 too: without a charge it's no verdict.
    if (!chargeId) throw new Error("the payment gateway answered 201 without a charge");
    return { state: "paid", chargeId };
  }
  if (response.status === 402) {
    const { reason } = (await response.json()) as { reason: string };
    return { state: "declined", reason };
  }
  await response.body?.cancel();
  throw new Error(`the payment gateway answered ${response.status}`);
}

/** Asks the gateway under a key. */
export function post(path: string, body: object, key: string, signal: AbortSignal): Promise<Response> {
  return fetch(`${GATEWAY_URL}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${GATEWAY_TOKEN}`,
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body: JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
}
