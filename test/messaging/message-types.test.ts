// What the compiler refuses: `tsc` fails where an expected error is none. `MessageProducer` refuses it at run time too.
import type { OutgoingMessage } from "onceonly";
import { MessageProducer } from "onceonly/messaging";
import { describe, expect, it } from "vitest";

const queue = "https://sqs.us-east-1.amazonaws.com/000000000000/payments.fifo";
const topic = "arn:aws:sns:us-east-1:000000000000:orders";
const CONTENT = { key: "order-7", body: { id: 7 } };

const accepted: readonly OutgoingMessage[] = [
  { queue, group: "7", ...CONTENT },
  { queue: process.env.NOT_SET_ANYWHERE, ...CONTENT },
  { topic, traceparent: undefined, ...CONTENT },
  { topic, attributes: { kind: "paid", cents: 700 }, ...CONTENT },
  { queue, attributes: undefined, delaySeconds: 60, ...CONTENT },
  { bus: "orders", source: "shop", detailType: "paid", ...CONTENT },
];

const refused: readonly OutgoingMessage[] = [
  // @ts-expect-error no destination
  { ...CONTENT },
  // @ts-expect-error two destinations
  { queue, topic, group: "7", ...CONTENT },
  // @ts-expect-error a bus has no groups
  { bus: "orders", source: "shop", detailType: "paid", group: "7", ...CONTENT },
  // @ts-expect-error an event has a type
  { bus: "orders", source: "shop", ...CONTENT },
  // @ts-expect-error a queue's message has no source
  { queue, group: "7", source: "shop", ...CONTENT },
  // @ts-expect-error an event has no attributes: rules match its detail
  { bus: "orders", source: "shop", detailType: "paid", attributes: {}, ...CONTENT },
  // @ts-expect-error topics do not delay
  { topic, delaySeconds: 60, ...CONTENT },
  // @ts-expect-error an attribute is text or a number
  { topic, attributes: { isPaid: true }, ...CONTENT },
  // @ts-expect-error a key is needed
  { queue, group: "7", body: "paid" },
  // @ts-expect-error ids are derived
  { queue, group: "7", ...CONTENT, deduplicationId: "random" },
];

describe("OutgoingMessage", () => {
  it("has the fields of one destination", () => {
    expect(accepted).toHaveLength(6);
  });

  it.each(refused)("is rejected at run time if the compiler didn't check it (%#)", async (message) => {
    const sqs = { config: {}, send: () => Promise.reject(new Error("nothing is to be sent")) };

    await expect(new MessageProducer({ sqs }).send(message)).rejects.toMatchObject({
      code: expect.stringMatching(/^(MESSAGE_ID|PAYLOAD)_INVALID$/),
    });
  });
});
