/** The attributes of queues: what may be set, and what is returned. */
import { expect } from "vitest";
import {
  api,
  attributesOf,
  inTime,
  newFifo,
  newQueue,
  now,
  recorded,
  refused,
  type SqsCase,
} from "./case.ts";

export const queueAttributeCases: readonly SqsCase[] = [
  now(
    "attributes of FIFO queues are refused for standard queues",
    recorded("test_create_standard_queue_with_fifo_attribute_raises_error"),
    async (sqs) => {
      for (const [name, value] of [
        ["ContentBasedDeduplication", "true"],
        ["DeduplicationScope", "queue"],
        ["FifoThroughputLimit", "perQueue"],
        ["FifoQueue", "false"],
      ] as const) {
        const input = { QueueName: "no-fifo", Attributes: { [name]: value } };
        await refused(sqs.call("CreateQueue", input), "InvalidAttributeName");
      }
    },
  ),
  now("attributes have their names and ranges", api("SetQueueAttributes"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    const set = (name: string, value: string) =>
      sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { [name]: value } });

    await refused(set("Colour", "red"), "InvalidAttributeName");
    for (const [name, value] of [
      ["DelaySeconds", "901"],
      ["MaximumMessageSize", "1023"],
      ["MaximumMessageSize", "1048577"],
      ["MessageRetentionPeriod", "59"],
      ["MessageRetentionPeriod", "1209601"],
      ["ReceiveMessageWaitTimeSeconds", "21"],
      ["VisibilityTimeout", "43201"],
      ["VisibilityTimeout", "soon"],
    ] as const) {
      await refused(set(name, value), "InvalidAttributeValue");
    }
    await set("VisibilityTimeout", "43200");
    expect(await attributesOf(sqs, QueueUrl)).toMatchObject({ VisibilityTimeout: "43200" });
  }),
  now("a queue has default attributes", recorded("test_set_queue_attributes_default_values"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    const all = await attributesOf(sqs, QueueUrl);

    expect(all).toMatchObject({
      ApproximateNumberOfMessages: "0",
      ApproximateNumberOfMessagesDelayed: "0",
      ApproximateNumberOfMessagesNotVisible: "0",
      DelaySeconds: "0",
      MaximumMessageSize: "1048576",
      MessageRetentionPeriod: "345600",
      ReceiveMessageWaitTimeSeconds: "0",
      SqsManagedSseEnabled: "true",
      VisibilityTimeout: "30",
    });
    expect(all).not.toHaveProperty("FifoQueue");
    const one = await sqs.call("GetQueueAttributes", { QueueUrl, AttributeNames: ["DelaySeconds"] });
    expect(one.Attributes).toEqual({ DelaySeconds: "0" });
    await refused(
      sqs.call("GetQueueAttributes", { QueueUrl, AttributeNames: ["Colour"] }),
      "InvalidAttributeName",
    );
  }),
  now(
    "a FIFO queue has default attributes of its own",
    recorded("test_fifo_set_content_based_deduplication_strategy"),
    async (sqs) => {
      expect(await attributesOf(sqs, await newFifo(sqs))).toMatchObject({
        FifoQueue: "true",
        ContentBasedDeduplication: "false",
        DeduplicationScope: "queue",
        FifoThroughputLimit: "perQueue",
      });
    },
  ),
  now("throughput per group needs deduplication per group", api("SetQueueAttributes"), async (sqs) => {
    const limit = { FifoThroughputLimit: "perMessageGroupId" };

    await refused(newFifo(sqs, limit), "InvalidAttributeValue");
    await refused(newFifo(sqs, { ...limit, DeduplicationScope: "queue" }), "InvalidAttributeValue");
    const queue = await newFifo(sqs, { ...limit, DeduplicationScope: "messageGroup" });
    expect(await attributesOf(sqs, queue)).toMatchObject(limit);
  }),
  now("a queue stays of its type", recorded("test_set_unsupported_attribute_fifo"), async (sqs) => {
    const set = (QueueUrl: string, FifoQueue: string) =>
      sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { FifoQueue } });

    await refused(set(await newQueue(sqs), "true"), "InvalidAttributeName");
    await refused(set(await newFifo(sqs), "false"), "InvalidAttributeValue");
  }),
  inTime("times of a queue are in seconds", api("GetQueueAttributes"), async (sqs, clock) => {
    const QueueUrl = await newQueue(sqs);
    const created = String(Math.floor(clock.now() / 1000));
    await clock.advance(5000);
    await sqs.call("SetQueueAttributes", { QueueUrl, Attributes: { DelaySeconds: "1" } });

    expect(await attributesOf(sqs, QueueUrl)).toMatchObject({
      CreatedTimestamp: created,
      LastModifiedTimestamp: String(Number(created) + 5),
    });
  }),
];
