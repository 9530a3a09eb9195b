import { SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InvalidOptionError } from "../../lib/core/errors.ts";
import { readEnvelope } from "../../lib/messaging/envelope.ts";
import { FifoProducer } from "../../lib/messaging/fifo-producer.ts";
import { DEFAULTS, type FifoProducerOptions } from "../../lib/messaging/options.ts";
import { receive } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { loseAnswers } from "../kit/faults/faulty-client.ts";
import { noteRequests } from "../kit/faults/faulty-sqs.ts";
import { newWorld, type World } from "./given.ts";

const MINUTE = 60_000;
const PAID = { key: "order-7/paid", group: "7", body: "paid" };

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

afterEach(() => world.stop());

const bodies = async () => (await world.drain()).map(({ Body }) => Body);

describe("FifoProducer's options", () => {
  const make = (options: unknown) => () => new FifoProducer(options as FifoProducerOptions);
  const queueUrl = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";

  it("refuses a URL from a variable that is not set, naming the option", () => {
    expect(make({ queueUrl: process.env.NOT_SET_ANYWHERE })).toThrow(InvalidOptionError);
    expect(make({ queueUrl: process.env.NOT_SET_ANYWHERE })).toThrow(
      "`queueUrl` must be the URL of a FIFO queue, which ends in .fifo (got undefined)",
    );
  });

  it("accepts a queue's URL, a client and the dependencies that tests inject", () => {
    make({ queueUrl })();
    make({ queueUrl, client: world.client, maxTries: 20 })();
    make({
      queueUrl,
      client: undefined,
      maxTries: undefined,
      clock: DEFAULTS.clock,
      random: DEFAULTS.random,
    })();
  });

  it.each<[string, object]>([
    ["queueUrl", { queueUrl: "https://sqs.eu-central-1.amazonaws.com/123456789012/payments" }],
    ["queueUrl", { queueUrl: "payments.fifo" }],
    ["queueUrl", { queueUrl: "arn:aws:sqs:eu-central-1:123456789012:payments.fifo" }],
    ["queueUrl", { queueUrl: "https://[.fifo" }],
    ["queueUrl", { queueUrl: 7 }],
    ["client", { client: {} }],
    ["maxTries", { maxTries: 0 }],
    ["maxTries", { maxTries: 21 }],
    ["maxTries", { maxTries: 1.5 }],
    ["clock", { clock: {} }],
    ["random", { random: {} }],
    ["contentBasedDeduplication", { contentBasedDeduplication: true }],
  ])("refuses a wrong %s", (option, options) => {
    expect(make({ queueUrl, ...options })).toThrow(InvalidOptionError);
    expect(make({ queueUrl, ...options })).toThrow(`\`${option}\``);
  });
});

describe("FifoProducer.send", () => {
  it("sends body, group and envelope, and answers with SQS's ids", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const sent = await world.producer.send({ key: "order-7", group: "7", body: { cents: 700 }, traceparent });

    const [message] = await receive(world.subject, world.queueUrl);
    expect(message).toMatchObject({ Body: '{"cents":700}', MessageId: sent.messageId });
    expect(message?.Attributes).toMatchObject({ MessageGroupId: "7", SequenceNumber: sent.sequenceNumber });
    expect(sent.sent).toBe(true);
    expect(readEnvelope(message?.MessageAttributes)).toEqual({
      found: true,
      envelope: { key: "order-7", traceparent },
    });
  });

  it("sends nothing new for 5 minutes, and answers alike", async () => {
    const first = await world.producer.send(PAID);
    await world.clock.advance(5 * MINUTE - 1);

    expect(await world.newProducer().send(PAID)).toEqual(first);
    expect(await bodies()).toEqual(["paid"]);
  });

  it.each(["queue", "messageGroup"])(
    "keeps groups apart that share a key (deduplication by %s)",
    async (scope) => {
      const url = await world.newQueue({ DeduplicationScope: scope });
      const producer = world.newProducer({ queueUrl: url });

      await producer.send({ key: "a", group: "1", body: "to 1" });
      await producer.send({ key: "a", group: "2", body: "to 2" });

      expect((await world.drain(url)).map(({ Body }) => Body).sort()).toEqual(["to 1", "to 2"]);
    },
  );

  it("H32: delivers equal bodies under different keys twice, though the queue deduplicates by content", async () => {
    const url = await world.newQueue({ ContentBasedDeduplication: "true" });
    const producer = world.newProducer({ queueUrl: url });

    await producer.send({ key: "order-1", group: "7", body: "one book" });
    await producer.send({ key: "order-2", group: "7", body: "one book" });

    const delivered = await world.drain(url);
    expect(delivered.map(({ MessageAttributes }) => readEnvelope(MessageAttributes))).toEqual(
      ["order-1", "order-2"].map((key) => ({ found: true, envelope: { key } })),
    );
  });

  it("H32: sends one message once, though its body contains a different time", async () => {
    await world.producer.send({ key: "a", group: "7", body: { at: 1 } });
    await world.producer.send({ key: "a", group: "7", body: { at: 2 } });

    expect(await bodies()).toEqual(['{"at":1}']);
  });

  it("delivers once when the answer was lost and the SDK sends again", async () => {
    const client = new SQSClient({ ...connection(world), maxAttempts: 2 });
    loseAnswers(client, 1);

    await world.newProducer({ client }).send(PAID);
    client.destroy();

    expect(await bodies()).toEqual(["paid"]);
  });

  it.each([{ key: undefined }, { group: "" }, { body: new Date(0) }, { deduplicationId: "random" }])(
    "sends nothing for a message it refuses (%#)",
    async (change) => {
      const requests = noteRequests(world.client);

      await expect(world.producer.send({ ...PAID, ...change } as typeof PAID)).rejects.toMatchObject({
        code: expect.stringMatching(/^(MESSAGE_ID|PAYLOAD)_INVALID$/),
      });
      expect(requests).toEqual([]);
    },
  );
});

const connection = ({ queueUrl }: World) => ({
  endpoint: new URL(queueUrl).origin,
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
});
