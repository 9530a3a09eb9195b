// What an order is, and how one is read from a request. Shared by the functions of the sample.
import { randomUUID } from "node:crypto";
import type { APIGatewayProxyEventV2 } from "aws-lambda";

const MAX_SKU_LENGTH = 64;
const MAX_QUANTITY = 1000;

/** What a client asks for. */
export interface OrderRequest {
  readonly sku: string;
  readonly quantity: number;
}

/** A row of the orders table, under the key (tenant, id). */
export interface Order extends OrderRequest {
  readonly tenant: string;
  readonly id: string;
  readonly idempotencyKey: string;
  readonly createdAt: string;
}

/** The order of a request's JSON body, or what is wrong with it. */
export function readOrderRequest(event: APIGatewayProxyEventV2): OrderRequest | { readonly problem: string } {
  const body = jsonBody(event);
  if (typeof body !== "object" || body === null) return { problem: "the body must be a JSON object" };
  const { sku, quantity } = body as Partial<Record<keyof OrderRequest, unknown>>;
  if (typeof sku !== "string" || sku === "" || sku.length > MAX_SKU_LENGTH) {
    return { problem: `sku must be a string of 1 to ${MAX_SKU_LENGTH} characters` };
  }
  if (
    typeof quantity !== "number" ||
    !Number.isInteger(quantity) ||
    quantity < 1 ||
    quantity > MAX_QUANTITY
  ) {
    return { problem: `quantity must be a whole number from 1 to ${MAX_QUANTITY}` };
  }
  return { sku, quantity };
}

/** A new order. Its id is random, so that running twice would show as a second row. */
export function newOrder(request: OrderRequest, tenant: string, idempotencyKey: string): Order {
  return { tenant, id: randomUUID(), ...request, idempotencyKey, createdAt: new Date().toISOString() };
}

function jsonBody(event: APIGatewayProxyEventV2): unknown {
  const text = event.isBase64Encoded
    ? Buffer.from(event.body ?? "", "base64").toString()
    : (event.body ?? "");
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
