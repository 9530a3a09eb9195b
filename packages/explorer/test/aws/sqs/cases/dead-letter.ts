/** Dead-letter queues: what goes there, when, and as what. */
import { expect } from "vitest";
import {
  arnOf,
  guide,
  inTime,
  newFifo,
  newQueue,
  now,
  receive,
  receiveBodies,
  receiveOne,
  recorded,
  remove,
  type SqsCase,
  send,
  sendToGroups,
} from "./case.ts";
import { withDeadLetters } from "./dead-letter-given.ts";

export const deadLetterCases: readonly SqsCase[] = [
  now(
    "a message that was received maxReceiveCount times goes to the dead-letter queue instead of to the next receiver",
    recorded("test_dead_letter_queue_max_receive_count"),
    async (sqs) => {
      const { queue, deadLetters } = await withDeadLetters(sqs, newQueue, 2);
      const sent = await send(sqs, queue, "poison");
      await receiveOne(sqs, queue, { VisibilityTimeout: 0 });
      await receiveOne(sqs, queue, { VisibilityTimeout: 0 });
      expect(await receive(sqs, deadLetters)).toEqual([]);

      expect(await receive(sqs, queue, { VisibilityTimeout: 0 })).toEqual([]);

      expect(await receiveOne(sqs, deadLetters)).toMatchObject({ Body: "poison", MessageId: sent.MessageId });
    },
  ),
  now(
    "a dead letter keeps attributes and receive count, and tells where it came from",
    recorded("test_dead_letter_queue_message_attributes"),
    async (sqs) => {
      const { queue, deadLetters } = await withDeadLetters(sqs, newQueue, 1);
      const MessageAttributes = { MyAttribute: { DataType: "String", StringValue: "foobar" } };
      await send(sqs, queue, { MessageBody: "a", MessageAttributes });
      await receiveOne(sqs, queue, { VisibilityTimeout: 0 });
      await receive(sqs, queue);

      const letter = await receiveOne(sqs, deadLetters);

      expect(letter.MessageAttributes).toEqual(MessageAttributes);
      expect(letter.Attributes).toMatchObject({
        ApproximateReceiveCount: "2",
        DeadLetterQueueSourceArn: await arnOf(sqs, queue),
      });
    },
  ),
  now(
    "H28: in a FIFO dead-letter queue the deduplication id is the message id",
    guide("sqs-configure-dead-letter-queue-redrive"),
    async (sqs) => {
      const { queue, deadLetters } = await withDeadLetters(sqs, newFifo, 1);
      const sent = await send(sqs, queue, {
        MessageBody: "a",
        MessageGroupId: "g",
        MessageDeduplicationId: "d",
      });
      await receiveOne(sqs, queue, { VisibilityTimeout: 0 });
      await receive(sqs, queue);

      const letter = await receiveOne(sqs, deadLetters);

      expect(letter.MessageId).toBe(sent.MessageId);
      expect(letter.Attributes).toMatchObject({
        MessageDeduplicationId: sent.MessageId,
        MessageGroupId: "g",
      });
    },
  ),
  inTime(
    "two messages that had the same deduplication id are both kept as dead letters",
    guide("sqs-configure-dead-letter-queue-redrive"),
    async (sqs, clock) => {
      const { queue, deadLetters } = await withDeadLetters(sqs, newFifo, 1);
      for (const body of ["g-1", "g-2"]) {
        await send(sqs, queue, { MessageBody: body, MessageGroupId: "g", MessageDeduplicationId: "d" });
        await receiveOne(sqs, queue, { VisibilityTimeout: 0 });
        await receive(sqs, queue);
        await clock.advance(5 * 60_000);
      }

      expect(await receiveBodies(sqs, deadLetters)).toEqual(["g-1", "g-2"]);
    },
  ),
  now(
    "a FIFO group goes on after its poison message",
    recorded("test_dead_letter_queue_with_fifo_and_content_based_deduplication"),
    async (sqs) => {
      const { queue, deadLetters } = await withDeadLetters(sqs, newFifo, 2);
      await sendToGroups(sqs, queue, "g-poison", "g-next");
      const one = { VisibilityTimeout: 0, MaxNumberOfMessages: 1 };
      await receiveOne(sqs, queue, one);
      await receiveOne(sqs, queue, one);

      expect(await receiveBodies(sqs, queue)).toEqual(["g-next"]);
      expect(await receiveBodies(sqs, deadLetters)).toEqual(["g-poison"]);
    },
  ),
  now(
    "H24: a message that is deleted at its last receive never is a dead letter",
    guide("sqs-dead-letter-queues"),
    async (sqs) => {
      const { queue, deadLetters } = await withDeadLetters(sqs, newQueue, 2);
      await send(sqs, queue, "a");
      await receiveOne(sqs, queue, { VisibilityTimeout: 0 });
      await remove(sqs, queue, await receiveOne(sqs, queue));

      expect(await receive(sqs, queue)).toEqual([]);
      expect(await receive(sqs, deadLetters)).toEqual([]);
    },
  ),
  inTime(
    "a dead letter keeps its age in a standard queue, and starts anew in a FIFO queue",
    guide("setting-up-dead-letter-queue-retention"),
    async (sqs, clock) => {
      const retention = { MessageRetentionPeriod: "60" };
      const standard = await withDeadLetters(sqs, newQueue, 1, retention);
      const fifo = await withDeadLetters(sqs, newFifo, 1, retention);
      await send(sqs, standard.queue, "a");
      await sendToGroups(sqs, fifo.queue, "g-1");
      for (const { queue } of [standard, fifo]) await receiveOne(sqs, queue, { VisibilityTimeout: 0 });
      await clock.advance(40_000);
      for (const { queue } of [standard, fifo]) expect(await receive(sqs, queue)).toEqual([]);

      await clock.advance(20_000);

      expect(await receive(sqs, standard.deadLetters)).toEqual([]);
      expect(await receiveBodies(sqs, fifo.deadLetters)).toEqual(["g-1"]);
    },
  ),
];
