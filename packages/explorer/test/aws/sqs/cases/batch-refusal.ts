/** What refuses a batch as a whole. */
import { expect } from "vitest";
import { numbered, sendBatch } from "./batch-given.ts";
import { api, newFifo, newQueue, now, receive, recorded, refused, type SqsCase } from "./case.ts";

const MIB = 1_048_576;

export const batchRefusalCases: readonly SqsCase[] = [
  now("a batch has at most 10 entries", recorded("test_too_many_entries_in_batch_request"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    const handles = Array.from({ length: 11 }, (_, index) => ({ Id: `e${index}`, ReceiptHandle: "x" }));

    await refused(sendBatch(sqs, QueueUrl, numbered(11)), "TooManyEntriesInBatchRequest");
    await refused(
      sqs.call("DeleteMessageBatch", { QueueUrl, Entries: handles }),
      "TooManyEntriesInBatchRequest",
    );
    const Entries = handles.map((entry) => ({ ...entry, VisibilityTimeout: 1 }));
    await refused(
      sqs.call("ChangeMessageVisibilityBatch", { QueueUrl, Entries }),
      "TooManyEntriesInBatchRequest",
    );
  }),
  now("a batch has at least one entry", api("SendMessageBatch"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);

    await refused(sendBatch(sqs, QueueUrl, {}), "EmptyBatchRequest");
    await refused(sqs.call("DeleteMessageBatch", { QueueUrl, Entries: [] }), "EmptyBatchRequest");
  }),
  now("the ids of a batch are distinct", api("SendMessageBatch"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    const entry = { Id: "same", MessageBody: "x" };

    await refused(
      sqs.call("SendMessageBatch", { QueueUrl, Entries: [entry, entry] }),
      "BatchEntryIdsNotDistinct",
    );
  }),
  now(
    "the ids of a batch have their characters and length",
    recorded("test_invalid_batch_id"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);

      for (const id of ["", "a:b", "x".repeat(81)]) {
        await refused(sendBatch(sqs, QueueUrl, { [id]: "x" }), "InvalidBatchEntryId");
      }
      await sendBatch(sqs, QueueUrl, { [`${"x".repeat(78)}_-`]: "x" });
    },
  ),
  now(
    "the messages of a batch together are no longer than 1 MiB",
    recorded("test_send_message_batch_with_oversized_contents"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);

      await refused(
        sendBatch(sqs, QueueUrl, { a: "x".repeat(MIB - 1), b: "xx" }),
        "BatchRequestTooLong",
        /longer than 1048576 bytes/,
      );
      await sendBatch(sqs, QueueUrl, { a: "x".repeat(MIB - 1), b: "x" });
    },
  ),
  now(
    "an entry without group or deduplication id refuses the whole FIFO batch",
    recorded("test_send_batch_missing_deduplication_id_for_fifo_queue"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      const good = { MessageBody: "a", MessageGroupId: "g", MessageDeduplicationId: "d" };
      const { MessageGroupId: _, ...noGroup } = good;
      const { MessageDeduplicationId: __, ...noId } = good;

      await refused(sendBatch(sqs, QueueUrl, { good, noGroup }), "InvalidParameterValue", /MessageGroupId/);
      await refused(
        sendBatch(sqs, QueueUrl, { good, noId }),
        "InvalidParameterValue",
        /ContentBasedDeduplication/,
      );
      expect(await receive(sqs, QueueUrl)).toEqual([]);
    },
  ),
];
