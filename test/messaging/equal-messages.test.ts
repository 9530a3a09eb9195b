import { SendMessageCommand } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { connect } from "../kit/tables.ts";
import { type ConsumerWorld, newConsumerWorld } from "./consumer-world.ts";

const withoutTime = ({ body }: SQSRecord) => ({ ...JSON.parse(body), sentAt: null });

describe.each(inject("dynamodbEngines"))("idempotentBatch after equal messages, on $name", ({ endpoint }) => {
  const dynamodb = connect(endpoint);
  let world: ConsumerWorld;

  beforeEach(async () => {
    world = await newConsumerWorld(dynamodb);
  });

  afterEach(() => world.stop());

  it("H32: two equal bodies under different keys are two effects", async () => {
    const consumer = world.newConsumer();
    const first = world.newMessage();
    const second = { ...first, key: `${first.key}/again` };

    await world.producer.sendBatch([first, second]);

    expect(await consumer.poll()).toHaveLength(2);
    expect(await world.chargesOf(first)).toBe(2);
  });

  it("H32: two equal bodies without their own ids are one message if the queue deduplicates by content", async () => {
    const { key: _, ...message } = world.newMessage();
    await expect(world.producer.send(message as never)).rejects.toMatchObject({
      code: "MESSAGE_ID_INVALID",
    });

    const [MessageBody, MessageGroupId] = [JSON.stringify(message.body), message.group];
    const byContent = await world.newQueue({ ContentBasedDeduplication: "true" });
    for (let orders = 0; orders < 2; orders++) {
      await world.sqs.send(new SendMessageCommand({ QueueUrl: byContent, MessageBody, MessageGroupId }));
    }

    expect(await world.receive(byContent)).toHaveLength(1);
  });

  it.each([
    ["trace", false, {}],
    ["time in the body", true, { fingerprint: withoutTime }],
  ])("H32: another %s does not turn a key into another operation", async (_, hasTime, options) => {
    const consumer = world.newConsumer(options);
    const message = world.newMessage();
    const sendAt = (time: string, traceId: string) =>
      world.producer.send({
        ...message,
        body: { ...message.body, ...(hasTime && { sentAt: time }) },
        traceparent: `00-${traceId.repeat(32)}-00f067aa0ba902b7-01`,
      });

    await sendAt("10:00", "a");
    await sendAt("10:01", "b");
    expect(await consumer.poll()).toHaveLength(1);
    await world.minutes(6);
    await sendAt("10:06", "c");

    expect(await consumer.poll()).toHaveLength(1);
    expect([await world.chargesOf(message), consumer.reported("replayed")]).toEqual([1, 1]);
  });

  it("H32: another body under the key of a finished operation is refused, not run", async () => {
    const consumer = world.newConsumer();
    const message = world.newMessage();
    await world.producer.send(message);
    await consumer.poll();
    await world.minutes(6);

    await world.producer.send({ ...message, body: { ...message.body, sentAt: "10:06" } as never });
    await consumer.poll();

    expect([await world.chargesOf(message), consumer.reported("mismatch")]).toEqual([1, 1]);
    expect(consumer.errors).toMatchObject([{ code: "FINGERPRINT_MISMATCH" }]);
  });
});
