// The id by which a FIFO queue knows a committed message: the stored message is the same at each send.
import type { SQSRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { sqsRecord } from "../../packages/explorer/lib/aws/event-sources/sqs-record.ts";
import type { ReceivedMessage } from "../../packages/explorer/lib/aws/sqs/operations.ts";
import { receive } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { connect } from "../kit/tables.ts";
import { answered } from "../lambda/batch/given.ts";
import { given } from "../lambda/given.ts";
import { newOutboxWorld, type OutboxWorld } from "./outbox-world.ts";

const QUEUE_ARN = "arn:aws:sqs:us-east-1:000000000000:payments.fifo";

describe.each(inject("dynamodbEngines"))("messages of commits, on $name", ({ endpoint }) => {
  const dynamodb = connect(endpoint);
  let world: OutboxWorld;

  beforeEach(async () => {
    world = await newOutboxWorld(dynamodb, endpoint);
  });
  afterEach(() => world.stop());

  /** Commits one message in an order of its own. */
  const commit = (key: string, message: object) =>
    world.order({ key, messages: [world.message("a1", message)] });

  async function consumeAll() {
    const { options, context } = given();
    const ran: string[] = [];
    const errors: unknown[] = [];
    const handler = idempotentBatch(({ body }: SQSRecord) => void ran.push(body), {
      ...options,
      operation: "charge-payment",
      onRecordError: (error) => errors.push(error),
    });
    const received = await receive(world.subject, world.queue);
    const Records = received.map(
      (message) => sqsRecord(message as ReceivedMessage, QUEUE_ARN, "us-east-1") as SQSRecord,
    );
    const { batchItemFailures } = await answered(handler({ Records }, context()));
    return { delivered: received.length, ran, errors, returned: batchItemFailures.length };
  }

  it("another body under the same key and group, within 5 minutes, is delivered, and its consumer refuses it", async () => {
    await commit("order-1", { body: "10 EUR" });
    await world.relay();
    await commit("order-2", { body: "20 EUR" });

    expect(await world.relay()).toBe(0);

    expect(await consumeAll()).toEqual({
      delivered: 2,
      ran: ["10 EUR"],
      errors: [expect.objectContaining({ code: "FINGERPRINT_MISMATCH" })],
      returned: 1,
    });
  });

  it("the same message of two commits, and a message that is sent twice, are delivered once", async () => {
    await commit("order-1", { body: { cents: 10, of: "order" } });
    await world.relay();
    await commit("order-2", { body: { cents: 10, of: "order" } });
    const batch = await world.nextChanges();
    await world.loseStream();
    expect(batch.length).toBeGreaterThan(0);

    await world.clock.advance(120_000);
    await world.sweep();
    await commit("order-3", { body: { cents: 10, of: "order" } });
    await world.relay();

    expect(await consumeAll()).toMatchObject({
      delivered: 1,
      ran: ['{"cents":10,"of":"order"}'],
      errors: [],
    });
  });

  it("one key in two groups stays two messages to the queue, and one operation to the consumer", async () => {
    await commit("order-1", { body: "10 EUR", group: "a" });
    await commit("order-2", { body: "10 EUR", group: "b" });

    await world.relay();

    expect(await consumeAll()).toMatchObject({ delivered: 2, ran: ["10 EUR"], errors: [] });
  });
});
