// What a run of the demo saw, and nothing it expected: the verdict and the table are made from this alone.
import type { KillPoint, OrderBody, Tenant } from "./plan.ts";

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
  readonly idempotencyKey: string;
}

export interface Observation {
  /** HTTP requests that were sent, every retry included. */
  readonly requests: number;
  readonly answers: readonly Answer[];
  readonly endings: readonly Ending[];
  /** Clients that broke off before they had an answer. */
  readonly gaveUp: number;
  /** Where a process was killed while it ran an invocation. */
  readonly kills: readonly KillPoint[];
  readonly lostAnswers: number;
  readonly throttles: number;
  /** Claims that were won, each of which starts the handler: by the records' own count. */
  readonly executions: number;
  readonly rows: readonly OrderRow[];
}

/** Names one key of one tenant. */
export function nameOf({ tenant, key }: { readonly tenant: string; readonly key: string }): string {
  return `${tenant} ${key}`;
}
