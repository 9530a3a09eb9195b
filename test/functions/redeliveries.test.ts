// What queues, streams and producers do more than once, or not at all, to the message that has an order paid.
import { ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { readEnvelope } from "onceonly/messaging";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Shop, startShop } from "./world.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
}, 120_000);
afterAll(() => shop?.stop());

const paidOnce = {
  state: "paid",
  payments: [expect.anything()],
  ledger: [expect.objectContaining({ chargeId: expect.any(String), attempts: 1 })],
};

describe("the message that has an order paid", () => {
  it("H28: charges once, whatever ids copies of it have", async () => {
    const QueueUrl = shop.stack.queues.PaymentsQueue?.url;
    const consumer = shop.eventSourceOf("ChargePayment");
    await consumer.disable();
    const { id } = await shop.order("card_ok");
    await shop.until(async () => (await shop.countMessages("PaymentsQueue")).visible === 1);
    const { Messages: [message] = [] } = await shop.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MessageAttributeNames: ["All"], AttributeNames: ["All"] }),
    );
    for (const MessageDeduplicationId of ["copy-1", "copy-2"]) {
      await shop.sqs.send(
        new SendMessageCommand({
          QueueUrl,
          MessageBody: message?.Body,
          MessageAttributes: message?.MessageAttributes,
          MessageGroupId: id,
          MessageDeduplicationId,
        }),
      );
    }
    consumer.enable();
    await shop.passVisibilityTimeout();
    await shop.settled();

    expect(message?.Attributes?.MessageGroupId).toBe(id);
    expect(readEnvelope(message?.MessageAttributes)).toMatchObject({ envelope: { key: id } });
    expect(JSON.parse(message?.Body ?? "")).toEqual({ tenant: "acme", orderId: id });
    expect(await shop.effectsOf(id)).toEqual(paidOnce);
  });

  it("H34: is sent by the sweeper while the stream is off, and charges once when that comes back", async () => {
    const relay = shop.eventSourceOf("Outbox/Relay");
    await relay.disable();
    const { id } = await shop.order("card_ok");
    await shop.ageUnsent();
    await shop.stack.schedules["Outbox/Sweep"]?.fire();
    await shop.settled();
    const swept = await shop.effectsOf(id);
    relay.enable();
    const next = await shop.order("card_ok");
    await shop.settled();

    expect(swept).toEqual(paidOnce);
    expect(await shop.effectsOf(next.id)).toEqual(paidOnce);
    expect(await shop.effectsOf(id)).toEqual(paidOnce);
  });

  it("H24: is hidden, and reported as in progress, not as failed, while another consumer works on it", async () => {
    // The relay has reported what the sweeper sent before.
    const before = shop.errors.length;
    const { id } = await shop.order("card_slow");
    await shop.asked(id, 1);
    await shop.passVisibilityTimeout();
    await shop.settled();

    expect(await shop.effectsOf(id)).toEqual(paidOnce);
    const others = shop.errors
      .slice(before)
      .filter((line) => !line.includes("0 of 1 records succeeded (1 in progress elsewhere)"));
    expect(others).toEqual([]);
  });

  it("H24: goes to the dead-letter queue if it is malformed, and holds up no other", async () => {
    const QueueUrl = shop.stack.queues.PaymentsQueue?.url;
    const malformed = { MessageBody: "pay!", MessageGroupId: "malformed", MessageDeduplicationId: "1" };
    await shop.sqs.send(new SendMessageCommand({ QueueUrl, ...malformed }));
    const { id } = await shop.order("card_ok");
    await shop.attempted(id, 1);
    const meanwhile = await shop.countMessages("PaymentsQueue/DeadLetters");
    await shop.until(async () => {
      await shop.passVisibilityTimeout();
      return (await shop.countMessages("PaymentsQueue/DeadLetters")).visible > 0;
    });
    await shop.settled();

    expect(meanwhile).toEqual({ visible: 0, inFlight: 0 });
    expect(await shop.countMessages("PaymentsQueue/DeadLetters")).toEqual({ visible: 1, inFlight: 0 });
    expect(await shop.effectsOf(id)).toEqual(paidOnce);
  });
});
