/** Message groups: order within one, and independence of others. */
import { expect } from "vitest";
import {
  api,
  changeVisibility,
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
  sendToGroups,
} from "./case.ts";

export const fifoCases: readonly SqsCase[] = [
  now(
    "a receive takes as many of one group as there are, then the next group",
    recorded("test_fifo_receive_message_group_id_ordering"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      await sendToGroups(sqs, QueueUrl, "g1-m1", "g2-m1", "g1-m2", "g1-m3");

      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["g1-m1", "g1-m2", "g1-m3", "g2-m1"]);
    },
  ),
  now(
    "a group with messages in flight gives out nothing more, and other groups go on",
    recorded("test_fifo_receive_message_visibility_timeout_shared_in_group"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      await sendToGroups(sqs, QueueUrl, "g1-m1", "g1-m2", "g1-m3", "g2-m1");

      expect(await receiveBodies(sqs, QueueUrl, { MaxNumberOfMessages: 2 })).toEqual(["g1-m1", "g1-m2"]);
      await sendToGroups(sqs, QueueUrl, "g1-m4");
      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["g2-m1"]);
      expect(await receiveBodies(sqs, QueueUrl)).toEqual([]);
    },
  ),
  now(
    "a group goes on when all that was received of it is deleted",
    recorded("test_fifo_message_group_visibility_after_delete"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      await sendToGroups(sqs, QueueUrl, "g1-m1", "g1-m2", "g1-m3");
      const [first, second] = await receive(sqs, QueueUrl, { MaxNumberOfMessages: 2 });

      if (first !== undefined) await remove(sqs, QueueUrl, first);
      expect(await receiveBodies(sqs, QueueUrl)).toEqual([]);
      if (second !== undefined) await remove(sqs, QueueUrl, second);
      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["g1-m3"]);
    },
  ),
  now(
    "messages without a timeout come again in order, and groups take turns",
    recorded("test_fifo_receive_message_with_zero_visibility_timeout"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs, { VisibilityTimeout: "0" });
      await sendToGroups(sqs, QueueUrl, "g1-m1", "g2-m1", "g2-m2", "g3-m1", "g1-m2");

      expect(await receiveBodies(sqs, QueueUrl, { MaxNumberOfMessages: 3 })).toEqual([
        "g1-m1",
        "g1-m2",
        "g2-m1",
      ]);
      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["g3-m1", "g1-m1", "g1-m2", "g2-m1", "g2-m2"]);
    },
  ),
  inTime(
    "a group comes again in order after its visibility timeout",
    recorded("test_fifo_messages_in_order_after_timeout"),
    async (sqs, clock) => {
      const QueueUrl = await newFifo(sqs, { VisibilityTimeout: "1" });
      await sendToGroups(sqs, QueueUrl, "g-0", "g-1", "g-2");

      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["g-0", "g-1", "g-2"]);
      await clock.advance(1000);
      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["g-0", "g-1", "g-2"]);
    },
  ),
  now(
    "a message that is put back comes again while a later one of its group is in flight",
    recorded("test_fifo_message_group_visibility_after_terminate_visibility_timeout"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      await sendToGroups(sqs, QueueUrl, "g1-m1", "g1-m2", "g2-m1");
      const [first] = await receive(sqs, QueueUrl, { MaxNumberOfMessages: 2 });
      if (first !== undefined) await changeVisibility(sqs, QueueUrl, first, 0);

      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["g2-m1", "g1-m1"]);
    },
  ),
  ...[0, 1, 2].map((position) =>
    inTime(
      `a message in flight holds back what follows it in its group, and nothing before it: number ${position} of 3`,
      recorded("test_fifo_group_visibility_extends_with_change_message_visibility"),
      async (sqs, clock) => {
        const QueueUrl = await newFifo(sqs, { VisibilityTimeout: "1" });
        await sendToGroups(sqs, QueueUrl, "g-0", "g-1", "g-2");
        const received = await receive(sqs, QueueUrl);
        const prolonged = received[position];
        if (prolonged !== undefined) await changeVisibility(sqs, QueueUrl, prolonged, 4);
        await clock.advance(2500);

        expect(await receiveBodies(sqs, QueueUrl)).toEqual(["g-0", "g-1", "g-2"].slice(0, position));
      },
    ),
  ),
  now(
    "a group that was emptied takes messages again",
    recorded("test_fifo_empty_message_groups_added_back_to_queue"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      await sendToGroups(sqs, QueueUrl, "g-1");
      await remove(sqs, QueueUrl, await receiveOne(sqs, QueueUrl));
      expect(await receive(sqs, QueueUrl)).toEqual([]);

      await sendToGroups(sqs, QueueUrl, "g-2");

      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["g-2"]);
    },
  ),
  inTime(
    "a receive that is tried again gets the same messages and handles, with a new timeout",
    api("ReceiveMessage"),
    async (sqs, clock) => {
      const QueueUrl = await newFifo(sqs, { VisibilityTimeout: "30" });
      await sendToGroups(sqs, QueueUrl, "g-1", "g-2");
      const attempt = { ReceiveRequestAttemptId: "attempt-1" };
      const first = await receive(sqs, QueueUrl, attempt);
      await clock.advance(29_000);

      expect(await receive(sqs, QueueUrl, attempt)).toEqual(first);

      await clock.advance(29_000);
      expect(await receive(sqs, QueueUrl)).toEqual([]);
      for (const message of first) await remove(sqs, QueueUrl, message);
      expect(await receive(sqs, QueueUrl, attempt)).toEqual([]);
    },
  ),
  inTime(
    "a receive cannot be tried again once one of its messages was changed, or after 5 minutes",
    api("ReceiveMessage"),
    async (sqs, clock) => {
      const QueueUrl = await newFifo(sqs, { VisibilityTimeout: "600" });
      await sendToGroups(sqs, QueueUrl, "g-1", "h-1");
      const changed = { ReceiveRequestAttemptId: "changed", MaxNumberOfMessages: 1 };
      const late = { ReceiveRequestAttemptId: "late", MaxNumberOfMessages: 1 };
      const first = await receiveOne(sqs, QueueUrl, changed);
      await receiveOne(sqs, QueueUrl, late);
      await clock.advance(1000);
      await changeVisibility(sqs, QueueUrl, first, 500);

      expect(await receive(sqs, QueueUrl, changed)).toEqual([]);
      await clock.advance(5 * 60_000 - 1000);
      expect(await receive(sqs, QueueUrl, late)).toEqual([]);
    },
  ),
  inTime(
    "a delayed message holds back its group until its delay is over",
    guide("sqs-delay-queues"),
    async (sqs, clock) => {
      const QueueUrl = await newFifo(sqs, { DelaySeconds: "2" });
      await sendToGroups(sqs, QueueUrl, "g-1");
      await clock.advance(1000);
      await sendToGroups(sqs, QueueUrl, "g-2");
      await clock.advance(1000);

      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["g-1"]);
    },
  ),
];
