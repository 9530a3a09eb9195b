import { beforeEach, describe, expect, it } from "vitest";
import { prepareMessage } from "../../lib/core/messages/prepare-message.ts";
import { readEnvelope } from "../../lib/messaging/envelope.ts";
import { MessageProducer } from "../../lib/messaging/message-producer.ts";
import { SNS_MAX_BYTES, snsEntry } from "../../lib/messaging/sqs-and-sns.ts";
import { type EntryFault, fakeSns } from "../kit/fake-client.ts";
import { timeless } from "../kit/time/timeless.ts";
import { failureOf } from "./given.ts";

const TOPIC = "arn:aws:sns:eu-central-1:123456789012:orders";
const FIFO = `${TOPIC}.fifo`;

let sns: ReturnType<typeof fakeSns>;
let slept: number[];
let producer: MessageProducer;

beforeEach(() => {
  sns = fakeSns();
  const clock = timeless({ now: () => 0 });
  slept = clock.slept;
  producer = new MessageProducer({
    sns,
    clock,
    random: { token: () => "token", fraction: () => 1 },
  });
});

/** `a1` is the first message of group `a`: its body and its key. */
const messagesOf = (topic: string, ...names: string[]) =>
  names.map((name) => ({ topic, key: name, group: name.replace(/\d+$/, ""), body: name }));

const sentNames = () => sns.requests.map((entries) => entries.map(({ Message }) => Message));

const failing = (name: string, fault: EntryFault, times = Number.POSITIVE_INFINITY) => {
  let left = times;
  sns.faultOf = ({ Message }) => (Message === name && left-- > 0 ? fault : undefined);
};

describe("MessageProducer to a topic", () => {
  it("publishes with the envelope, and answers with the message id", async () => {
    expect(await producer.send({ topic: TOPIC, key: "order-7", body: { id: 7 } })).toEqual({
      sent: true,
      messageId: 'id of {"id":7}',
      sequenceNumber: "",
    });
    const [entry] = sns.accepted;
    expect(entry).toEqual({ Id: "0", Message: '{"id":7}', MessageAttributes: expect.any(Object) });
    expect(readEnvelope(entry?.MessageAttributes)).toEqual({ found: true, envelope: { key: "order-7" } });
  });

  it("publishes to a FIFO topic under derived ids, and answers with the number in the sequence", async () => {
    const [sent] = await producer.sendBatch(messagesOf(FIFO, "a1"));

    expect(sent?.sequenceNumber).toMatch(/^\d+$/);
    expect(sns.accepted[0]).toMatchObject({
      MessageGroupId: "a",
      MessageDeduplicationId: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it("gives a standard topic the group for its fair queues, and no deduplication id", async () => {
    await producer.sendBatch(messagesOf(TOPIC, "a1", "a2"));

    expect(sentNames()).toEqual([["a1", "a2"]]);
    expect(sns.accepted.map(({ MessageGroupId }) => MessageGroupId)).toEqual(["a", "a"]);
    expect(sns.accepted.some((entry) => "MessageDeduplicationId" in entry)).toBe(false);
  });

  it("publishes one message of a FIFO group a request, and up to 10 of several", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `${"g".repeat(index + 1)}1`);

    await producer.sendBatch(messagesOf(FIFO, "a1", "a2", "b1"));
    await producer.sendBatch(messagesOf(FIFO, ...names));

    expect(sentNames().map(({ length }) => length)).toEqual([2, 1, 10, 2]);
    expect(sentNames().slice(0, 2)).toEqual([["a1", "b1"], ["a2"]]);
  });

  it("publishes at most 256 KiB a request, the envelopes counted", async () => {
    const half = "h".repeat(SNS_MAX_BYTES / 2 - 41);
    const large = (key: string, body: string) => ({ topic: TOPIC, key, body });

    await producer.sendBatch([large("a", half), large("b", half), large("c", `${half}h`), large("d", "d")]);

    expect(sns.requests.map(({ length }) => length)).toEqual([2, 2]);
  });

  it("accepts 252 KiB for a topic, which fit with the longest envelope, and no byte more", async () => {
    const key = "\uFFFF".repeat(255);
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const message = { topic: TOPIC, key, body: "b".repeat(252 * 1024), traceparent };

    expect(snsEntry(prepareMessage("a", message)).bytes).toBeLessThanOrEqual(SNS_MAX_BYTES);
    await producer.send(message);
    await expect(producer.send({ ...message, body: `${message.body}b` })).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
    });
    expect(sns.requests).toHaveLength(1);
  });

  it("F3: publishes a larger topic's message in a separate request", async () => {
    const body = "b".repeat(SNS_MAX_BYTES);
    const large = { topic: TOPIC, key: "large", body, maximumMessageSize: 2 * SNS_MAX_BYTES };

    await producer.sendBatch([
      { topic: TOPIC, key: "a", body: "a" },
      large,
      { topic: TOPIC, key: "b", body: "b" },
    ]);

    expect(sentNames().find((names) => names.includes(body))).toEqual([body]);
    expect(sns.accepted).toHaveLength(3);
    expect(sns.accepted.some((entry) => "maximumMessageSize" in entry)).toBe(false);
  });

  it("tries only the failed message again, and keeps the order", async () => {
    failing("a1", { Code: "InternalError", SenderFault: false }, 2);

    await producer.sendBatch(messagesOf(FIFO, "a1", "a2", "b1"));

    expect(sentNames()).toEqual([["a1", "b1"], ["a1"], ["a1"], ["a2"]]);
    expect(slept).toEqual([100, 200]);
  });

  it("does not try again what SNS calls wrong, and keeps the rest of the group back", async () => {
    failing("a1", { Code: "InvalidParameter", SenderFault: true });

    const { failed } = await failureOf(producer.sendBatch(messagesOf(FIFO, "a1", "a2", "b1")));

    expect(failed).toEqual([
      { id: "0", code: "InvalidParameter" },
      { id: "1", code: "NotAttempted" },
    ]);
    expect(sentNames()).toEqual([["a1", "b1"]]);
  });

  it("H33: sends the same again under the same ids when an answer was lost", async () => {
    sns.answersToLose = 1;
    const error = await failureOf(producer.sendBatch(messagesOf(FIFO, "a1")));
    await producer.sendBatch(messagesOf(FIFO, "a1"));

    expect(error.failed).toEqual([{ id: "0", code: "TimeoutError" }]);
    expect(sns.accepted[1]).toEqual(sns.accepted[0]);
  });

  it("rejects anything but a topic, and a FIFO topic's message without a group", async () => {
    for (const topic of ["orders", undefined, FIFO]) {
      await expect(producer.send({ topic, key: "a", body: "b" })).rejects.toMatchObject({
        code: expect.stringMatching(/_INVALID$/),
      });
    }
    expect(sns.requests).toEqual([]);
  });
});
