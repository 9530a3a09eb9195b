/** One order, one payment, one charge: what is due for a key, and what is wrong with what was found. Pure. */

export interface Counts {
  readonly order: number;
  readonly payment: number;
  readonly charge: number;
}

/** What one key must have brought about in the end. */
export function dueFor(isDeclined = false): Counts & { readonly state: "paid" | "declined" } {
  const money = isDeclined ? 0 : 1;
  return { order: 1, payment: money, charge: money, state: isDeclined ? "declined" : "paid" };
}

/** A line where what was found is not what is due, else none. */
export function countProblems(what: keyof Counts, due: Counts, found: number): string[] {
  if (found === due[what]) return [];
  return [`expected ${due[what] === 0 ? `no ${what}` : `${due[what]} ${what}`}, found ${found}`];
}

/** A line for each order of a key that did not end as it should. */
export function stateProblems(
  orders: readonly { readonly state?: unknown }[],
  due: { readonly state: string },
): string[] {
  return orders
    .filter(({ state }) => state !== due.state)
    .map(({ state }) => `expected the order to be ${due.state}, it is ${state}`);
}

/** The entries of a ledger under which money was moved. */
export function chargesIn<Entry extends { readonly chargeId?: string | undefined }>(
  ledger: readonly Entry[],
): Entry[] {
  return ledger.filter(({ chargeId }) => chargeId !== undefined);
}

/** What was done for an order that is not there. */
export function straysIn<Thing extends { readonly orderId: string }>(
  things: readonly Thing[],
  orders: readonly { readonly id: string }[],
): Thing[] {
  const ids = new Set(orders.map(({ id }) => id));
  return things.filter(({ orderId }) => !ids.has(orderId));
}
