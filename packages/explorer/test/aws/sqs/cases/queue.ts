/** Queues: how they come, go and are found. */
import { expect } from "vitest";
import {
  api,
  arnOf,
  guide,
  inTime,
  newFifo,
  newQueue,
  now,
  receive,
  recorded,
  refused,
  type SqsCase,
  send,
} from "./case.ts";

export const queueCases: readonly SqsCase[] = [
  now(
    "a queue that is created again as it is has the same URL",
    recorded("test_create_fifo_queue_with_same_attributes_is_idempotent"),
    async (sqs) => {
      const input = { QueueName: "twice.fifo", Attributes: { FifoQueue: "true", VisibilityTimeout: "7" } };

      const first = await sqs.call("CreateQueue", input);

      expect(await sqs.call("CreateQueue", input)).toEqual(first);
      expect(await sqs.call("GetQueueUrl", { QueueName: "twice.fifo" })).toEqual(first);
      expect(first.QueueUrl).toMatch(/\/\d{12}\/twice\.fifo$/);
    },
  ),
  now(
    "a queue is not created again with another value of an attribute",
    recorded("test_create_queue_with_different_attributes_raises_exception"),
    async (sqs) => {
      await sqs.call("CreateQueue", { QueueName: "delayed", Attributes: { DelaySeconds: "1" } });

      await refused(
        sqs.call("CreateQueue", { QueueName: "delayed", Attributes: { DelaySeconds: "2" } }),
        "QueueNameExists",
        /different value for attribute DelaySeconds/,
      );
    },
  ),
  now("queue names have their characters, length and suffix", api("CreateQueue"), async (sqs) => {
    const create = (QueueName: string, Attributes = {}) => sqs.call("CreateQueue", { QueueName, Attributes });

    await refused(create("with space"), "InvalidParameterValue");
    await refused(create("x".repeat(81)), "InvalidParameterValue");
    await refused(create("standard.fifo"), "InvalidParameterValue");
    await refused(create("no-suffix", { FifoQueue: "true" }), "InvalidParameterValue");
    await create("x".repeat(80));
    await create(`${"x".repeat(75)}.fifo`, { FifoQueue: "true" });
  }),
  now("a queue that is not there is not found", recorded("test_non_existent_queue"), async (sqs) => {
    const QueueUrl = (await newQueue(sqs)).replace(/[^/]+$/, "nowhere");

    await refused(sqs.call("GetQueueUrl", { QueueName: "nowhere" }), "QueueDoesNotExist");
    await refused(receive(sqs, QueueUrl), "QueueDoesNotExist");
    await refused(send(sqs, QueueUrl, "a"), "QueueDoesNotExist");
    await refused(sqs.call("DeleteQueue", { QueueUrl }), "QueueDoesNotExist");
  }),
  now("queues are listed by prefix and page", api("ListQueues"), async (sqs) => {
    for (const QueueName of ["list-1", "list-2", "list-3", "other"])
      await sqs.call("CreateQueue", { QueueName });
    const names = (urls: readonly string[] = []) => urls.map((url) => url.replace(/^.*\//, ""));

    const all = await sqs.call("ListQueues", { QueueNamePrefix: "list-" });
    const first = await sqs.call("ListQueues", { QueueNamePrefix: "list-", MaxResults: 2 });
    const { NextToken } = first;
    const second = await sqs.call("ListQueues", { QueueNamePrefix: "list-", MaxResults: 2, NextToken });

    expect(names(all.QueueUrls)).toEqual(["list-1", "list-2", "list-3"]);
    expect(all.NextToken).toBeUndefined();
    expect(names(first.QueueUrls)).toEqual(["list-1", "list-2"]);
    expect(names(second.QueueUrls)).toEqual(["list-3"]);
  }),
  now(
    "purging takes what is in flight and the deduplication ids along",
    recorded("test_purge_queue_clears_fifo_deduplication_cache"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      const message = { MessageBody: "a", MessageGroupId: "g", MessageDeduplicationId: "d" };
      await send(sqs, QueueUrl, message);
      await receive(sqs, QueueUrl);

      await sqs.call("PurgeQueue", { QueueUrl });
      await send(sqs, QueueUrl, message);

      expect(await receive(sqs, QueueUrl)).toHaveLength(1);
    },
  ),
  inTime("a queue is purged once in 60 seconds", api("PurgeQueue"), async (sqs, clock) => {
    const QueueUrl = await newQueue(sqs);
    await sqs.call("PurgeQueue", { QueueUrl });

    await clock.advance(59_999);
    await refused(sqs.call("PurgeQueue", { QueueUrl }), "PurgeQueueInProgress");
    await clock.advance(1);
    await sqs.call("PurgeQueue", { QueueUrl });
  }),
  inTime("a name rests for 60 seconds after its queue is deleted", api("DeleteQueue"), async (sqs, clock) => {
    const QueueUrl = await newQueue(sqs);
    const QueueName = QueueUrl.replace(/^.*\//, "");
    await send(sqs, QueueUrl, "a");
    await sqs.call("DeleteQueue", { QueueUrl });

    await clock.advance(59_999);
    await refused(sqs.call("CreateQueue", { QueueName }), "QueueDeletedRecently");
    await clock.advance(1);
    await sqs.call("CreateQueue", { QueueName });
    expect(await receive(sqs, QueueUrl)).toEqual([]);
  }),
  now(
    "a queue's ARN names region, account and queue",
    guide("sqs-queue-message-identifiers"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);

      expect(await arnOf(sqs, QueueUrl)).toBe(
        `arn:aws:sqs:us-east-1:000000000000:${QueueUrl.replace(/^.*\//, "")}`,
      );
    },
  ),
];
