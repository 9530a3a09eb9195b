/** Receiving: how many, hidden for how long, and how long kept. */
import { expect } from "vitest";
import {
  api,
  attributesOf,
  guide,
  inTime,
  newQueue,
  now,
  receive,
  receiveBodies,
  receiveOne,
  recorded,
  refused,
  remove,
  type SqsCase,
  send,
} from "./case.ts";

export const receiveCases: readonly SqsCase[] = [
  now("an empty queue answers without messages", recorded("test_receive_empty_queue"), async (sqs) => {
    expect(await sqs.call("ReceiveMessage", { QueueUrl: await newQueue(sqs) })).toEqual({});
  }),
  now(
    "a receive hands out one message, or as many as are asked for up to 10",
    recorded("test_send_receive_max_number_of_messages"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs, { VisibilityTimeout: "0" });
      for (let count = 0; count < 11; count++) await send(sqs, QueueUrl, `m${count}`);

      expect((await sqs.call("ReceiveMessage", { QueueUrl })).Messages).toHaveLength(1);
      expect(await receive(sqs, QueueUrl, { MaxNumberOfMessages: 10 })).toHaveLength(10);
      await refused(receive(sqs, QueueUrl, { MaxNumberOfMessages: 11 }), "InvalidParameterValue");
      await refused(receive(sqs, QueueUrl, { MaxNumberOfMessages: 0 }), "InvalidParameterValue");
    },
  ),
  now(
    "waiting and hiding have their limits",
    recorded("test_send_receive_wait_time_seconds"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);

      await refused(receive(sqs, QueueUrl, { WaitTimeSeconds: 21 }), "InvalidParameterValue");
      await refused(receive(sqs, QueueUrl, { WaitTimeSeconds: -1 }), "InvalidParameterValue");
      await refused(receive(sqs, QueueUrl, { VisibilityTimeout: 43_201 }), "InvalidParameterValue");
      await receive(sqs, QueueUrl, { VisibilityTimeout: 43_200 });
    },
  ),
  now("a received message is hidden, and counted as such", guide("sqs-visibility-timeout"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    await send(sqs, QueueUrl, "a");
    await send(sqs, QueueUrl, { MessageBody: "late", DelaySeconds: 900 });
    await send(sqs, QueueUrl, "b");

    await receiveOne(sqs, QueueUrl);

    expect(await attributesOf(sqs, QueueUrl)).toMatchObject({
      ApproximateNumberOfMessages: "1",
      ApproximateNumberOfMessagesDelayed: "1",
      ApproximateNumberOfMessagesNotVisible: "1",
    });
    expect(await receive(sqs, QueueUrl)).toHaveLength(1);
  }),
  now(
    "a receive with visibility timeout 0 hides nothing",
    recorded("test_receive_terminate_visibility_timeout"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);
      await send(sqs, QueueUrl, "a");

      const first = await receiveOne(sqs, QueueUrl, { VisibilityTimeout: 0 });
      const second = await receiveOne(sqs, QueueUrl);

      expect(second.ReceiptHandle).not.toBe(first.ReceiptHandle);
      expect(await receive(sqs, QueueUrl)).toEqual([]);
    },
  ),
  inTime(
    "a message is visible again when its visibility timeout is over",
    recorded("test_receive_after_visibility_timeout"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs, { VisibilityTimeout: "20" });
      await send(sqs, QueueUrl, "a");
      await receiveOne(sqs, QueueUrl);

      await clock.advance(19_999);
      expect(await receive(sqs, QueueUrl)).toEqual([]);
      await clock.advance(1);
      await receiveOne(sqs, QueueUrl, { VisibilityTimeout: 5 });
      await clock.advance(5000);
      await receiveOne(sqs, QueueUrl);
    },
  ),
  inTime(
    "a message is gone when its retention is over, in flight or not",
    api("SetQueueAttributes"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs, { MessageRetentionPeriod: "60", VisibilityTimeout: "61" });
      await send(sqs, QueueUrl, "in flight");
      const message = await receiveOne(sqs, QueueUrl);
      await clock.advance(30_000);
      await send(sqs, QueueUrl, "younger");

      await clock.advance(30_000);

      expect(await attributesOf(sqs, QueueUrl)).toMatchObject({
        ApproximateNumberOfMessages: "1",
        ApproximateNumberOfMessagesNotVisible: "0",
      });
      await remove(sqs, QueueUrl, message);
      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["younger"]);
    },
  ),
  inTime(
    "a shorter retention ends messages that are there",
    api("SetQueueAttributes"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs);
      await send(sqs, QueueUrl, "a");
      await clock.advance(3_600_000);

      await sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { MessageRetentionPeriod: "3600" } });

      expect(await receive(sqs, QueueUrl)).toEqual([]);
    },
  ),
];
