import { describe, expect, it } from "vitest";
import type { OutgoingMessage } from "../../../lib/core/messages/outgoing-message.ts";
import { prepareMessage, prepareMessages } from "../../../lib/core/messages/prepare-message.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
const TOPIC = "arn:aws:sns:eu-central-1:123456789012:orders";
const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const toQueue = { queue: QUEUE, key: "order-7", body: "paid" };
const toTopic = { topic: TOPIC, key: "order-7", body: "paid" };
const toBus = { bus: "orders", source: "shop", detailType: "paid", key: "order-7", body: { id: 7 } };

const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return error as Error & { code: string };
  }
  throw new Error("nothing was refused");
};

describe("prepareMessage", () => {
  it.each<[OutgoingMessage, string]>([
    [toQueue, "paid"],
    [{ ...toQueue, queue: `${QUEUE}.fifo`, group: "7", body: { id: 7 } }, '{"id":7}'],
    [{ ...toQueue, queue: "http://127.0.0.1:4100/000000000000/payments", group: "7" }, "paid"],
    [{ ...toTopic, traceparent: TRACE }, "paid"],
    [{ ...toTopic, topic: `${TOPIC}.fifo`, group: "7" }, "paid"],
    [{ ...toQueue, attributes: { kind: "paid", cents: 1250 }, delaySeconds: 900 }, "paid"],
    [{ ...toQueue, attributes: undefined, delaySeconds: undefined }, "paid"],
    [{ ...toQueue, queue: `${QUEUE}.fifo`, group: "7", attributes: { kind: "paid" } }, "paid"],
    [{ ...toBus, bus: "orders.fifo" }, '{"id":7}'],
    [{ ...toBus, source: "s".repeat(128), detailType: "d" }, '{"id":7}'],
    [{ ...toBus, bus: "arn:aws:events:eu-central-1:123456789012:event-bus/orders" }, '{"id":7}'],
  ])("keeps the given fields, with the body as a string, and survives JSON (%#)", (message, body) => {
    const stored = prepareMessage("the message", message);

    expect(stored).toEqual({ ...message, body });
    expect(JSON.parse(JSON.stringify(stored))).toEqual({ ...message, body });
  });

  it("leaves out a traceparent that isn't a string: tracing never stops a message", () => {
    const stored = prepareMessage("a", { ...toQueue, traceparent: 7 as unknown as string });

    expect(stored.traceparent).toBeUndefined();
  });

  it.each<[string, unknown, string]>([
    ["PAYLOAD_INVALID", undefined, "must be an object with `queue`, `topic` or `bus` (its destination)"],
    ["PAYLOAD_INVALID", "secret", "must be an object with"],
    ["PAYLOAD_INVALID", { key: "a", body: "b" }, "must be an object with"],
    ["PAYLOAD_INVALID", { ...toQueue, queue: undefined }, "`queue` must be a queue URL"],
    ["PAYLOAD_INVALID", { ...toQueue, queue: TOPIC }, "`queue` must be a queue URL"],
    ["PAYLOAD_INVALID", { ...toQueue, queue: "https://" }, "`queue` must be a queue URL"],
    ["PAYLOAD_INVALID", { ...toQueue, queue: `my ${QUEUE}` }, "`queue` must be a queue URL"],
    ["PAYLOAD_INVALID", { ...toTopic, topic: `my ${TOPIC}` }, "`topic` must be a topic ARN"],
    ["PAYLOAD_INVALID", { ...toTopic, topic: "secret" }, "`topic` must be a topic ARN"],
    ["PAYLOAD_INVALID", { ...toTopic, topic: ["arn:"] }, "`topic` must be a topic ARN"],
    ["PAYLOAD_INVALID", { ...toBus, bus: "" }, "`bus` must be an event bus name or ARN"],
    ["PAYLOAD_INVALID", { ...toBus, source: 7 }, "`source` must be a string of 1 to 128 characters"],
    ["PAYLOAD_INVALID", { ...toBus, detailType: "" }, "`detailType` must be a string of 1 to 128 characters"],
    [
      "PAYLOAD_INVALID",
      { ...toBus, source: "s".repeat(129) },
      "`source` must be a string of 1 to 128 characters",
    ],
    [
      "PAYLOAD_INVALID",
      {
        ...toBus,
        bus: "arn:aws:events:eu-central-1:123456789012:event-busv2/shop/abcdefghijklmnopqrstuvwxy",
      },
      "; AWS's SDK has no client yet to send to an event-busv2 (got a string",
    ],
    ["PAYLOAD_INVALID", { ...toBus, body: "secret" }, "the `body` of an event must be an object"],
    ["PAYLOAD_INVALID", { ...toBus, body: ["secret"] }, "the `body` of an event must be an object"],
    [
      "PAYLOAD_INVALID",
      { ...toQueue, topic: TOPIC },
      "`topic` isn't a field of this message (valid fields: queue, key, body",
    ],
    [
      "PAYLOAD_INVALID",
      { ...toTopic, delaySeconds: 7 },
      "`delaySeconds` isn't a field of this message (valid fields: topic, key",
    ],
    [
      "PAYLOAD_INVALID",
      { ...toBus, delaySeconds: 7 },
      "`delaySeconds` isn't a field of this message (valid fields: bus, key",
    ],
    [
      "PAYLOAD_INVALID",
      { ...toBus, attributes: {} },
      "`attributes` isn't a field of this message (valid fields: bus, key",
    ],
    [
      "PAYLOAD_INVALID",
      { ...toQueue, queue: `${QUEUE}.fifo`, group: "7", delaySeconds: 0 },
      "`delaySeconds` isn't supported on a FIFO queue, which delays all of its messages by the same time",
    ],
    ...[-1, 901, 1.5, "60", null, Number.NaN].map((delaySeconds): [string, unknown, string] => [
      "PAYLOAD_INVALID",
      { ...toQueue, delaySeconds },
      "`delaySeconds` must be a whole number of seconds between 0 and 900",
    ]),
    [
      "PAYLOAD_INVALID",
      { ...toQueue, identity: 7 },
      "`identity` isn't a field of this message (valid fields: queue, key, body",
    ],
    [
      "PAYLOAD_INVALID",
      { ...toQueue, grid: 7 },
      "`grid` isn't a field of this message (valid fields: queue, key, body",
    ],
    [
      "PAYLOAD_INVALID",
      { ...toQueue, IdToken: 7 },
      "`IdToken` isn't a field of this message (valid fields: queue, key, body",
    ],
    ["PAYLOAD_INVALID", { ...toQueue, body: undefined }, "the body is missing"],
    ["PAYLOAD_INVALID", { ...toQueue, body: "secret\u0000" }, "characters that SQS doesn't accept"],
    ["PAYLOAD_INVALID", { ...toQueue, body: { at: new Date(0) } }, "$.at is a Date"],
    [
      "PAYLOAD_INVALID",
      { ...toQueue, body: "b".repeat(1_048_577) },
      "1048577 bytes, which is more than the 1048576 allowed",
    ],
    [
      "PAYLOAD_INVALID",
      { ...toTopic, body: "é".repeat(129_025) },
      "258050 bytes, which is more than the 258048 allowed",
    ],
    ["MESSAGE_ID_INVALID", { ...toQueue, key: undefined }, "the key is missing"],
    ["MESSAGE_ID_INVALID", { ...toQueue, queue: `${QUEUE}.fifo` }, "the group is missing"],
    ["MESSAGE_ID_INVALID", { ...toTopic, topic: `${TOPIC}.fifo` }, "the group is missing"],
    ["MESSAGE_ID_INVALID", { ...toTopic, group: "undefined" }, "the group is the text of a missing value"],
    ["MESSAGE_ID_INVALID", { ...toQueue, id: "secret" }, "ids are derived"],
    ["MESSAGE_ID_INVALID", { ...toQueue, messageDeduplicationId: "secret" }, "ids are derived"],
  ])("rejects what can't be sent as it is: %s %#", (code, message, why) => {
    const error = refusal(() => prepareMessage("messages[3]", message as OutgoingMessage));

    expect(error.code).toBe(code);
    expect(error.message).toContain(`messages[3]: `);
    expect(error.message).toContain(why);
    expect(error.message).not.toContain("secret");
  });
});

describe("prepareMessages", () => {
  it("keeps the order, and accepts a message that is given twice", () => {
    const messages = [toBus, toQueue, toTopic, toQueue];

    expect(prepareMessages(messages).map(({ queue, topic }) => queue ?? topic ?? "bus")).toEqual([
      "bus",
      QUEUE,
      TOPIC,
      QUEUE,
    ]);
  });

  it.each<OutgoingMessage>([
    { ...toQueue, key: "order-8", body: "other" },
    { ...toQueue, queue: `${QUEUE}-2`, body: "other" },
    { ...toTopic, topic: `${TOPIC}-2`, body: "other" },
    { ...toBus, detailType: "refunded", body: {} },
    { ...toBus, source: "shop-2", body: {} },
    { ...toBus, bus: "refunds", body: {} },
  ])("accepts another body under another name (%#)", (message) => {
    expect(prepareMessages([toQueue, toTopic, toBus, message])).toHaveLength(4);
  });

  it("distinguishes group and key", () => {
    const messages = [
      { ...toQueue, group: "a", key: "b", body: "1" },
      { ...toQueue, group: "b", key: "a", body: "2" },
    ];

    expect(prepareMessages(messages)).toHaveLength(2);
  });

  it.each<OutgoingMessage>([toQueue, toTopic, toBus, { ...toQueue, queue: `${QUEUE}.fifo`, group: "7" }])(
    "H32: refuses two bodies under one name (%#)",
    (message) => {
      const other = { ...message, body: { other: true }, traceparent: TRACE };

      expect(refusal(() => prepareMessages([message, other]))).toMatchObject({
        code: "MESSAGE_ID_INVALID",
        message:
          "messages[1]: has the key of messages[0] but a different body, attributes or time: give each message its own key",
      });
    },
  );

  it("refuses two bodies under one key also in two groups: the consumer goes by the key", () => {
    const other = { ...toQueue, group: "7", body: "other" };

    expect(refusal(() => prepareMessages([toQueue, other]))).toMatchObject({ code: "MESSAGE_ID_INVALID" });
  });

  it.each([undefined, null, toQueue, "secret"])("rejects anything but an array (%#)", (messages) => {
    expect(refusal(() => prepareMessages(messages as never))).toMatchObject({
      code: "PAYLOAD_INVALID",
      message: "`messages` must be an array",
    });
  });

  it("says which message is wrong", () => {
    expect(refusal(() => prepareMessages([toQueue, { ...toQueue, key: "" }])).message).toMatch(
      /^messages\[1\]: the key is missing/,
    );
  });
});
