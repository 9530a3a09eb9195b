// The control of the demo: each way in which the payments of a run can be wrong is doctored into one that is right.
import { describe, expect, it } from "vitest";
import type { Observation } from "../../../show/demo/observation.ts";
import type { PaymentKind } from "../../../show/demo/payment-plan.ts";
import { type PlannedOrder, planDemo } from "../../../show/demo/plan.ts";
import { findProblems } from "../../../show/demo/verdict.ts";
import { honestRun, ledgerEntryOf, paymentOf, rowOf } from "./given.ts";

const plan = planDemo({ orders: 12, duplicates: 2, seed: 3 });
const honest = honestRun(plan);
const orderOf = (kind: PaymentKind) => plan.orders.find(({ payment }) => payment.kind === kind)!;
const nameOf = ({ tenant, key }: PlannedOrder) => `${tenant} ${key}`;
const isAbout = (order: PlannedOrder) => (value: { orderId: string }) => value.orderId === rowOf(order).id;
const without = <T extends { orderId: string }>(values: readonly T[], order: PlannedOrder) =>
  values.filter((value) => !isAbout(order)(value));
const problemsOf = (change: Partial<Observation>) => findProblems(plan, { ...honest, ...change });

describe("findProblems", () => {
  it.each(["killed", "redelivered", "resent", "answer-lost"] as const)(
    "names the key of a payment (%s) that was charged twice",
    (kind) => {
      const order = orderOf(kind);
      const second = { ...ledgerEntryOf(order), idempotencyKey: "another", chargeId: "another" };

      expect(problemsOf({ ledger: [...honest.ledger, second] })).toEqual([
        `${nameOf(order)}: expected 1 charge, found 2`,
      ]);
    },
  );

  it("names the key of an order that was never charged", () => {
    const order = orderOf("poison");
    const { chargeId: _, ...entry } = ledgerEntryOf(order);
    const ledger = [...without(honest.ledger, order), entry];

    expect(problemsOf({ ledger })).toEqual([
      `${nameOf(order)}: expected 1 charge, found 0`,
      `${nameOf(order)}: its payment names a charge that is not in the ledger`,
    ]);
  });

  it("names the key of an order whose payment is missing", () => {
    const order = orderOf("failing");

    expect(problemsOf({ payments: without(honest.payments, order) })).toEqual([
      `${nameOf(order)}: expected 1 payment, found 0`,
    ]);
  });

  it("names the key of an order that is paid but not marked as paid", () => {
    const order = orderOf("slow");
    const rows = honest.rows.map((row) => (row.id === rowOf(order).id ? { ...row, state: "created" } : row));

    expect(problemsOf({ rows })).toEqual([`${nameOf(order)}: expected the order to be paid, it is created`]);
  });

  it("rejects a declined card that is charged, paid for, or counted as paid", () => {
    const order = orderOf("declined");
    const charge = { ...ledgerEntryOf(order), chargeId: paymentOf(order).chargeId };
    const rows = honest.rows.map((row) => (row.id === rowOf(order).id ? { ...row, state: "paid" } : row));

    expect(
      problemsOf({
        ledger: [...honest.ledger, charge],
        payments: [...honest.payments, paymentOf(order)],
        rows,
      }),
    ).toEqual([
      `${nameOf(order)}: expected no charge, found 1`,
      `${nameOf(order)}: expected no payment, found 1`,
      `${nameOf(order)}: expected the order to be declined, it is paid`,
    ]);
  });

  it("refuses a payment and a charge of another amount than the order's", () => {
    const order = orderOf("plain");
    const { totalCents } = rowOf(order);
    const doctored = <T extends { orderId: string }>(values: readonly T[]) =>
      values.map((value) => (isAbout(order)(value) ? { ...value, amountCents: 1 } : value));

    expect(problemsOf({ payments: doctored(honest.payments), ledger: doctored(honest.ledger) })).toEqual([
      `${nameOf(order)}: expected a payment of ${totalCents} cents, found one of 1`,
      `${nameOf(order)}: expected a charge of ${totalCents} cents, found one of 1`,
    ]);
  });

  it("does not let one order's second charge stand for another order's missing one", () => {
    const [mine, other] = [orderOf("plain"), orderOf("resent")];
    const stolen = { ...ledgerEntryOf(other), orderId: rowOf(mine).id };

    expect(problemsOf({ ledger: [...without(honest.ledger, other), stolen] })).toEqual(
      expect.arrayContaining([
        `${nameOf(mine)}: expected 1 charge, found 2`,
        `${nameOf(other)}: expected 1 charge, found 0`,
      ]),
    );
  });

  it.each([
    ["was never delivered", []],
    ["was only ever returned", [{ end: "returned" as const }]],
    ["was lost with its consumer", [{ end: "lost" as const }]],
  ])("names the key of an order whose message %s", (_, ends) => {
    const order = orderOf("plain");
    const own = honest.deliveries.find(isAbout(order))!;
    const deliveries = [...without(honest.deliveries, order), ...ends.map((end) => ({ ...own, ...end }))];

    expect(problemsOf({ deliveries })).toEqual([`${nameOf(order)}: its message was never done`]);
  });

  it("refuses a charge, a payment and a message for an order that was never committed", () => {
    const ghost = { orderId: "ghost" };
    const order = orderOf("plain");

    expect(
      problemsOf({
        ledger: [...honest.ledger, { ...ledgerEntryOf(order), ...ghost }],
        payments: [...honest.payments, { ...paymentOf(order), ...ghost }],
        deliveries: [...honest.deliveries, { ...honest.deliveries[0]!, ...ghost }],
      }),
    ).toEqual([
      "order ghost: was charged, and is not in the table",
      "order ghost: has a payment, and is not in the table",
      "order ghost: has a message, and is not in the table",
    ]);
  });

  it("rejects leftovers in outbox, queue and dead-letter queue", () => {
    expect(problemsOf({ left: { unsent: 1, queued: 2, deadLetters: 3 } })).toEqual([
      "1 commits have messages that were never sent",
      "2 messages are left in the queue",
      "3 messages are left in the dead-letter queue",
    ]);
  });

  it.each(honest.incidents.map(({ incident }, index) => [incident, index] as const))(
    'refuses a run in which "%s" was planned and did not happen',
    (incident, index) => {
      const { tenant, key } = honest.incidents[index]!;

      expect(problemsOf({ incidents: honest.incidents.toSpliced(index, 1) })).toEqual([
        `${tenant} ${key}: planned "${incident}", which did not happen`,
      ]);
    },
  );
});
