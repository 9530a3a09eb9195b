/** Redrive: what is moved, where to, and as what. */
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
  remove,
  type SqsCase,
  send,
  sendToGroups,
} from "./case.ts";
import { poison, withDeadLetters } from "./dead-letter-given.ts";
import { deadLettersOf, moves, reportOf } from "./redrive-given.ts";

export const redriveCases: readonly SqsCase[] = [
  now("dead letters are moved to another queue", moves("test_basic_move_task_workflow"), async (sqs) => {
    const { deadLetters, SourceArn } = await deadLettersOf(sqs, 2);
    const destination = await newQueue(sqs);
    const DestinationArn = await arnOf(sqs, destination);

    const { TaskHandle } = await sqs.call("StartMessageMoveTask", { SourceArn, DestinationArn });

    expect(JSON.parse(Buffer.from(TaskHandle, "base64").toString())).toMatchObject({ sourceArn: SourceArn });
    expect((await receiveBodies(sqs, destination)).sort()).toEqual(["m0", "m1"]);
    expect(await receive(sqs, deadLetters)).toEqual([]);
    expect(await reportOf(sqs, SourceArn)).toMatchObject({
      ApproximateNumberOfMessagesMoved: 2,
      ApproximateNumberOfMessagesToMove: 2,
      DestinationArn,
      SourceArn,
      Status: "COMPLETED",
    });
  }),
  now(
    "without a destination each goes back to the queue it came from",
    moves("test_move_task_workflow_with_multiple_sources_as_default_destination"),
    async (sqs) => {
      const { queue, deadLetters, SourceArn } = await deadLettersOf(sqs, 1);
      const policy = { deadLetterTargetArn: SourceArn, maxReceiveCount: 1 };
      const second = await newQueue(sqs, { RedrivePolicy: JSON.stringify(policy) });
      await send(sqs, second, "of the second");
      await poison(sqs, second);

      await sqs.call("StartMessageMoveTask", { SourceArn });

      expect(await receiveBodies(sqs, queue)).toEqual(["m0"]);
      expect(await receiveBodies(sqs, second)).toEqual(["of the second"]);
      expect(await receive(sqs, deadLetters)).toEqual([]);
      expect(await reportOf(sqs, SourceArn)).not.toHaveProperty("DestinationArn");
    },
  ),
  inTime(
    "H28: a redriven message is a new one: new id, new time, no receives; body and attributes stay",
    guide("sqs-configure-dead-letter-queue-redrive"),
    async (sqs, clock) => {
      const { queue, deadLetters } = await withDeadLetters(sqs, newFifo, 1);
      const MessageAttributes = { envelope: { DataType: "String", StringValue: "key" } };
      const sent = await send(sqs, queue, {
        MessageBody: "a",
        MessageAttributes,
        MessageGroupId: "g",
        MessageDeduplicationId: "d",
      });
      await poison(sqs, queue);
      await clock.advance(1000);

      await sqs.call("StartMessageMoveTask", { SourceArn: await arnOf(sqs, deadLetters) });
      const redriven = await receiveOne(sqs, queue);

      expect(redriven).toMatchObject({ Body: "a", MessageAttributes });
      expect(redriven.MessageId).not.toBe(sent.MessageId);
      expect(redriven.Attributes).toMatchObject({
        ApproximateReceiveCount: "1",
        MessageGroupId: "g",
        SentTimestamp: String(clock.now()),
      });
      expect(redriven.Attributes?.MessageDeduplicationId).not.toBe("d");
      expect(redriven.Attributes).not.toHaveProperty("DeadLetterQueueSourceArn");
    },
  ),
  now(
    "dead letters of a FIFO queue keep the order of their groups",
    guide("sqs-configure-dead-letter-queue-redrive"),
    async (sqs) => {
      const { queue, deadLetters } = await withDeadLetters(sqs, newFifo, 1);
      await sendToGroups(sqs, queue, "g-1", "h-1", "g-2", "g-3");
      await poison(sqs, queue);

      await sqs.call("StartMessageMoveTask", { SourceArn: await arnOf(sqs, deadLetters) });

      const bodies = await receiveBodies(sqs, queue);
      expect(bodies.filter((body) => body.startsWith("g"))).toEqual(["g-1", "g-2", "g-3"]);
      expect(bodies).toHaveLength(4);
    },
  ),
  now(
    "a task leaves what somebody has received where it is",
    guide("sqs-configure-dead-letter-queue-redrive"),
    async (sqs) => {
      const { queue, deadLetters, SourceArn } = await deadLettersOf(sqs, 2);
      const held = await receiveOne(sqs, deadLetters);

      await sqs.call("StartMessageMoveTask", { SourceArn });

      expect(await receiveBodies(sqs, queue)).not.toContain(held.Body);
      await remove(sqs, deadLetters, held);
    },
  ),
];
