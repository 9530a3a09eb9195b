// Events as https://docs.aws.amazon.com/lambda/latest/dg/with-mq.html shows them.
import { idempotent, idempotentBatch } from "onceonly";
import { describe, expect, it, vi } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../../lib/contract.ts";
import { writeEnvelope } from "../../../lib/messaging/sqs-and-sns.ts";
import { given } from "../given.ts";
import { givenBatch } from "./given.ts";

const BROKER = "arn:aws:mq:eu-central-1:123456789012:broker:shop:b-9bcfa592-423a-4942-879d-eb284b418fc8";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const textOf = ({ data }: { readonly data: string }) => Buffer.from(data, "base64").toString();
const envelopeText = writeEnvelope({ key: "order-1" })[ENVELOPE_ATTRIBUTE]?.StringValue ?? "";

interface Message {
  readonly data: string;
  readonly redelivered: boolean;
}

const active = (id: string, body: string, more: object = {}) => ({
  messageID: `ID:b-9bcfa592-1.mq.eu-central-1.amazonaws.com-37557-1234520418293-4:1:1:1:${id}`,
  messageType: "jms/text-message",
  deliveryMode: 1,
  replyTo: null,
  type: null,
  expiration: "60000",
  priority: 1,
  correlationId: "c1",
  redelivered: false,
  destination: { physicalName: "orders" },
  data: base64(body),
  timestamp: 1_598_827_811_958,
  brokerInTime: 1_598_827_811_958,
  brokerOutTime: 1_598_827_811_959,
  properties: { index: "1" },
  ...more,
});
const activeEvent = (...messages: ReturnType<typeof active>[]) => ({
  eventSource: "aws:mq",
  eventSourceArn: BROKER,
  messages,
});

const rabbit = (messageId: string | null, body: string, more: object = {}, headers: object = {}) => ({
  basicProperties: {
    contentType: "text/plain",
    contentEncoding: null,
    headers,
    deliveryMode: 1,
    priority: 34,
    correlationId: null,
    replyTo: null,
    expiration: "60000",
    messageId,
    timestamp: "Jan 1, 1970, 12:33:41 AM",
    type: null,
    userId: "AIDACKCEVSQ6C2EXAMPLE",
    appId: null,
    clusterId: null,
    bodySize: 80,
  },
  redelivered: false,
  data: base64(body),
  ...more,
});
const rabbitEvent = (rmqMessagesByQueue: Record<string, ReturnType<typeof rabbit>[]>) => ({
  eventSource: "aws:rmq",
  eventSourceArn: BROKER,
  rmqMessagesByQueue,
});

function givenConsumer(more: object = {}) {
  const world = givenBatch(more);
  const ran: string[] = [];
  const failing = new Set<string>();
  const handler = idempotentBatch((message: Message) => {
    ran.push(textOf(message));
    if (failing.has(textOf(message))) throw new Error("no");
  }, world.options);
  const deliver = async (event: object) =>
    handler(event as never, world.context()).then(
      () => "done",
      ({ code }) => code,
    );
  return { ...world, ran, failing, deliver };
}

describe("idempotentBatch on Amazon MQ", () => {
  it.each([
    ["ActiveMQ", (more: object = {}) => activeEvent(active("1", "a", more), active("2", "b", more))],
    [
      "RabbitMQ",
      (more: object = {}) =>
        rabbitEvent({ "orders::/": [rabbit("1", "a", more)], "refunds::/": [rabbit("1", "b", more)] }),
    ],
  ])(
    "R5: a failed message of %s brings the whole batch again, and the finished one is skipped",
    async (_, event) => {
      const { deliver, ran, failing, decisions } = givenConsumer({ reportBatchItemFailures: true });
      failing.add("b");

      expect(await deliver(event())).toBe("BATCH_NOT_DONE");
      failing.clear();
      expect(await deliver(event({ redelivered: true, brokerOutTime: 2 }))).toBe("done");

      expect(ran).toEqual(["a", "b", "b"]);
      expect(decisions()).toContain("key-fallback");
    },
  );

  it("R5: a message with other content under the same id is refused", async () => {
    const { deliver, ran, errors } = givenConsumer();

    await deliver(rabbitEvent({ "orders::/": [rabbit("1", "a")] }));
    expect(await deliver(rabbitEvent({ "orders::/": [rabbit("1", "b")] }))).toBe("BATCH_NOT_DONE");

    expect(ran).toEqual(["a"]);
    expect(errors).toMatchObject([{ code: "FINGERPRINT_MISMATCH" }]);
  });

  it("R5: a RabbitMQ message without an id is refused, and the error says what to set", async () => {
    const { deliver, ran, errors } = givenConsumer();

    expect(await deliver(rabbitEvent({ "orders::/": [rabbit(null, "a"), rabbit("2", "b")] }))).toBe(
      "BATCH_NOT_DONE",
    );

    expect(ran).toEqual(["b"]);
    expect(errors).toMatchObject([
      {
        code: "IDEMPOTENCY_KEY_MISSING",
        message: expect.stringContaining("set `messageId` where it is published"),
      },
    ]);
  });

  it("R5: a `key` names messages without an id", async () => {
    const { deliver, ran } = givenConsumer({ key: (message: Message) => textOf(message) });
    const event = rabbitEvent({ "orders::/": [rabbit(null, "a")] });

    expect([await deliver(event), await deliver(event)]).toEqual(["done", "done"]);
    expect(ran).toEqual(["a"]);
  });

  it("R5: the envelope counts in a header's bytes and in a property, and a broken one is refused", async () => {
    const { deliver, ran, errors } = givenConsumer();
    const header = { [ENVELOPE_ATTRIBUTE]: { bytes: [...Buffer.from(envelopeText)] } };

    await deliver(rabbitEvent({ "orders::/": [rabbit(null, "a", {}, header)] }));
    await deliver(activeEvent(active("9", "a", { properties: { [ENVELOPE_ATTRIBUTE]: envelopeText } })));
    expect(ran).toEqual(["a"]);

    await deliver(activeEvent(active("9", "a", { properties: { [ENVELOPE_ATTRIBUTE]: "{" } })));
    expect(errors).toMatchObject([{ code: "IDEMPOTENCY_KEY_INVALID" }]);
  });

  it.each([
    { eventSource: "aws:mq", messages: "a" },
    { eventSource: "aws:rmq", rmqMessagesByQueue: [] },
    { Records: [{ eventSource: "aws:mq", messageID: "1" }] },
    activeEvent({ ...active("1", "a"), messageID: "" }),
    activeEvent(null as never),
  ])("R5: refuses what isn't such an event: %j", async (event) => {
    expect(await givenConsumer().deliver(event)).toBe("PAYLOAD_INVALID");
  });

  it("R5: `idempotent` warns if it treats several messages as one operation", async () => {
    const { options, context } = given();
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const messages = { "orders::/": [rabbit("1", "a"), rabbit("2", "b")] };
    const one = (operation: string) =>
      idempotent((_: object) => null, { ...options, operation, key: () => "k" });

    await one("of-rabbit")(rabbitEvent(messages), context());
    await one("of-active")(activeEvent(active("1", "a"), active("2", "b")), context());

    expect(warn.mock.calls.map(([text]) => `${text}`.slice(0, 60))).toEqual([
      'onceonly: "of-rabbit" treats 2 records from aws:rmq as one o',
      'onceonly: "of-active" treats 2 records from aws:mq as one op',
    ]);
    warn.mockRestore();
  });
});
