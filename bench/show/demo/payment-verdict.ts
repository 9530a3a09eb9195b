// Whether one key of one tenant was charged and paid once, or was declined and never charged. Pure.
import type { LedgerEntry, Observation, OrderRow, PaymentRow } from "./observation.ts";
import type { PlannedOrder } from "./plan.ts";

/** By the ids of its orders, of which there should be one. */
export interface SeenOfPayment {
  readonly rows: readonly OrderRow[];
  readonly payments: readonly PaymentRow[];
  /** What was charged; other entries of the ledger move no money. */
  readonly charges: readonly LedgerEntry[];
  readonly deliveries: Observation["deliveries"];
}

export function paymentProblems({ payment }: PlannedOrder, seen: SeenOfPayment): string[] {
  const { rows, payments, charges, deliveries } = seen;
  const isDeclined = payment.kind === "declined";
  const wanted = isDeclined ? 0 : 1;
  const problems: string[] = [];
  if (charges.length !== wanted)
    problems.push(`expected ${count(wanted, "charge")}, found ${charges.length}`);
  if (payments.length !== wanted) {
    problems.push(`expected ${count(wanted, "payment")}, found ${payments.length}`);
  }
  const state = isDeclined ? "declined" : "paid";
  for (const row of rows) {
    if (row.state !== state) problems.push(`expected the order to be ${state}, it is ${row.state}`);
  }
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

function count(number: number, what: string): string {
  return number === 0 ? `no ${what}` : `${number} ${what}`;
}
