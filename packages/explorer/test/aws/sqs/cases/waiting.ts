/** Waiting: delays, and receives that wait. */
import { expect } from "vitest";
import { untilSleeping } from "../../../../../../test/kit/time/until-sleeping.ts";
import {
  guide,
  inTime,
  newFifo,
  newQueue,
  now,
  receive,
  receiveBodies,
  recorded,
  refused,
  remove,
  type SqsCase,
  send,
  sendToGroups,
} from "./case.ts";

export const waitingCases: readonly SqsCase[] = [
  inTime(
    "a delayed message appears when its delay is over",
    guide("sqs-message-timers"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs, { DelaySeconds: "5" });
      await send(sqs, QueueUrl, { MessageBody: "own delay", DelaySeconds: 2 });
      await send(sqs, QueueUrl, { MessageBody: "at once", DelaySeconds: 0 });
      await send(sqs, QueueUrl, "the queue's delay");

      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["at once"]);
      await clock.advance(2000);
      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["own delay"]);
      await clock.advance(2999);
      expect(await receiveBodies(sqs, QueueUrl)).toEqual([]);
      await clock.advance(1);
      expect(await receiveBodies(sqs, QueueUrl)).toEqual(["the queue's delay"]);
      await refused(send(sqs, QueueUrl, { MessageBody: "a", DelaySeconds: 901 }), "InvalidParameterValue");
      await refused(send(sqs, QueueUrl, { MessageBody: "a", DelaySeconds: -1 }), "InvalidParameterValue");
    },
  ),
  now(
    "a message of a FIFO queue has no delay of its own",
    recorded("test_fifo_queue_send_message_with_delay_seconds_fails"),
    async (sqs) => {
      const message = { MessageBody: "a", MessageGroupId: "g", MessageDeduplicationId: "d" };

      await refused(
        send(sqs, await newFifo(sqs), { ...message, DelaySeconds: 2 }),
        "InvalidParameterValue",
        /not valid for this queue type/,
      );
    },
  ),
  inTime(
    "a message of a FIFO queue with delay 0 is delayed as the queue says",
    recorded("test_fifo_queue_send_message_with_zero_delay_defaults_to_queue_delay"),
    async (sqs, clock) => {
      const QueueUrl = await newFifo(sqs, { DelaySeconds: "2" });
      const ids = { MessageGroupId: "g", MessageDeduplicationId: "d" };
      await send(sqs, QueueUrl, { MessageBody: "a", DelaySeconds: 0, ...ids });

      expect(await receive(sqs, QueueUrl)).toEqual([]);
      await clock.advance(2000);
      expect(await receive(sqs, QueueUrl)).toHaveLength(1);
    },
  ),
  inTime(
    "a new delay reaches back in a FIFO queue, and does not in a standard queue",
    guide("sqs-delay-queues"),
    async (sqs, clock) => {
      const standard = await newQueue(sqs, { DelaySeconds: "100" });
      const fifo = await newFifo(sqs, { DelaySeconds: "100" });
      await send(sqs, standard, "a");
      await sendToGroups(sqs, fifo, "g-1");
      const Attributes = { DelaySeconds: "10" };
      for (const QueueUrl of [standard, fifo]) await sqs.call("SetQueueAttributes", { QueueUrl, Attributes });

      await clock.advance(10_000);

      expect(await receive(sqs, standard)).toEqual([]);
      expect(await receiveBodies(sqs, fifo)).toEqual(["g-1"]);
    },
  ),
  inTime(
    "a long poll waits for a message that is sent",
    guide("sqs-short-and-long-polling"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs);
      const waiting = receiveBodies(sqs, QueueUrl, { WaitTimeSeconds: 20 });
      await untilSleeping(clock);

      await clock.advance(15_000);
      await send(sqs, QueueUrl, "a");

      expect(await waiting).toEqual(["a"]);
      expect(clock.sleepers).toBe(0);
    },
  ),
  inTime(
    "a long poll ends without a message when its time is over",
    guide("sqs-short-and-long-polling"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs, { ReceiveMessageWaitTimeSeconds: "20" });
      const start = clock.now();
      const waiting = receiveBodies(sqs, QueueUrl);
      await untilSleeping(clock);

      expect(await clock.run(waiting)).toEqual([]);
      expect(clock.now() - start).toBe(20_000);
    },
  ),
  inTime(
    "a long poll is handed what becomes visible again, or has been delayed",
    guide("sqs-short-and-long-polling"),
    async (sqs, clock) => {
      const QueueUrl = await newQueue(sqs);
      const start = clock.now();
      await send(sqs, QueueUrl, { MessageBody: "a", DelaySeconds: 3 });
      const first = receiveBodies(sqs, QueueUrl, { WaitTimeSeconds: 20, VisibilityTimeout: 10 });
      await untilSleeping(clock);
      expect(await clock.run(first)).toEqual(["a"]);
      expect(clock.now() - start).toBe(3000);

      const second = receiveBodies(sqs, QueueUrl, { WaitTimeSeconds: 20 });
      await untilSleeping(clock);
      expect(await clock.run(second)).toEqual(["a"]);
      expect(clock.now() - start).toBe(13_000);
    },
  ),
  inTime(
    "one of several who wait gets the message, the others the next",
    recorded("test_fifo_message_group_visibility"),
    async (sqs, clock) => {
      const QueueUrl = await newFifo(sqs, { VisibilityTimeout: "60" });
      const got: string[] = [];
      const poll = async () => {
        const [message] = await receive(sqs, QueueUrl, { MaxNumberOfMessages: 1, WaitTimeSeconds: 20 });
        if (message !== undefined) got.push(message.Body);
        return message;
      };
      const polls = [poll(), poll()];
      await untilSleeping(clock, 2);

      await sendToGroups(sqs, QueueUrl, "g-1");
      const first = await Promise.race(polls);
      await sendToGroups(sqs, QueueUrl, "g-2");
      await clock.advance(1000);
      expect(got).toEqual(["g-1"]);
      if (first !== undefined) await remove(sqs, QueueUrl, first);

      await Promise.all(polls);
      expect(got).toEqual(["g-1", "g-2"]);
    },
  ),
];
