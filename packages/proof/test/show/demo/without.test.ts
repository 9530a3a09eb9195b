// The column without onceonly: its plan, how its requests are read, and how its effects are described.
import { describe, expect, it } from "vitest";
import { formatContrast, harmDone } from "../../../show/demo/contrast.ts";
import { orderRecordKey, paymentRecordKey } from "../../../show/demo/order-book.ts";
import { planDemo } from "../../../show/demo/plan.ts";
import { planWithout } from "../../../show/demo/without/plan-without.ts";
import { readPlainRequests } from "../../../show/demo/without/read-plain-requests.ts";
import { honestRun } from "./given.ts";

const plan = planDemo({ orders: 40, duplicates: 2, seed: 3 });
const honest = honestRun(plan);

describe("planWithout", () => {
  const { orders, receipts, seed, faultShares } = planWithout(plan);

  it("keeps keys, bodies, duplicates, payments and faults", () => {
    const kept = ({ tenant, key, body, payment, behaviour }: (typeof orders)[number]) => [
      tenant,
      key,
      body,
      payment,
      behaviour.kind,
      "duplicates" in behaviour ? behaviour.duplicates : 0,
    ];

    expect(orders.map(kept)).toEqual(plan.orders.map(kept));
    expect([seed, faultShares]).toEqual([plan.seed, plan.faultShares]);
  });

  it("has crashes around the one write that the order function makes, and none of an outbox", () => {
    const moments = (all: typeof orders) =>
      new Set(
        all.flatMap(({ behaviour: each }) =>
          "killAt" in each ? each.killAt : "giveUpAt" in each ? each.giveUpAt : [],
        ),
      );

    expect(moments(plan.orders)).toContain("after-claim");
    expect(moments(orders)).toEqual(new Set(["before-commit", "after-commit", "commit"]));
    expect(new Set(orders.map(({ dispatch }) => dispatch.kind))).toEqual(new Set(["relayed"]));
    expect(receipts).toBe(0);
  });
});

describe("readPlainRequests", () => {
  const read = (operation: string, body: object) =>
    readPlainRequests({ operation, sequence: 0, body: { ...body } });

  it("treats the write of an order as its commit", () => {
    const Item = { tenant: { S: "acme" }, idempotencyKey: { S: "cart-1" }, id: { S: "order-1" } };

    expect(read("TransactWriteItems", { TransactItems: [{ Put: { Item } }] })).toEqual([
      { recordKey: orderRecordKey({ tenant: "acme", key: "cart-1" }), moment: "commit" },
    ]);
  });

  it("treats reading an order as the claim of its payment, and its settlement as the commit", () => {
    const recordKey = paymentRecordKey("order-1");
    const Key = { tenant: { S: "acme" }, id: { S: "order-1" } };
    const payment = { tenant: { S: "acme" }, orderId: { S: "order-1" } };
    const TransactItems = [{ Update: { Key } }, { Put: { Item: payment } }];

    expect(read("GetItem", { Key })).toEqual([{ recordKey, moment: "claim" }]);
    expect(read("TransactWriteItems", { TransactItems })).toEqual([{ recordKey, moment: "commit" }]);
  });

  it("leaves the gateway's ledger alone", () => {
    expect(read("UpdateItem", { Key: { idempotencyKey: { S: "1" } } })).toEqual([]);
    expect(read("GetItem", { Key: { pk: { S: "record" } } })).toEqual([]);
  });
});

describe("harmDone", () => {
  it("finds none if everything is done once", () => {
    expect(harmDone(plan, honest)).toEqual({
      orderedTwice: 0,
      chargedTwice: 0,
      answeredTwice: 0,
      unsettled: 0,
    });
  });

  it("counts keys, not orders, and orders that were never paid for", () => {
    const [first] = honest.rows;
    const copies = [1, 2].map((number) => ({ ...first!, id: `copy ${number}`, state: "created" }));
    const charge = honest.ledger.find(({ chargeId }) => chargeId)!;
    const answer = honest.answers.find(({ status }) => status === 201)!;
    const other = { ...answer, location: "/orders/copy" };

    const harm = harmDone(plan, {
      rows: [...honest.rows, ...copies],
      ledger: [...honest.ledger, charge, { ...charge, orderId: "copy 1" }],
      answers: [...honest.answers, other, other],
    });

    expect(harm).toMatchObject({ orderedTwice: 1, answeredTwice: 1, unsettled: 2 });
    expect(harm.chargedTwice).toBeGreaterThan(0);
  });

  it("counts a charge for a card that is declined", () => {
    const { orderId, ...entry } = honest.ledger.find(({ chargeId }) => !chargeId)!;
    const ledger = [...honest.ledger, { ...entry, orderId, chargeId: "wrong" }];

    expect(harmDone(plan, { ...honest, ledger }).chargedTwice).toBe(1);
  });
});

describe("formatContrast", () => {
  it("shows how much was done twice", () => {
    const copies = honest.rows.map((row) => ({ ...row, id: `copy of ${row.id}` }));

    expect(formatContrast(plan, { ...honest, rows: [...honest.rows, ...copies] })).toMatch(
      /^without onceonly: 80 orders for 40 keys, 40 keys with several orders,\n/,
    );
  });

  it("shows when nothing was done twice", () => {
    expect(formatContrast(plan, honest)).toMatch(/^no contrast: without onceonly nothing was done twice; /);
  });
});
