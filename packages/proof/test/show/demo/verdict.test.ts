// The control of the demo: each way in which the orders of a run can be wrong is doctored into one that is right.
import { describe, expect, it } from "vitest";
import type { Observation } from "../../../show/demo/observation.ts";
import type { OrderKind } from "../../../show/demo/order-plan.ts";
import { planDemo } from "../../../show/demo/plan.ts";
import type { Answer } from "../../../show/demo/seen.ts";
import { findProblems } from "../../../show/demo/verdict.ts";
import { honestRun, rowOf } from "./given.ts";

const plan = planDemo({ orders: 12, duplicates: 2, seed: 3 });
const honest = honestRun(plan);
const orderOf = (kind: OrderKind) => plan.orders.find(({ behaviour }) => behaviour.kind === kind)!;
const isOf =
  ({ tenant, key }: { tenant: string; key: string }) =>
  (other: { tenant: string; key?: string; idempotencyKey?: string }) =>
    other.tenant === tenant && (other.key ?? other.idempotencyKey) === key;

/** Changes the last answer that fits. */
function withAnswer(fits: (answer: Answer) => boolean, change: Partial<Answer>): Observation {
  const index = honest.answers.findLastIndex(fits);
  return { ...honest, answers: honest.answers.with(index, { ...honest.answers[index]!, ...change }) };
}

describe("findProblems", () => {
  it("finds none in a run in which each key has one order, one answer, one payment and one charge", () => {
    expect(findProblems(plan, honest)).toEqual([]);
  });

  it("names the key of an order that exists twice", () => {
    const order = orderOf("killed");
    const rows = [...honest.rows, { ...rowOf(order), id: "a second one" }];

    expect(findProblems(plan, { ...honest, rows })).toEqual([
      `${order.tenant} ${order.key}: expected 1 order, found 2`,
    ]);
  });

  it("names the key of an order that is missing, and what was done for it anyway", () => {
    const order = plan.orders.find(({ payment }) => payment.kind === "plain")!;
    const rows = honest.rows.filter((row) => !isOf(order)(row));
    const name = `${order.tenant} ${order.key}`;
    const { id } = rowOf(order);

    expect(findProblems(plan, { ...honest, rows })).toEqual([
      `${name}: expected 1 order, found 0`,
      `${name}: was answered with an order that is not in the table`,
      `${name}: expected 1 charge, found 0`,
      `${name}: expected 1 payment, found 0`,
      `${name}: its message was never done`,
      `order ${id}: was charged, and is not in the table`,
      `order ${id}: has a payment, and is not in the table`,
      `order ${id}: has a message, and is not in the table`,
    ]);
  });

  it("does not let one tenant's second order stand for another tenant's missing one", () => {
    const [mine, other] = plan.orders as [(typeof plan.orders)[0], (typeof plan.orders)[0]];
    const rows = honest.rows.map((row) => (isOf(other)(row) ? { ...row, tenant: mine.tenant } : row));

    expect(findProblems(plan, { ...honest, rows })).toEqual(
      expect.arrayContaining([
        `${mine.tenant} ${mine.key}: expected 1 order, found 2`,
        `${other.tenant} ${other.key}: expected 1 order, found 0`,
      ]),
    );
  });

  it("refuses an order of another content", () => {
    const order = orderOf("reused");
    const rows = honest.rows.map((row) => (isOf(order)(row) ? { ...row, quantity: 1000 } : row));
    const { quantity, sku, card } = order.body;

    expect(findProblems(plan, { ...honest, rows })).toEqual([
      `${order.tenant} ${order.key}: expected an order of ${quantity} ${sku} with ${card}, found one of 1000 ${sku} with ${card}`,
    ]);
  });

  it("rejects an order that no client placed", () => {
    const rows = [...honest.rows, { ...rowOf(orderOf("unique")), idempotencyKey: "stray" }];

    expect(findProblems(plan, { ...honest, rows })).toEqual([
      `${orderOf("unique").tenant} stray: expected no order, found 1`,
    ]);
  });

  it.each([
    ["body", { body: `${JSON.stringify(rowOf(orderOf("sequential"))).slice(0, -1)},"late":true}` }],
    ["location", { location: "/orders/elsewhere" }],
  ])("refuses a replay with another %s than the first answer", (_, change) => {
    const order = orderOf("sequential");
    const observation = withAnswer((answer) => isOf(order)(answer) && answer.replayed, change);

    expect(findProblems(plan, observation)).toEqual([
      `${order.tenant} ${order.key}: expected 1 answer, got 2 different ones`,
    ]);
  });

  it("rejects an answer that names an order that was never written", () => {
    const order = orderOf("unique");
    const observation = withAnswer(isOf(order), { body: '{"id":"phantom"}' });

    expect(findProblems(plan, observation)).toEqual([
      `${order.tenant} ${order.key}: was answered with an order that is not in the table`,
    ]);
  });

  it("refuses another body that is accepted under the same key", () => {
    const order = orderOf("reused");
    const observation = withAnswer(({ asked }) => asked === "other-body", { status: 201 });

    expect(findProblems(plan, observation)).toContain(
      `${order.tenant} ${order.key}: a request with another body was answered with 201`,
    );
  });

  it.each([400, 401, 403, 404, 422, 202])(
    "refuses a request for an order that is answered with %i",
    (status) => {
      const order = orderOf("killed");
      const observation = withAnswer((answer) => isOf(order)(answer) && answer.status === 409, { status });

      expect(findProblems(plan, observation)).toContain(
        `${order.tenant} ${order.key}: a request was answered with ${status}`,
      );
    },
  );

  it("refuses a client that got no final answer", () => {
    const order = orderOf("concurrent");
    const index = honest.endings.findIndex(isOf(order));
    const { tenant, key, asked } = honest.endings[index]!;
    const endings = honest.endings.with(index, { tenant, key, asked, failure: "the deadline" });

    expect(findProblems(plan, { ...honest, endings })).toEqual([
      `${tenant} ${key}: a request ended with the deadline`,
    ]);
  });

  it("refuses a run in which a planned duplicate was never sent", () => {
    const order = orderOf("concurrent");
    const endings = honest.endings.toSpliced(honest.endings.findIndex(isOf(order)), 1);

    expect(findProblems(plan, { ...honest, endings })).toEqual([
      `${order.tenant} ${order.key}: planned to ask 3 times to the end, asked 2`,
    ]);
  });

  it.each([
    ["was not parked", { parked: 2 }, "expected 3 parked commits, found 2"],
    ["was lost", { sentAgain: ["receipt-2"] }, "expected 2 receipts that were sent again, found 1"],
    ["went to the wrong queue", { redirected: ["receipt-2"] }, "expected 3 different receipts, found 2"],
    [
      "had its healthy copy sent with each try",
      { copies: ["receipt-1", "receipt-2", ...Array(30).fill("receipt-3")] },
      expect.stringMatching(/^receipts: receipt-3 arrived 30 times, with \d kills$/),
    ],
    ["waits for ever", { left: 1 }, "expected 0 commits that are left, found 1"],
  ])("H72: rejects a message for a missing queue which %s", (_, change, problem) => {
    const receipts = { ...honest.receipts, ...change };

    expect(findProblems(plan, { ...honest, receipts })).toContainEqual(
      typeof problem === "string" ? `receipts: ${problem}` : problem,
    );
  });
});
