// From an order to its payment, through outbox, relay, queue and gateway: on local engines, as `npm start` runs it.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type Shop, startShop } from "./world.ts";

const COUNTED = ["Executed", "Replayed", "OutboxSent"];

/** One charge, at which the gateway saw so many attempts, and one payment of it. */
async function expectOnePayment(shop: Shop, orderId: string, attempts: number): Promise<void> {
  const { state, payments, ledger } = await shop.effectsOf(orderId);
  const chargeId = ledger[0]?.chargeId;
  expect(chargeId).toEqual(expect.any(String));
  expect({ state, payments, ledger }).toEqual({
    state: "paid",
    payments: [{ tenant: "acme", orderId, chargeId, amountCents: 500, paidAt: expect.any(String) }],
    ledger: [expect.objectContaining({ orderId, chargeId, amountCents: 500, attempts })],
  });
}

describe.each(inject("dynamodbEngines"))("an order, on $name", ({ endpoint }) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(endpoint);
  }, 120_000);
  afterAll(() => shop?.stop());

  // The first to run: the counts are of everything that was logged.
  it("is counted on its way, under the service that the stack's alarms look at", async () => {
    const key = randomUUID();

    await shop.order("card_ok", key);
    await shop.order("card_ok", key);
    await shop.settled();

    const counts = () =>
      shop.measured
        .filter(({ service }) => service === "OnceonlySample")
        .flatMap(({ operation, ...line }) =>
          COUNTED.filter((name) => name in line).map((name) => `${operation} ${name}`),
        );
    await shop.until(async () => counts().length >= 4);
    expect(counts().sort()).toEqual([
      "charge-payment Executed",
      "create-order Executed",
      "create-order OutboxSent",
      "create-order Replayed",
    ]);
  });

  it("is charged and paid once", async () => {
    const { id } = await shop.order("card_ok");
    await shop.settled();

    await expectOnePayment(shop, id, 1);
  });

  it("is charged once for all requests of its key", async () => {
    const key = randomUUID();

    const first = await shop.order("card_ok", key);
    const second = await shop.order("card_ok", key);
    await shop.settled();
    const third = await shop.order("card_ok", key);
    await shop.settled();

    expect([first, second, third].map(({ id, replayed }) => [id, replayed])).toEqual([
      [first.id, false],
      [first.id, true],
      [first.id, true],
    ]);
    await expectOnePayment(shop, first.id, 1);
  });

  it("is declined if its card is, without a payment", async () => {
    const { id } = await shop.order("card_declined");
    await shop.settled();

    const { state, payments, ledger } = await shop.effectsOf(id);
    expect({ state, payments }).toEqual({ state: "declined", payments: [] });
    expect(ledger).toEqual([expect.objectContaining({ attempts: 1 })]);
    expect(ledger[0]).not.toHaveProperty("chargeId");
  });

  it("is paid at the first attempt by a slow gateway", async () => {
    const { id } = await shop.order("card_slow");
    await shop.settled();

    await expectOnePayment(shop, id, 1);
  });

  it("is charged once by a gateway that charges and loses its answer", async () => {
    const { id } = await shop.order("card_answer_lost");
    await shop.attempted(id, 1);
    const unknown = await shop.effectsOf(id);
    await shop.passVisibilityTimeout();
    await shop.settled();

    expect(unknown).toMatchObject({ state: "created", payments: [], ledger: [{ attempts: 1 }] });
    expect(unknown.ledger[0]).toHaveProperty("chargeId");
    await expectOnePayment(shop, id, 2);
  });

  it("is charged once by a gateway that fails at first", async () => {
    const { id } = await shop.order("card_fails_first");
    for (const attempts of [1, 2]) {
      await shop.attempted(id, attempts);
      await shop.passVisibilityTimeout();
    }
    await shop.settled();

    await expectOnePayment(shop, id, 3);
  });
});
