// Whether the promise held: compares the plan with the observations. Pure; knows nothing of how it ran.
import { chargesIn, straysIn } from "../../../../test/kit/shop/judge.ts";
import { groupBy } from "./group-by.ts";
import { incidentsPlanned } from "./incidents.ts";
import type { Observation } from "./observation.ts";
import { orderProblems } from "./order-verdict.ts";
import { paymentProblems } from "./payment-verdict.ts";
import type { Plan } from "./plan.ts";
import { sagaProblems } from "./sagas/saga-verdict.ts";
import { nameOf } from "./seen.ts";

/** @returns a line for everything that is off, with tenant and key; none if the promise held */
export function findProblems(plan: Plan, observation: Observation): string[] {
  const { rows, payments, ledger } = observation;
  const rowsOf = groupBy(rows, (row) => nameOf({ ...row, key: row.idempotencyKey }));
  const answersOf = groupBy(observation.answers, nameOf);
  const endingsOf = groupBy(observation.endings, nameOf);
  const paymentsOf = groupBy(payments, ({ orderId }) => orderId);
  const chargesOf = groupBy(chargesIn(ledger), ({ orderId }) => orderId);
  const deliveriesOf = groupBy(observation.deliveries, ({ orderId }) => orderId);

  const problems = plan.orders.flatMap((order) => {
    const name = nameOf(order);
    const own = rowsOf.get(name) ?? [];
    const ofOwn = <T>(groups: ReadonlyMap<string, T[]>) => own.flatMap(({ id }) => groups.get(id) ?? []);
    const found = [
      ...orderProblems(order, {
        rows: own,
        answers: answersOf.get(name) ?? [],
        endings: endingsOf.get(name) ?? [],
      }),
      ...paymentProblems(order, {
        rows: own,
        payments: ofOwn(paymentsOf),
        charges: ofOwn(chargesOf),
        deliveries: ofOwn(deliveriesOf),
      }),
    ];
    return [...new Set(found)].map((what) => `${name}: ${what}`);
  });
  return [
    ...problems,
    ...unplannedRows(plan, rowsOf),
    ...strays(observation),
    ...leftovers(observation),
    ...receiptProblems(observation),
    ...sagaProblems(plan.sagas, observation.sagas),
    ...undone(plan, observation),
  ];
}

function unplannedRows(plan: Plan, rows: ReadonlyMap<string, readonly unknown[]>): string[] {
  const planned = new Set(plan.orders.map(nameOf));
  return [...rows]
    .filter(([name]) => !planned.has(name))
    .map(([name, { length }]) => `${name}: expected no order, found ${length}`);
}

/** Everything charged, paid or sent for an order that was never committed. */
function strays({ rows, payments, ledger, deliveries }: Observation): string[] {
  const lines = (things: readonly { readonly orderId: string }[], what: string) =>
    [...new Set(straysIn(things, rows).map(({ orderId }) => orderId))].map(
      (id) => `order ${id}: ${what}, and is not in the table`,
    );
  return [
    ...lines(chargesIn(ledger), "was charged"),
    ...lines(payments, "has a payment"),
    ...lines(deliveries, "has a message"),
  ];
}

function leftovers({ left: { unsent, queued, deadLetters } }: Observation): string[] {
  const problems: string[] = [];
  if (unsent > 0) problems.push(`${unsent} commits have messages that were never sent`);
  if (queued > 0) problems.push(`${queued} messages are left in the queue`);
  if (deadLetters > 0) problems.push(`${deadLetters} messages are left in the dead-letter queue`);
  return problems;
}

/**
 * Copies arrived while the receipts' own queue didn't exist: once each, and once more for some killed relays. A relay
 * resends what another one sent before it died and could record that. In the end each receipt arrived.
 */
function receiptProblems({ receipts, incidents }: Observation): string[] {
  const { committed, parked, redirected, sentAgain, copies, left } = receipts;
  const kills = incidents.filter(({ incident }) => incident.startsWith("relay killed")).length;
  const problems: string[] = [];
  const expect = (what: string, expected: number, found: number) => {
    if (found !== expected) problems.push(`receipts: expected ${expected} ${what}, found ${found}`);
  };
  expect("parked commits", committed, parked);
  expect("different copies in the healthy queue", committed, new Set(copies).size);
  for (const [copy, all] of groupBy(copies, (body) => body)) {
    if (all.length > 1 + kills)
      problems.push(`receipts: ${copy} arrived ${all.length} times, with ${kills} kills`);
  }
  expect("receipts that were redirected", 1, redirected.length);
  expect("receipts that were sent again", committed - 1, sentAgain.length);
  expect("different receipts", committed, new Set([...redirected, ...sentAgain]).size);
  expect("commits that are left", 0, left);
  return problems;
}

/** A run that did not disturb the service as planned has shown nothing. */
function undone(plan: Plan, { incidents }: Observation): string[] {
  const happened = groupBy(incidents, nameOf);
  return plan.orders.flatMap((order) => {
    const left = (happened.get(nameOf(order)) ?? []).map(({ incident }) => incident);
    const missing = incidentsPlanned(order).filter((incident) => {
      const found = left.indexOf(incident);
      if (found >= 0) left.splice(found, 1);
      return found < 0;
    });
    return missing.map((incident) => `${nameOf(order)}: planned "${incident}", which did not happen`);
  });
}
