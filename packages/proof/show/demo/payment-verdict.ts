// Whether one key of one tenant was charged and paid once, or was declined and never charged. Pure.
import { countProblems, dueFor, stateProblems } from "../../../../test/kit/shop/judge.ts";
import type { Observation } from "./observation.ts";
import type { PlannedOrder } from "./plan.ts";
import type { LedgerEntry, OrderRow, PaymentRow } from "./seen.ts";

/** By the ids of its orders, of which there should be one. */
export interface SeenOfPayment {
  readonly rows: readonly OrderRow[];
  readonly payments: readonly PaymentRow[];
  /** The charges; other ledger entries move no money. */
  readonly charges: readonly LedgerEntry[];
  readonly deliveries: Observation["deliveries"];
}

export function paymentProblems({ payment }: PlannedOrder, seen: SeenOfPayment): string[] {
  const { rows, payments, charges, deliveries } = seen;
  const due = dueFor(payment.kind === "declined");
  const problems = [
    ...countProblems("charge", due, charges.length),
    ...countProblems("payment", due, payments.length),
    ...stateProblems(rows, due),
  ];
  if (!deliveries.some(({ end }) => end === "acknowledged")) problems.push("its message was never done");
  return [...problems, ...differences(seen)];
}

/** Order, payment and charge are about the same money. */
function differences({ rows, payments, charges }: SeenOfPayment): string[] {
  const problems: string[] = [];
  for (const { orderId, chargeId, amountCents } of payments) {
    const due = rows.find(({ id }) => id === orderId)?.totalCents;
    if (amountCents !== due) problems.push(`expected a payment of ${due} cents, found one of ${amountCents}`);
    const charge = charges.find((each) => each.chargeId === chargeId);
    if (!charge) problems.push("its payment names a charge that is not in the ledger");
    else if (charge.amountCents !== due) {
      problems.push(`expected a charge of ${due} cents, found one of ${charge.amountCents}`);
    }
  }
  return problems;
}
