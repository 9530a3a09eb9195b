// The type of an order, and how an order is read from a request. Shared by the functions of the sample.
import { randomUUID } from "node:crypto";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { jsonBody } from "./json-body.ts";

const MAX_SKU_LENGTH = 64;
const MAX_QUANTITY = 1000;
const DEFAULT_CARD = "card_ok";
/** Everything in this shop costs the same. */
const PIECE_CENTS = 250;

/** What a client orders. */
export interface OrderRequest {
  readonly sku: string;
  readonly quantity: number;
  /** The payment gateway's name of the customer's card; the sandbox's names are in sandbox-gateway.ts. */
  readonly card: string;
}

/** A row of the orders table, under the key (tenant, id). */
export interface Order extends OrderRequest {
  readonly tenant: string;
  readonly id: string;
  readonly totalCents: number;
  /** `created` until its payment is settled; `canceled` if its saga was compensated. */
  readonly state: "created" | "paid" | "declined" | "canceled";
  readonly idempotencyKey: string;
  readonly createdAt: string;
}

/** The order in a request's JSON body, or what is wrong with it. */
export function readOrderRequest(event: APIGatewayProxyEventV2): OrderRequest | { readonly problem: string } {
  const body = jsonBody(event);
  if (typeof body !== "object" || body === null) return { problem: "the body must be a JSON object" };
  const { sku, quantity, card = DEFAULT_CARD } = body as Partial<Record<keyof OrderRequest, unknown>>;
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
  if (typeof card !== "string" || !/^card_[a-z_]{1,40}$/.test(card)) {
    return { problem: `card must be the name of a card, such as ${DEFAULT_CARD}` };
  }
  return { sku, quantity, card };
}

/** A new order. Its id is random, so a second run would show as a second row. */
export function newOrder(request: OrderRequest, tenant: string, idempotencyKey: string): Order {
  return {
    tenant,
    id: randomUUID(),
    ...request,
    totalCents: request.quantity * PIECE_CENTS,
    state: "created",
    idempotencyKey,
    createdAt: new Date().toISOString(),
  };
}

/** The order as clients see it. */
export function orderView({ id, sku, quantity, totalCents, state, createdAt }: Order) {
  return { id, sku, quantity, totalCents, state, createdAt };
}
