/** Redrive tasks: their pace, their end, and what they are refused for. */
import { expect } from "vitest";
import { api, arnOf, inTime, newFifo, newQueue, now, receive, refused, type SqsCase, send } from "./case.ts";
import { poison } from "./dead-letter-given.ts";
import { deadLettersOf, moves, reportOf } from "./redrive-given.ts";

export const redriveTaskCases: readonly SqsCase[] = [
  inTime(
    "a task keeps the rate it is given",
    moves("test_move_task_with_throughput_limit"),
    async (sqs, clock) => {
      const { queue, SourceArn } = await deadLettersOf(sqs, 4);
      await sqs.call("StartMessageMoveTask", { SourceArn, MaxNumberOfMessagesPerSecond: 1 });

      expect(await receive(sqs, queue)).toHaveLength(1);
      await clock.advance(1000);
      expect(await receive(sqs, queue)).toHaveLength(1);
      expect(await reportOf(sqs, SourceArn)).toMatchObject({
        Status: "RUNNING",
        ApproximateNumberOfMessagesMoved: 2,
        ApproximateNumberOfMessagesToMove: 4,
        MaxNumberOfMessagesPerSecond: 1,
      });
      await clock.advance(2000);
      expect(await receive(sqs, queue)).toHaveLength(2);
      expect(await reportOf(sqs, SourceArn)).toMatchObject({ Status: "COMPLETED" });
      expect(await reportOf(sqs, SourceArn)).not.toHaveProperty("TaskHandle");
    },
  ),
  inTime("one task a queue runs at a time", moves("test_start_multiple_move_tasks"), async (sqs, clock) => {
    const { SourceArn } = await deadLettersOf(sqs, 2);
    const task = { SourceArn, MaxNumberOfMessagesPerSecond: 1 };
    await sqs.call("StartMessageMoveTask", task);

    await refused(sqs.call("StartMessageMoveTask", task), "InvalidParameterValue", /already a task running/);
    await clock.advance(2000);
    await sqs.call("StartMessageMoveTask", task);
  }),
  inTime(
    "a task fails when its destination is deleted",
    moves("test_move_task_delete_destination_queue_while_running"),
    async (sqs, clock) => {
      const { deadLetters, SourceArn } = await deadLettersOf(sqs, 3);
      const destination = await newQueue(sqs);
      const DestinationArn = await arnOf(sqs, destination);
      await sqs.call("StartMessageMoveTask", { SourceArn, DestinationArn, MaxNumberOfMessagesPerSecond: 1 });
      await sqs.call("DeleteQueue", { QueueUrl: destination });

      await clock.advance(1000);

      expect(await reportOf(sqs, SourceArn)).toMatchObject({
        Status: "FAILED",
        FailureReason: "AWS.SimpleQueueService.NonExistentQueue",
      });
      expect(await receive(sqs, deadLetters)).toHaveLength(2);
    },
  ),
  now(
    "source and destination are dead-letter queues and queues that exist",
    moves("test_source_needs_redrive_policy"),
    async (sqs) => {
      const { SourceArn } = await deadLettersOf(sqs, 1);
      const start = (task: {
        SourceArn: string;
        DestinationArn?: string;
        MaxNumberOfMessagesPerSecond?: number;
      }) => sqs.call("StartMessageMoveTask", task);

      await refused(
        start({ SourceArn: await arnOf(sqs, await newQueue(sqs)) }),
        "InvalidParameterValue",
        /must be configured as a Dead Letter Queue/,
      );
      await refused(start({ SourceArn: `${SourceArn}x` }), "ResourceNotFoundException", /SourceArn/);
      await refused(
        start({ SourceArn, DestinationArn: `${SourceArn}x` }),
        "ResourceNotFoundException",
        /DestinationArn/,
      );
      await refused(
        start({ SourceArn, DestinationArn: await arnOf(sqs, await newFifo(sqs)) }),
        "InvalidParameterValue",
      );
      await refused(start({ SourceArn, MaxNumberOfMessagesPerSecond: 501 }), "InvalidParameterValue");
    },
  ),
  now("the latest tasks are listed first", api("ListMessageMoveTasks"), async (sqs) => {
    const { queue, SourceArn } = await deadLettersOf(sqs, 1);
    await sqs.call("StartMessageMoveTask", { SourceArn });
    await send(sqs, queue, "another");
    await poison(sqs, queue);
    await sqs.call("StartMessageMoveTask", { SourceArn });

    const { Results } = await sqs.call("ListMessageMoveTasks", { SourceArn, MaxResults: 10 });

    expect(Results.map(({ ApproximateNumberOfMessagesMoved }) => ApproximateNumberOfMessagesMoved)).toEqual([
      2, 1,
    ]);
    await refused(sqs.call("ListMessageMoveTasks", { SourceArn, MaxResults: 11 }), "InvalidParameterValue");
  }),
];
