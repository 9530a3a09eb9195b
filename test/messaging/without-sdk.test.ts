// Senders without the clients of the SDK, which are optional peers.
import { afterEach, describe, expect, it, vi } from "vitest";
import { FifoProducer } from "../../lib/messaging/fifo-producer.ts";
import { MessageProducer } from "../../lib/messaging/message-producer.ts";
import { failureOf } from "./given.ts";

const queueUrl = "https://sqs.us-east-1.amazonaws.com/000000000000/payments.fifo";
const PAID = { key: "order-7/paid", group: "7", body: "paid" };

const KINDS = [
  ["@aws-sdk/client-sqs", { queue: queueUrl, ...PAID }],
  ["@aws-sdk/client-sns", { topic: "arn:aws:sns:us-east-1:000000000000:orders", ...PAID }],
  ["@aws-sdk/client-eventbridge", { bus: "orders", source: "shop", detailType: "paid", key: "7", body: {} }],
] as const;

afterEach(() => {
  for (const [name] of KINDS) vi.doUnmock(name);
});

/** Imports of these packages fail, and are counted. */
function withoutPackages(): string[] {
  const asked: string[] = [];
  for (const [name] of KINDS) {
    vi.doMock(name, () => {
      asked.push(name);
      throw new Error("not installed");
    });
  }
  return asked;
}

describe("FifoProducer without @aws-sdk/client-sqs", () => {
  it("is constructed, and fails the messages that it is to send", async () => {
    withoutPackages();

    const producer = new FifoProducer({ queueUrl });

    await new Promise((resolve) => setImmediate(resolve));
    await expect(producer.send(PAID)).rejects.toMatchObject({ code: "SEND_FAILED", retryable: true });
  });
});

describe("MessageProducer without @aws-sdk/client-scheduler", () => {
  it("fails a message with `deliverAt`, and loads the package again for the next one", async () => {
    vi.doMock("@aws-sdk/client-scheduler", () => {
      throw new Error("not installed");
    });
    const sent: unknown[] = [];
    const client = { config: {}, send: async (command: unknown) => void sent.push(command) };
    const scheduler = {
      groupArn: "arn:aws:scheduler:us-east-1:000000000000:schedule-group/later",
      roleArn: "arn:aws:iam::000000000000:role/scheduler",
      client,
    };
    const producer = new MessageProducer({ scheduler });
    const later = { ...PAID, queue: queueUrl, deliverAt: new Date(Date.now() + 86_400_000) };

    const { cause } = await failureOf(producer.send(later));
    vi.doUnmock("@aws-sdk/client-scheduler");
    await producer.send(later);

    expect(cause).toMatchObject({
      message:
        "sending these messages needs @aws-sdk/client-scheduler: npm install @aws-sdk/client-scheduler",
    });
    expect(sent).toHaveLength(1);
  });
});

describe("MessageProducer without packages of the SDK", () => {
  it.each(KINDS)("loads %s for its first message and none before", async (name, message) => {
    const asked = withoutPackages();
    const producer = new MessageProducer();
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toEqual([]);

    const { cause } = await failureOf(producer.send(message));

    expect(asked).toEqual([name]);
    expect(cause).toMatchObject({
      message: `sending these messages needs ${name}: npm install ${name}`,
      cause: expect.any(Error),
    });
  });

  it("loads again what could not be loaded, for example for lack of file handles", async () => {
    withoutPackages();
    const sqs = { config: {}, send: async () => ({ Successful: [{ Id: "0" }] }) };
    const producer = new MessageProducer({ sqs });
    await failureOf(producer.send(KINDS[0][1]));
    vi.doUnmock("@aws-sdk/client-sqs");

    await expect(producer.send(KINDS[0][1])).resolves.toMatchObject({ sent: true });
  });

  it("sends the messages for which it has the package", async () => {
    withoutPackages();
    vi.doUnmock("@aws-sdk/client-sqs");
    const sqs = { config: {}, send: async () => ({ Successful: [{ Id: "0" }] }) };

    const { results } = await failureOf(
      new MessageProducer({ sqs }).sendBatch(KINDS.map(([, message]) => message)),
    );

    expect(results.map(({ sent }) => sent)).toEqual([true, false, false]);
  });
});
