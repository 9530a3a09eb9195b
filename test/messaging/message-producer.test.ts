import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InvalidOptionError } from "../../lib/core/errors.ts";
import type { OutgoingMessage } from "../../lib/core/messages/outgoing-message.ts";
import { readEnvelope } from "../../lib/messaging/envelope.ts";
import {
  MessageProducer,
  type MessageProducerOptions,
  PRODUCER_DEFAULTS,
} from "../../lib/messaging/message-producer.ts";
import { SQS_MAX_BYTES } from "../../lib/messaging/sqs-and-sns.ts";
import { noteRequests } from "../kit/faults/faulty-sqs.ts";
import { newWorld, type World } from "./given.ts";

const MINUTE = 60_000;

let world: World;
let fifo: string;
let standard: string;
let producer: MessageProducer;

beforeEach(async () => {
  world = await newWorld();
  fifo = world.queueUrl;
  standard = await world.newStandardQueue();
  producer = world.newMessageProducer();
});

afterEach(() => world.stop());

const bodies = async (url: string) => (await world.drain(url)).map(({ Body }) => String(Body));
const paid = (queue: string) => ({ queue, key: "order-7/paid", group: "7", body: { cents: 700 } });

describe("MessageProducer's options", () => {
  const make = (options: unknown) => () => new MessageProducer(options as MessageProducerOptions);

  it("needs none, and accepts clients and the dependencies that tests inject", () => {
    new MessageProducer();
    const { client: sns } = world;
    make({ sqs: world.client, sns, eventBridge: sns, ...PRODUCER_DEFAULTS, maxTries: 20 })();
    make({ sqs: undefined, sns: undefined, eventBridge: undefined, maxTries: undefined })();
  });

  it.each<[string, object]>([
    ["sqs", { sqs: {} }],
    ["sns", { sns: "client" }],
    ["eventBridge", { eventBridge: null }],
    ["maxTries", { maxTries: 0 }],
    ["clock", { clock: {} }],
    ["random", { random: {} }],
    ["queueUrl", { queueUrl: "https://sqs.us-east-1.amazonaws.com/000000000000/payments" }],
  ])("refuses a wrong %s", (option, options) => {
    expect(make(options)).toThrow(InvalidOptionError);
    expect(make(options)).toThrow(`\`${option}\``);
  });
});

describe("MessageProducer.send", () => {
  it("sends to a FIFO queue under derived ids, with the envelope, and answers with SQS's ids", async () => {
    const sent = await producer.send(paid(fifo));

    const [message] = await world.drain(fifo);
    expect(message).toMatchObject({ Body: '{"cents":700}', MessageId: sent.messageId });
    expect(message?.Attributes).toMatchObject({ MessageGroupId: "7", SequenceNumber: sent.sequenceNumber });
    expect(readEnvelope(message?.MessageAttributes)).toEqual({
      found: true,
      envelope: { key: "order-7/paid" },
    });
  });

  it("sends the message of a FifoProducer under the same ids: the queue delivers it once", async () => {
    const { queue: _, ...message } = paid(fifo);
    await world.producer.send(message);
    await world.clock.advance(5 * MINUTE - 1);
    await producer.send(paid(fifo));

    expect(await bodies(fifo)).toEqual(['{"cents":700}']);
  });

  it("sends to a standard queue with the envelope, and without a number in a sequence", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const sent = await producer.send({ queue: standard, key: "order-7/paid", body: "paid", traceparent });

    const [message] = await world.drain(standard);
    expect(sent).toEqual({ sent: true, messageId: message?.MessageId, sequenceNumber: "" });
    expect(readEnvelope(message?.MessageAttributes)).toEqual({
      found: true,
      envelope: { key: "order-7/paid", traceparent },
    });
  });

  it("H31: sends twice to a standard queue, which drops no duplicate, under one key", async () => {
    await producer.send(paid(standard));
    await producer.send(paid(standard));

    const keys = (await world.drain(standard)).map(({ MessageAttributes }) =>
      readEnvelope(MessageAttributes),
    );
    expect(keys).toEqual(Array(2).fill({ found: true, envelope: { key: "order-7/paid" } }));
  });

  it("lets a standard queue share its consumers out fairly between groups", async () => {
    await producer.send({ ...paid(standard), group: "größe" });

    const [message] = await world.drain(standard);
    expect(message?.Attributes?.MessageGroupId).toMatch(/^sha256:/);
    expect(message?.Attributes?.MessageDeduplicationId).toBeUndefined();
  });

  it.each<Partial<OutgoingMessage>>([
    { key: "" },
    { group: undefined },
    { body: undefined },
    { queue: undefined },
    { traceparent: "a", key: "undefined" },
  ])("sends nothing for a message it refuses (%#)", async (change) => {
    const requests = noteRequests(world.client);

    await expect(producer.send({ ...paid(fifo), ...change } as OutgoingMessage)).rejects.toMatchObject({
      code: expect.stringMatching(/^(MESSAGE_ID|PAYLOAD)_INVALID$/),
      message: expect.stringMatching(/^the message: /),
    });
    expect(requests).toEqual([]);
  });

  it("accepts 1 MiB with the envelope for a queue, and no byte more", async () => {
    const envelope = Buffer.byteLength(`OnceonlyEnvelopeString{"v":1,"key":"order-7"}`);
    const body = "b".repeat(SQS_MAX_BYTES - envelope);

    await producer.send({ queue: standard, key: "order-7", body });

    expect((await bodies(standard))[0]).toHaveLength(body.length);
    await expect(producer.send({ queue: standard, key: "order-7", body: `${body}b` })).rejects.toThrow(
      `the message: body and envelope are ${SQS_MAX_BYTES + 1} bytes, but SQS accepts only ${SQS_MAX_BYTES}`,
    );
  });
});
