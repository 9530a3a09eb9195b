import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { readEnvelope } from "onceonly/messaging";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { connect } from "../kit/tables.ts";
import { type ConsumerWorld, MAX_RECEIVES, newConsumerWorld } from "./consumer-world.ts";

describe.each(inject("dynamodbEngines"))("idempotentBatch after a redrive, on $name", ({ endpoint }) => {
  const dynamodb = connect(endpoint);
  let world: ConsumerWorld;

  beforeEach(async () => {
    world = await newConsumerWorld(dynamodb);
  });

  afterEach(() => world.stop());

  it("H28: an operation that was completed stays one effect, under new ids of SQS and the same key", async () => {
    const consumer = world.newConsumer();
    const message = world.newMessage();
    const sent = await world.producer.send(message);
    await consumer.exhaust("lost");
    const [dead] = await world.deadLetters();

    await world.redrive();
    const redriven = await consumer.poll();

    expect(dead?.MessageId).toBe(sent.messageId);
    expect(dead?.Attributes?.MessageDeduplicationId).toBe(sent.messageId);
    expect(redriven).toHaveLength(1);
    expect(redriven[0]?.MessageId).not.toBe(sent.messageId);
    expect(readEnvelope(redriven[0]?.MessageAttributes)).toMatchObject({ envelope: { key: message.key } });
    expect(await world.chargesOf(message)).toBe(1);
    expect(consumer.attempts).toEqual([1]);
    expect(consumer.reported("replayed")).toBe(MAX_RECEIVES);
    expect(await consumer.poll()).toEqual([]);
  });

  it("H28: an operation that failed runs again once, counting on, and has one effect", async () => {
    const consumer = world.newConsumer();
    const message = world.newMessage();
    await world.producer.send(message);
    consumer.fate = "fails";
    await consumer.exhaust();
    expect([await world.chargesOf(message), consumer.attempts]).toEqual([0, [1, 2, 3]]);

    consumer.fate = "charges";
    await world.redrive();
    await consumer.exhaust("lost");
    await world.redrive();
    await consumer.poll();

    expect(await world.chargesOf(message)).toBe(1);
    expect(consumer.attempts).toEqual([1, 2, 3, 4]);
    expect([await world.deadLetters(), await consumer.poll()]).toEqual([[], []]);
  });

  it("H28: an operation that never ended, and was never released, runs again under the redriven message", async () => {
    const consumer = world.newConsumer();
    const message = world.newMessage();
    await world.producer.send(message);
    consumer.fate = "hangs";
    await consumer.exhaust();
    expect([await world.chargesOf(message), consumer.attempts]).toEqual([0, [1, 2, 3]]);

    consumer.fate = "charges";
    await world.redrive();
    await consumer.exhaust();

    expect([await world.chargesOf(message), consumer.attempts]).toEqual([1, [1, 2, 3, 4]]);
    expect([consumer.reported("released"), consumer.reported("taken-over")]).toEqual([0, 3]);
  });

  it("H28: a final error stays final: it is replayed, and the message parked again", async () => {
    const message = world.newMessage();
    const consumer = world.newConsumer({ isFinalError: () => true });
    await world.producer.send(message);
    consumer.fate = "fails";
    await consumer.exhaust();

    consumer.fate = "charges";
    await world.redrive();
    await consumer.exhaust();

    expect([await world.chargesOf(message), consumer.attempts]).toEqual([0, [1]]);
    expect(await world.deadLetters()).toHaveLength(1);
  });

  it("H28: without an envelope a redriven message is another operation, which is reported", async () => {
    const consumer = world.newConsumer();
    const message = world.newMessage();
    const ids = { MessageGroupId: message.group, MessageDeduplicationId: "by-hand" };
    const MessageBody = JSON.stringify(message.body);
    await world.sqs.send(new SendMessageCommand({ QueueUrl: world.queue, MessageBody, ...ids }));
    await consumer.exhaust("lost");

    await world.redrive();
    await consumer.poll();

    expect(await world.chargesOf(message)).toBe(2);
    expect(consumer.reported("key-fallback")).toBe(MAX_RECEIVES + 1);
  });
});
