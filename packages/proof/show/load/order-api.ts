// The order service as one of its tenants reads it.
import { DEMO_TOKENS } from "../../../../bin/demo-tokens.ts";
import { TENANTS, type Tenant } from "../demo/tenants.ts";
import type { SeenOrder } from "./service.ts";

export interface OrderId {
  readonly tenant: Tenant;
  readonly id: string;
  /** The key of the request that was answered with this order. */
  readonly key: string;
}

/** @throws Error for any answer but the order */
export async function readOrder(
  url: string,
  wanted: OrderId,
  signal: AbortSignal,
): Promise<SeenOrder | undefined> {
  const { tenant, id, key } = wanted;
  const response = await get(url, wanted, signal);
  if (response.status === 404) return undefined;
  if (response.status !== 200)
    throw new Error(`GET /orders/{id} was answered with status ${response.status}`);
  const { sku, quantity, totalCents, state } = (await response.json()) as SeenOrder;
  return { tenant, id, idempotencyKey: key, sku, quantity, totalCents, state };
}

/** @throws Error that says what to do if nothing listens, or if it isn't the sample */
export async function checkSample(url: string, signal: AbortSignal): Promise<void> {
  for (const tenant of TENANTS) {
    const response = await get(url, { tenant, id: "none" }, signal).catch(() => {
      signal.throwIfAborted();
      throw new Error(`no answer from ${url}: start the sample with npm start, and give the URL of its Api`);
    });
    if (response.status === 404 && (await response.text()).includes("no such order")) continue;
    throw new Error(
      `GET ${url}/orders/none was answered with status ${response.status}: give the URL of the sample's Api`,
    );
  }
}

function get(url: string, { tenant, id }: Omit<OrderId, "key">, signal: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${DEMO_TOKENS[tenant]}` };
  // A redirect leads away from the given target.
  return fetch(`${url}/orders/${encodeURIComponent(id)}`, { headers, redirect: "error", signal });
}
