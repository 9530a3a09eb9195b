// Attributes beside the envelope, and messages that are kept back: as queues and topics take them.
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../lib/contract.ts";
import { MessageProducer } from "../../lib/messaging/message-producer.ts";
import { sqsEntry } from "../../lib/messaging/sqs-and-sns.ts";
import { Simulator } from "../../packages/explorer/lib/simulator/simulator.ts";
import { receive } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { connect } from "../kit/tables.ts";
import { newWorld, type World } from "./given.ts";
import { newOutboxWorld, type OutboxWorld } from "./outbox-world.ts";

const ATTRIBUTES = { kind: "paid", cents: 1250 };
const IN_SQS = {
  kind: { DataType: "String", StringValue: "paid" },
  cents: { DataType: "Number", StringValue: "1250" },
  [ENVELOPE_ATTRIBUTE]: { DataType: "String", StringValue: expect.stringContaining("order-7") },
};

describe("messages from a producer to queues", () => {
  let world: World;
  let standard: string;

  beforeEach(async () => {
    world = await newWorld();
    standard = await world.newStandardQueue();
  });
  afterEach(() => world.stop());

  it("arrives with its attributes next to the envelope", async () => {
    const message = { key: "order-7", group: "7", body: "b", attributes: ATTRIBUTES };
    await world.newMessageProducer().send({ queue: standard, ...message });
    await world.producer.send(message);
    await world.producer.resend({ ...message, attempt: 1 });

    for (const [url, count] of [
      [standard, 1],
      [world.queueUrl, 2],
    ] as const) {
      const taken = await world.drain(url);
      expect(taken.map(({ MessageAttributes }) => MessageAttributes)).toEqual(
        Array.from({ length: count }, () => IN_SQS),
      );
    }
  });

  it("accepts ten in all: a message with nine, and the longest envelope, arrives", async () => {
    const attributes = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`a${index}`, index]));

    await world.producer.send({ key: "\uFFFF".repeat(255), group: "7", body: "b", attributes });

    const [message] = await world.drain();
    expect(Object.keys(message?.MessageAttributes ?? {})).toHaveLength(10);
  });

  it("is kept back on a standard queue, each message for its own time", async () => {
    const send = (key: string, delaySeconds?: number) => ({ queue: standard, key, body: key, delaySeconds });
    await world.newMessageProducer().sendBatch([send("at-once"), send("late", 900), send("zero", 0)]);

    const bodies = async () => (await world.drain(standard)).map(({ Body }) => Body).sort();
    expect(await bodies()).toEqual(["at-once", "zero"]);
    await world.clock.advance(899_000);
    expect(await bodies()).toEqual([]);
    await world.clock.advance(1000);
    expect(await bodies()).toEqual(["late"]);
  });

  it("is rejected with a delay if the queue is FIFO, and nothing is sent", async () => {
    const message = { key: "order-7", group: "7", body: "b", delaySeconds: 60 };
    const producer = world.newMessageProducer();

    await expect(producer.send({ queue: world.queueUrl, ...message })).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
    });
    await expect(world.producer.send(message as never)).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });
    expect(await world.drain()).toEqual([]);
  });
});

it("the filter policies of a topic's subscriptions read the attributes, and raw delivery hands them on", async () => {
  const aws = new Simulator();
  const [large, small] = [aws.queue("large"), aws.queue("small")];
  const topic = aws.topic("orders", {
    subscriptions: [
      { queue: large, raw: true, filterPolicy: { kind: ["paid"], cents: [{ numeric: [">=", 1000] }] } },
      { queue: small, raw: true, filterPolicy: { cents: [{ numeric: ["<", 1000] }] } },
    ],
  });
  const fn = aws.lambda(() =>
    new MessageProducer().sendBatch([
      { topic, key: "order-7", body: "7", attributes: ATTRIBUTES },
      { topic, key: "order-8", body: "8", attributes: { kind: "paid", cents: 12.5 } },
      { topic, key: "order-9", body: "9" },
    ]),
  );
  await aws.run(async () => {
    await fn.invoke({});
    await aws.untilIdle();
  });

  const messagesIn = async (QueueUrl: string) =>
    (
      await aws.sqs.call("ReceiveMessage", {
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ["All"],
      })
    ).Messages;
  expect(await messagesIn(large)).toMatchObject([{ Body: "7", MessageAttributes: IN_SQS }]);
  expect(await messagesIn(small)).toMatchObject([{ Body: "8" }]);
});

it("an attribute planted in a stored message does not replace its envelope", () => {
  const attributes = { [ENVELOPE_ATTRIBUTE]: '{"v":1,"key":"forged"}', kind: "paid" };
  const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";

  const { form } = sqsEntry({ queue, key: "order-7", body: "b", attributes });

  expect(form.MessageAttributes[ENVELOPE_ATTRIBUTE]?.StringValue).toBe('{"v":1,"key":"order-7"}');
});

describe.each(inject("dynamodbEngines"))("messages of commits, on $name", ({ endpoint }) => {
  const dynamodb = connect(endpoint);
  let world: OutboxWorld;

  beforeEach(async () => {
    world = await newOutboxWorld(dynamodb, endpoint);
  });
  afterEach(() => world.stop());

  const commit = (key: string, attributes: object) =>
    world.order({ key, messages: [world.message("order-7", { attributes })] });

  it("arrive with the attributes that were committed; other attributes under the same key arrive too", async () => {
    await commit("1", ATTRIBUTES);
    await commit("2", { cents: 1250, kind: "paid" });
    await commit("3", { kind: "refunded" });

    expect(await world.relay()).toBe(0);

    const received = await receive(world.subject, world.queue);
    expect(received.map(({ MessageAttributes }) => MessageAttributes?.kind?.StringValue)).toEqual([
      "paid",
      "refunded",
    ]);
    expect(received[0]?.MessageAttributes).toEqual(IN_SQS);
  });

  it.each<[string, object]>([
    [
      "too many attributes",
      { attributes: Object.fromEntries("abcdefghij".split("").map((name) => [name, 1])) },
    ],
    ["an attribute of a reserved name", { attributes: { OnceonlyEnvelope: "x" } }],
    ["an empty attribute", { attributes: { kind: "" } }],
    ["an attribute that is none", { attributes: { kind: process.env.NOT_SET_ANYWHERE } }],
    ["a delay in a FIFO queue", { delaySeconds: 1 }],
  ])("are refused with %s, before anything is written", async (_, change) => {
    const messages = [world.message("a1"), world.message("a2", change)];

    await expect(world.order({ key: "order-1", messages })).rejects.toMatchObject({
      code: "COMMIT_INVALID",
      message: expect.stringContaining("messages[1]: "),
    });

    expect([await world.hasOrderRow("order-1"), await world.isUnsent("order-1")]).toEqual([false, false]);
  });
});
