// The message about an order to be paid. create-order sends it, charge-payment reads it.
import { PermanentError } from "onceonly";

export interface PaymentRequest {
  readonly tenant: string;
  readonly orderId: string;
}

/** @throws PermanentError for a body that isn't such a request: retrying doesn't help. */
export function readPaymentRequest(body: string): PaymentRequest {
  let request: unknown;
  try {
    request = JSON.parse(body);
  } catch (cause) {
    throw new PermanentError("the message is not JSON", { cause });
  }
  const { tenant, orderId } = Object(request) as Partial<Record<keyof PaymentRequest, unknown>>;
  if (typeof tenant !== "string" || tenant === "" || typeof orderId !== "string" || orderId === "") {
    throw new PermanentError("the message must name a tenant and an orderId");
  }
  return { tenant, orderId };
}
