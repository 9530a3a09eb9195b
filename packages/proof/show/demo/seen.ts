// What a run of the demo saw, one by one: answers, rows, and entries of the gateway's ledger.
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

/** What a client had in the end: the status of its final answer, or why it got none. */
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

/** What the gateway wrote down under one idempotency key. */
export interface LedgerEntry {
  readonly idempotencyKey: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly attempts: number;
  /** Absent where nothing was charged. */
  readonly chargeId?: string | undefined;
}

/** What became of the commits with a message for a queue that was not there. */
export interface ReceiptsSeen {
  readonly committed: number;
  /** Commits of which a message was parked. */
  readonly parked: number;
  /** The bodies that arrived: where somebody redirected them, in their queue once it was there, and in the healthy one. */
  readonly redirected: readonly string[];
  readonly sentAgain: readonly string[];
  readonly copies: readonly string[];
  /** What still waits or is parked. */
  readonly left: number;
}

/** What was still under way when all was over. */
export interface Left {
  readonly unsent: number;
  readonly queued: number;
  readonly deadLetters: number;
}

/** Names one key of one tenant. */
export function nameOf({ tenant, key }: { readonly tenant: string; readonly key: string }): string {
  return `${tenant} ${key}`;
}
