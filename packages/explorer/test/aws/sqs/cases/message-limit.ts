/** What a message may hold, and what it must have. */
import { expect } from "vitest";
import {
  api,
  guide,
  newFifo,
  newQueue,
  now,
  receive,
  recorded,
  refused,
  type SqsCase,
  send,
  text,
} from "./case.ts";

export const messageLimitCases: readonly SqsCase[] = [
  now("a message has a body", recorded("test_send_empty_message"), async (sqs) => {
    await refused(send(sqs, await newQueue(sqs), ""), "MissingParameter");
  }),
  now(
    "a body has the characters of XML",
    recorded("test_send_message_with_invalid_payload_characters"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);

      for (const character of ["\0", "\b", "\x13", "\uFFFF"]) {
        await refused(send(sqs, QueueUrl, `Invalid-${character}`), "InvalidMessageContents");
      }
      await send(sqs, QueueUrl, "\t\n\r \uD7FF\uE000\uFFFD\u{10000}\u{10FFFF}");
    },
  ),
  now("attributes have their names, types, values and number", guide("sqs-message-metadata"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    const sendWith = (MessageAttributes: Record<string, object>) =>
      send(sqs, QueueUrl, { MessageBody: "a", MessageAttributes });
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, text("x")]));

    for (const name of ["AWS.x", "amazon.x", ".x", "x.", "x..y", "x y", "x".repeat(257)]) {
      await refused(sendWith({ [name]: text("x") }), "InvalidParameterValue");
    }
    await refused(sendWith({ x: text("") }), "InvalidParameterValue", /non-empty value/);
    await refused(sendWith({ x: text("\0") }), "InvalidParameterValue");
    await refused(sendWith({ x: { DataType: "Text", StringValue: "x" } }), "InvalidParameterValue");
    await refused(sendWith({ x: { DataType: "Number", StringValue: "ten" } }), "InvalidParameterValue");
    await refused(sendWith({ x: { DataType: "Binary", StringValue: "x" } }), "InvalidParameterValue");
    await refused(sendWith(many(11)), "InvalidParameterValue");
    await sendWith(many(10));
    await sendWith({
      "a.b-c_1": text("x"),
      [`${"x".repeat(256)}`]: { DataType: "String.own", StringValue: "x" },
    });
  }),
  now(
    "body and attributes together are no longer than 1 MiB",
    recorded("test_send_oversized_message"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);
      const MessageAttributes = { k: text("x") };
      const room = 1_048_576 - "k".length - "String".length - "x".length;

      await send(sqs, QueueUrl, { MessageBody: "a".repeat(room), MessageAttributes });
      await refused(
        send(sqs, QueueUrl, { MessageBody: "a".repeat(room + 1), MessageAttributes }),
        "InvalidParameterValue",
        /Message must be shorter than 1048576 bytes/,
      );
    },
  ),
  now(
    "a queue may have a lower limit, in bytes",
    recorded("test_send_message_with_updated_maximum_message_size"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs, { MaximumMessageSize: "1024" });

      await send(sqs, QueueUrl, "ä".repeat(512));
      await refused(send(sqs, QueueUrl, `${"ä".repeat(512)}a`), "InvalidParameterValue", /1024 bytes/);
    },
  ),
  now(
    "a FIFO message has a group and a deduplication id",
    recorded("test_posting_to_fifo_requires_deduplicationid_group_id"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);

      await refused(send(sqs, QueueUrl, "a"), "MissingParameter", /MessageGroupId/);
      await refused(
        send(sqs, QueueUrl, { MessageBody: "a", MessageGroupId: "g" }),
        "InvalidParameterValue",
        /ContentBasedDeduplication/,
      );
    },
  ),
  now(
    "group and deduplication ids are 128 letters, digits and punctuation",
    recorded("test_message_deduplication_id_invalid"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs);
      const sendAs = (MessageGroupId: string, MessageDeduplicationId: string) =>
        send(sqs, QueueUrl, { MessageBody: "a", MessageGroupId, MessageDeduplicationId });

      for (const id of ["", "x".repeat(129), "group 123", "ü", "a\b"]) {
        await refused(sendAs("g", id), "InvalidParameterValue");
        await refused(sendAs(id, "d"), "InvalidParameterValue");
      }
      const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
      await sendAs("x".repeat(128), "x".repeat(128));
      await sendAs(punctuation, punctuation);
      expect((await receive(sqs, QueueUrl)).length).toBe(2);
    },
  ),
  now("a standard queue knows no deduplication ids", api("SendMessage"), async (sqs) => {
    await refused(
      send(sqs, await newQueue(sqs), { MessageBody: "a", MessageDeduplicationId: "d" }),
      "InvalidParameterValue",
    );
  }),
];
