// What was done twice, or not at all, and what that means for the plan without onceonly. Pure.
import { chargesIn, dueFor } from "../../../../test/kit/shop/judge.ts";
import { groupBy } from "./group-by.ts";
import { type Look, PLAIN } from "./look.ts";
import type { Observation } from "./observation.ts";
import type { Plan } from "./plan.ts";
import { nameOf } from "./seen.ts";

export interface Harm {
  /** Keys with more than one order. */
  readonly orderedTwice: number;
  /** Keys with more charges than expected. */
  readonly chargedTwice: number;
  /** Keys for which clients got different successful answers. */
  readonly answeredTwice: number;
  /** Orders that were neither paid nor declined. */
  readonly unsettled: number;
}

type Seen = Pick<Observation, "rows" | "ledger" | "answers">;

export function harmDone({ orders }: Pick<Plan, "orders">, { rows, ledger, answers }: Seen): Harm {
  const rowsOf = groupBy(rows, (row) => nameOf({ ...row, key: row.idempotencyKey }));
  const chargesOf = groupBy(chargesIn(ledger), ({ orderId }) => orderId);
  const successes = answers.filter(({ status }) => status >= 200 && status < 300);
  const answersOf = groupBy(successes, nameOf);
  const chargesFor = (name: string) =>
    (rowsOf.get(name) ?? []).reduce((sum, { id }) => sum + (chargesOf.get(id)?.length ?? 0), 0);
  return {
    orderedTwice: [...rowsOf.values()].filter(({ length }) => length > 1).length,
    chargedTwice: orders.filter(
      (order) => chargesFor(nameOf(order)) > dueFor(order.payment.kind === "declined").charge,
    ).length,
    answeredTwice: [...answersOf.values()].filter(
      (all) => new Set(all.map(({ location, body }) => `${location} ${body}`)).size > 1,
    ).length,
    unsettled: rows.filter(({ state }) => state === "created").length,
  };
}

export function formatContrast(plan: Plan, observation: Observation, { cross }: Look = PLAIN): string {
  const { orderedTwice, chargedTwice, answeredTwice, unsettled } = harmDone(plan, observation);
  if (orderedTwice + chargedTwice === 0) {
    return "no contrast: without onceonly nothing was done twice; plan more orders or duplicates, or another seed";
  }
  const { length: keys } = plan.orders;
  const due = plan.orders.filter(({ payment }) => payment.kind !== "declined").length;
  return [
    `${cross}without onceonly: ${observation.rows.length} orders for ${keys} keys, ${orderedTwice} keys with several orders,`,
    `      ${chargesIn(observation.ledger).length} charges instead of ${due}, ${chargedTwice} keys with more charges than expected,`,
    `      clients with ${answeredTwice} keys got different orders, ${unsettled} orders neither paid nor declined`,
  ].join("\n");
}
