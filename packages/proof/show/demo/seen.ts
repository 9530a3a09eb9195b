// A run's observations, one by one: answers, rows, and entries in the gateway's ledger.
import type { OrderBody } from "./order-plan.ts";
import type { Tenant } from "./tenants.ts";

/** An HTTP response that reached a client. */
export interface Answer {
  readonly tenant: Tenant;
  readonly key: string;
  /** Whether the request carried the order's own body, or another one under the same key. */
  readonly asked: "order" | "other-body";
  readonly status: number;
  readonly replayed: boolean;
  readonly location: string | null;
  readonly body: string;
}

/** The client's final result: the status of its final answer, or why it got none. */
export interface Ending {
  readonly tenant: Tenant;
  readonly key: string;
  readonly asked: Answer["asked"];
  readonly status?: number | undefined;
  readonly failure?: string | undefined;
}

/** A row of the orders table. */
export interface OrderRow extends OrderBody {
  readonly tenant: string;
  readonly id: string;
  readonly totalCents: number;
  readonly state: string;
  readonly idempotencyKey: string;
}

/** A row of the payments table. */
export interface PaymentRow {
  readonly tenant: string;
  readonly orderId: string;
  readonly chargeId: string;
  readonly amountCents: number;
}

/** The gateway's entry under one idempotency key. */
export interface LedgerEntry {
  readonly idempotencyKey: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly attempts: number;
  /** Absent if nothing was charged. */
  readonly chargeId?: string | undefined;
}

/** The results of the commits with a message for a missing queue. */
export interface ReceiptsSeen {
  readonly committed: number;
  /** Commits of which a message was parked. */
  readonly parked: number;
  /** The bodies that arrived: in the queue that they were redirected to, in their own queue once it existed, and in the healthy one. */
  readonly redirected: readonly string[];
  readonly sentAgain: readonly string[];
  readonly copies: readonly string[];
  /** The messages that still wait or are parked. */
  readonly left: number;
}

/** What was still under way at the end. */
export interface Left {
  readonly unsent: number;
  readonly queued: number;
  readonly deadLetters: number;
}

/** Names one key of one tenant. */
export function nameOf({ tenant, key }: { readonly tenant: string; readonly key: string }): string {
  return `${tenant} ${key}`;
}
