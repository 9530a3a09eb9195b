// A rule of EventBridge in front of a FIFO queue: it gives no deduplication ids, and each put event has an id of its own.
import { idempotentBatch } from "onceonly";
import { MessageProducer } from "onceonly/messaging";
import { MemoryStore } from "onceonly/testing";
import { expect, it } from "vitest";
import { Simulator } from "../../packages/explorer/lib/simulator/simulator.ts";

it("an event that is put twice comes twice through a FIFO queue, and its consumer runs it once", async () => {
  const aws = new Simulator();
  const queueUrl = aws.queue("orders.fifo", { contentBasedDeduplication: true });
  const bus = aws.bus("shop", { rules: [{ queue: queueUrl, group: "orders" }] });
  const event = (id: number) => ({
    bus,
    source: "orders",
    detailType: "created",
    key: `order-${id}`,
    body: { id },
  });
  const ran: string[] = [];
  const decisions: string[] = [];
  const consumer = aws.lambda(
    idempotentBatch((_: { body: string }, { idempotency }) => void ran.push(idempotency.key), {
      operation: "take-order",
      store: new MemoryStore(),
      trustedForwarders: [bus],
      observe: ({ decision }) => decisions.push(decision),
    }),
  );
  aws.connectQueue(consumer, { queueUrl });
  const sender = aws.lambda(async () => {
    for (const id of [7, 7, 8]) await new MessageProducer().send(event(id));
  });

  await aws.run(async () => {
    await sender.invoke({});
    await aws.untilIdle();
    await aws.clock.sleep(60_000);
  });

  expect(ran).toEqual(["order-7", "order-8"]);
  expect(decisions.toSorted()).toEqual(["executed", "executed", "replayed"]);
});
