/** Deduplication: which messages are the same, for how long, and what their senders get. */
import { expect } from "vitest";
import {
  api,
  guide,
  inTime,
  newFifo,
  now,
  receive,
  receiveBodies,
  receiveOne,
  recorded,
  remove,
  type SqsCase,
  send,
} from "./case.ts";
import type { SqsSubject } from "./subject.ts";

const WINDOW_MS = 5 * 60 * 1000;

function sendAs(sqs: SqsSubject, queue: string, body: string, deduplicationId: string, group = "g") {
  return send(sqs, queue, {
    MessageBody: body,
    MessageDeduplicationId: deduplicationId,
    MessageGroupId: group,
  });
}

export const deduplicationCases: readonly SqsCase[] = [
  now(
    "a duplicate is accepted, answered as the first one, and not delivered",
    guide("using-messagededuplicationid-property"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      const first = await sendAs(sqs, QueueUrl, "a", "d");

      const second = await sendAs(sqs, QueueUrl, "other body", "d");

      expect(second).toMatchObject({ MessageId: first.MessageId, SequenceNumber: first.SequenceNumber });
      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["a"]);
    },
  ),
  now(
    "H30: a deduplication id is remembered after its message is deleted",
    guide("using-messagededuplicationid-property"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      await sendAs(sqs, QueueUrl, "a", "d");
      await remove(sqs, QueueUrl, await receiveOne(sqs, QueueUrl));

      await sendAs(sqs, QueueUrl, "a", "d");

      expect(await receive(sqs, QueueUrl)).toEqual([]);
    },
  ),
  inTime(
    "H29, H31: the window is 5 minutes from the first acceptance, and duplicates do not prolong it",
    guide("FIFO-queues-exactly-once-processing"),
    async (sqs, clock) => {
      const QueueUrl = await newFifo(sqs);
      await sendAs(sqs, QueueUrl, "first", "d");
      await remove(sqs, QueueUrl, await receiveOne(sqs, QueueUrl));
      await clock.advance(WINDOW_MS - 1);
      await sendAs(sqs, QueueUrl, "in the window", "d");
      expect(await receive(sqs, QueueUrl)).toEqual([]);

      await clock.advance(1);
      await sendAs(sqs, QueueUrl, "after the window", "d");
      await sendAs(sqs, QueueUrl, "in the next window", "d");

      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["after the window"]);
    },
  ),
  now(
    "by default a deduplication id counts in the whole queue",
    recorded("test_sqs_fifo_same_dedup_id_different_message_groups"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      await sendAs(sqs, QueueUrl, "a", "d", "g1");
      await sendAs(sqs, QueueUrl, "b", "d", "g2");

      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["a"]);
    },
  ),
  now(
    "with the scope messageGroup a deduplication id counts in its group",
    recorded("test_fifo_high_throughput_ordering"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs, {
        DeduplicationScope: "messageGroup",
        FifoThroughputLimit: "perMessageGroupId",
      });
      await sendAs(sqs, QueueUrl, "a", "d", "g1");
      await sendAs(sqs, QueueUrl, "b", "d", "g2");
      await sendAs(sqs, QueueUrl, "c", "d", "g1");

      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["a", "b"]);
    },
  ),
  now(
    "the scope messageGroup does not need throughput per group",
    recorded("test_sqs_fifo_message_group_scope_no_throughput_setting"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs, {
        ContentBasedDeduplication: "true",
        DeduplicationScope: "messageGroup",
      });
      await send(sqs, QueueUrl, { MessageBody: "a", MessageGroupId: "g1" });
      await send(sqs, QueueUrl, { MessageBody: "a", MessageGroupId: "g2" });

      expect(await receive(sqs, QueueUrl)).toHaveLength(2);
    },
  ),
  now(
    "H32: by content, equal bodies are one message, whatever their attributes",
    api("SendMessage"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs, { ContentBasedDeduplication: "true" });
      const attribute = (StringValue: string) => ({ order: { DataType: "String", StringValue } });

      for (const id of ["1", "2"]) {
        await send(sqs, QueueUrl, {
          MessageBody: "ten euros",
          MessageGroupId: "g",
          MessageAttributes: attribute(id),
        });
      }

      expect(await receive(sqs, QueueUrl)).toHaveLength(1);
    },
  ),
  now(
    "by content, the id is the body's SHA-256, and an own id comes before it",
    api("SendMessage"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs, { ContentBasedDeduplication: "true" });
      await send(sqs, QueueUrl, { MessageBody: "foo", MessageGroupId: "g1" });
      const sha256OfFoo = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
      await sendAs(sqs, QueueUrl, "bar", sha256OfFoo, "g2");
      await sendAs(sqs, QueueUrl, "foo", "own", "g3");

      const received = await receive(sqs, QueueUrl);

      expect(received.map(({ Body, Attributes }) => [Body, Attributes?.MessageDeduplicationId])).toEqual([
        ["foo", sha256OfFoo],
        ["foo", "own"],
      ]);
    },
  ),
];
