// The required effects: one order for each key, paid and charged once unless its card is declined, and nothing
// left to do. Pure.
import { type Counts, chargesIn, dueFor, straysIn } from "../../../../test/kit/shop/judge.ts";
import { groupBy } from "../demo/group-by.ts";
import { nameOf } from "../demo/seen.ts";
import { TENANTS } from "../demo/tenants.ts";
import { isDeclined, type LoadOrder, type LoadPlan } from "./plan-load.ts";
import type { Effects, SeenOrder } from "./service.ts";
import { noneOf, type Threshold } from "./threshold.ts";

export function effectThresholds({ orders }: LoadPlan, effects: Effects): Threshold[] {
  const { payments, left, isAlone } = effects;
  const seenOf = groupBy(effects.orders, nameOfSeen);
  const seenFor = (order: LoadOrder) => seenOf.get(nameOf(order)) ?? [];
  const charges = effects.ledger && chargesIn(effects.ledger);
  const rowsCount: Count = (order) => seenFor(order).length;
  const paidCount: Count = (order) => seenFor(order).filter(({ state }) => state === "paid").length;
  return [
    ...TENANTS.flatMap((tenant) => {
      const own = orders.filter((order) => order.tenant === tenant);
      return [
        perOrder(`orders of ${tenant}`, own, due("order"), rowsCount),
        perOrder(`paid orders of ${tenant}`, own, due("payment"), paidCount),
        perOrder(`payments of ${tenant}`, own, due("payment"), countIn(payments, seenFor)),
        perOrder(`charges of ${tenant}`, own, due("charge"), countIn(charges, seenFor)),
      ];
    }),
    noneOf("orders that are not settled", unsettled(effects.orders)),
    noneOf("orders charged twice", charges && twice(charges)),
    noneOf(
      "orders of another content",
      orders.flatMap((order) => otherContents(order, seenFor(order))),
    ),
    noneOf("orders that no client asked for", isAlone ? unplanned(orders, effects.orders) : undefined),
    noneOf("payments of another amount", payments && otherAmounts(payments, effects.orders)),
    noneOf("charges of another amount", charges && otherAmounts(charges, effects.orders)),
    noneOf("payments for no order", isAlone ? payments && strays(payments, effects.orders) : undefined),
    noneOf("charges for no order", isAlone ? charges && strays(charges, effects.orders) : undefined),
    { name: "messages left in the outbox", expected: 0, found: left.unsent, off: [] },
    { name: "messages left in the queue", expected: 0, found: left.queued, off: [] },
    { name: "messages in the dead-letter queue", expected: 0, found: left.deadLetters, off: [] },
  ];
}

type Count = (order: LoadOrder) => number;
interface OfOrder {
  readonly orderId: string;
}

const due =
  (what: keyof Counts): Count =>
  (order) =>
    dueFor(isDeclined(order))[what];

function nameOfSeen({ tenant, idempotencyKey: key }: SeenOrder): string {
  return nameOf({ tenant, key });
}

function countIn(
  things: readonly OfOrder[] | undefined,
  seenFor: (order: LoadOrder) => readonly SeenOrder[],
): Count | undefined {
  if (!things) return undefined;
  const thingsOf = groupBy(things, ({ orderId }) => orderId);
  return (order) => seenFor(order).reduce((sum, { id }) => sum + (thingsOf.get(id)?.length ?? 0), 0);
}

function perOrder(
  name: string,
  orders: readonly LoadOrder[],
  wantedFor: Count,
  foundFor: Count | undefined,
): Threshold {
  const sumOf = (count: Count) => orders.reduce((sum, order) => sum + count(order), 0);
  if (!foundFor) return { name, expected: sumOf(wantedFor), found: undefined, off: [] };
  const off = orders
    .filter((order) => foundFor(order) !== wantedFor(order))
    .map((order) => `${order.key}: expected ${wantedFor(order)}, found ${foundFor(order)}`);
  return { name, expected: sumOf(wantedFor), found: sumOf(foundFor), off };
}

function unsettled(seen: readonly SeenOrder[]): string[] {
  return seen
    .filter(({ state }) => state === "created")
    .map((order) => `${nameOfSeen(order)}: neither paid nor declined`);
}

function twice(charges: readonly OfOrder[]): string[] {
  return [...groupBy(charges, ({ orderId }) => orderId)].flatMap(([id, { length }]) =>
    length > 1 ? [`order ${id}: ${length} charges`] : [],
  );
}

function otherContents({ tenant, key, body }: LoadOrder, seen: readonly SeenOrder[]): string[] {
  return seen
    .filter(({ sku, quantity }) => sku !== body.sku || quantity !== body.quantity)
    .map(({ sku, quantity }) => `${tenant} ${key}: ${quantity} ${sku}, not ${body.quantity} ${body.sku}`);
}

function unplanned(orders: readonly LoadOrder[], seen: readonly SeenOrder[]): string[] {
  const planned = new Set(orders.map(nameOf));
  return seen.map(nameOfSeen).filter((name) => !planned.has(name));
}

function otherAmounts(
  things: readonly (OfOrder & { readonly amountCents: number })[],
  seen: readonly SeenOrder[],
): string[] {
  const dueFor = new Map(seen.map(({ id, totalCents }) => [id, totalCents]));
  return things.flatMap(({ orderId, amountCents }) => {
    const due = dueFor.get(orderId) ?? amountCents;
    return amountCents === due ? [] : [`order ${orderId}: ${amountCents} cents, not ${due}`];
  });
}

function strays(things: readonly OfOrder[], seen: readonly SeenOrder[]): string[] {
  return straysIn(things, seen).map(({ orderId }) => `order ${orderId}`);
}
