/** Batches: the answer for each entry. */
import { expect } from "vitest";
import { numbered, sendBatch } from "./batch-given.ts";
import {
  api,
  idsOf,
  inTime,
  newFifo,
  newQueue,
  now,
  receive,
  receiveBodies,
  recorded,
  type SqsCase,
  send,
  sendToGroups,
} from "./case.ts";

export const batchCases: readonly SqsCase[] = [
  now("a batch sends up to 10 messages, each with its answer", api("SendMessageBatch"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);

    const answer = await sendBatch(sqs, QueueUrl, numbered(10));

    expect(idsOf(answer)).toEqual({ done: Object.keys(numbered(10)), failed: [] });
    const received = await receive(sqs, QueueUrl);
    expect(received.map(({ MessageId }) => MessageId)).toEqual(
      answer.Successful?.map(({ MessageId }) => MessageId),
    );
  }),
  now(
    "what a batch has none of is left out of its answer",
    recorded("test_send_message_batch_with_oversized_contents_with_updated_maximum_message_size"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);

      expect(await sendBatch(sqs, QueueUrl, { good: "x" })).not.toHaveProperty("Failed");
      expect(await sendBatch(sqs, QueueUrl, { bad: "\x01" })).not.toHaveProperty("Successful");
    },
  ),
  now(
    "an entry that is too long for the queue fails alone",
    recorded("test_send_batch_message_size"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs, { MaximumMessageSize: "1024" });

      const answer = await sendBatch(sqs, QueueUrl, { fits: "x".repeat(1024), long: "x".repeat(1025) });

      expect(idsOf(answer)).toEqual({ done: ["fits"], failed: ["long"] });
      expect(answer.Failed).toMatchObject([{ Code: "InvalidParameterValue", SenderFault: true }]);
    },
  ),
  now(
    "an entry with a wrong character fails alone",
    recorded("test_batch_send_with_invalid_char_should_succeed"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);

      const answer = await sendBatch(sqs, QueueUrl, { good: "x", bad: "\x01", better: "y" });

      expect(answer.Failed).toMatchObject([{ Id: "bad", Code: "InvalidMessageContents", SenderFault: true }]);
      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["x", "y"]);
    },
  ),
  now("duplicates within a batch are one message", api("SendMessageBatch"), async (sqs) => {
    const QueueUrl = await newFifo(sqs);
    const message = { MessageBody: "a", MessageGroupId: "g", MessageDeduplicationId: "d" };

    const { Successful = [] } = await sendBatch(sqs, QueueUrl, { one: message, two: message });

    expect(Successful[1]?.MessageId).toBe(Successful[0]?.MessageId);
    expect(await receive(sqs, QueueUrl)).toHaveLength(1);
  }),
  now("a batch deletes what it can", api("DeleteMessageBatch"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    await send(sqs, QueueUrl, "a");
    const [message] = await receive(sqs, QueueUrl);

    const answer = await sqs.call("DeleteMessageBatch", {
      QueueUrl,
      Entries: [
        { Id: "bad", ReceiptHandle: "garbage" },
        { Id: "good", ReceiptHandle: message?.ReceiptHandle ?? "" },
      ],
    });

    expect(idsOf(answer)).toEqual({ done: ["good"], failed: ["bad"] });
    expect(answer.Failed).toMatchObject([{ Code: "ReceiptHandleIsInvalid", SenderFault: true }]);
  }),
  inTime(
    "a batch tells of an expired handle of a FIFO queue as of an invalid one",
    "https://github.com/smaskalik/sqsmover/issues/54",
    async (sqs, clock) => {
      const QueueUrl = await newFifo(sqs, { VisibilityTimeout: "1" });
      await sendToGroups(sqs, QueueUrl, "g-1");
      const [message] = await receive(sqs, QueueUrl);
      await clock.advance(1000);

      const Entries = [{ Id: "late", ReceiptHandle: message?.ReceiptHandle ?? "" }];
      const answer = await sqs.call("DeleteMessageBatch", { QueueUrl, Entries });

      expect(answer.Failed).toMatchObject([{ Id: "late", Code: "ReceiptHandleIsInvalid" }]);
      expect(await receive(sqs, QueueUrl)).toHaveLength(1);
    },
  ),
  now("a batch changes visibility entry by entry", api("ChangeMessageVisibilityBatch"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    for (const body of ["a", "b"]) await send(sqs, QueueUrl, body);
    const [a, b] = await receive(sqs, QueueUrl);

    const answer = await sqs.call("ChangeMessageVisibilityBatch", {
      QueueUrl,
      Entries: [
        { Id: "back", ReceiptHandle: a?.ReceiptHandle ?? "", VisibilityTimeout: 0 },
        { Id: "wrong", ReceiptHandle: b?.ReceiptHandle ?? "", VisibilityTimeout: 43_201 },
      ],
    });

    expect(idsOf(answer)).toEqual({ done: ["back"], failed: ["wrong"] });
    expect(answer.Failed).toMatchObject([{ Code: "InvalidParameterValue" }]);
    expect(await receiveBodies(sqs, QueueUrl)).toEqual(["a"]);
  }),
];
