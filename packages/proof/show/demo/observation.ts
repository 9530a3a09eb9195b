// A run's observations, and none of its expectations: the result and the table are derived only from these.
import type { Delivery } from "./deliveries.ts";
import type { Happened } from "./incidents.ts";
import type { Send } from "./payments-queue.ts";
import type { SagasSeen } from "./sagas/saga-observation.ts";
import type { Answer, Ending, LedgerEntry, Left, OrderRow, PaymentRow, ReceiptsSeen } from "./seen.ts";

export interface Observation {
  /** HTTP requests that were sent, every retry included. */
  readonly requests: number;
  readonly answers: readonly Answer[];
  readonly endings: readonly Ending[];
  /** The disturbances that really happened. */
  readonly incidents: readonly Happened[];
  readonly lostAnswers: { readonly dynamodb: number; readonly sqs: number };
  readonly throttles: number;
  /** Charges that were asked for while the gateway was down. */
  readonly refusals: number;
  /** Handlers that were started: by the claims that the records count, or all invocations if there are no claims. */
  readonly executions: { readonly orders: number; readonly payments: number };
  readonly sends: readonly Send[];
  readonly sweeperSends: number;
  readonly deliveries: readonly Pick<Delivery, "orderId" | "messageId" | "end" | "hasCommitted">[];
  readonly redriven: number;
  readonly rows: readonly OrderRow[];
  readonly payments: readonly PaymentRow[];
  readonly ledger: readonly LedgerEntry[];
  readonly receipts: ReceiptsSeen;
  /** Their orders and charges are not among the others. */
  readonly sagas: SagasSeen;
  readonly left: Left;
}
