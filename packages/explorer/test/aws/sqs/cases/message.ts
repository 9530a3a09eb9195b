/** Messages: how they are received, and with which attributes. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import {
  api,
  guide,
  inTime,
  newFifo,
  newQueue,
  now,
  receive,
  receiveOne,
  recorded,
  refused,
  type SqsCase,
  send,
  text,
} from "./case.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

export const messageCases: readonly SqsCase[] = [
  now("a message comes out as it went in", guide("sqs-message-metadata"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    const MessageAttributes = {
      text: text("häß"),
      number: { DataType: "Number.price", StringValue: "-12.5e3" },
      bytes: { DataType: "Binary", BinaryValue: new Uint8Array([0, 1, 255]) },
    };

    const sent = await send(sqs, QueueUrl, { MessageBody: "grün\n", MessageAttributes });
    const received = await receiveOne(sqs, QueueUrl);

    expect(received).toMatchObject({ Body: "grün\n", MessageId: sent.MessageId });
    expect(received.MessageAttributes).toEqual(MessageAttributes);
    expect(received.MD5OfMessageAttributes).toBe(sent.MD5OfMessageAttributes);
    expect(received.MD5OfBody).toBe(md5("grün\n"));
  }),
  now(
    "the digest of attributes is AWS's",
    recorded("test_send_message_with_binary_attributes"),
    async (sqs) => {
      const BinaryValue = Buffer.from(
        "traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01",
      );

      const sent = await send(sqs, await newQueue(sqs), {
        MessageBody: "test",
        MessageAttributes: { attr1: { DataType: "Binary", BinaryValue } },
      });

      expect(sent).toMatchObject({
        MD5OfMessageBody: "098f6bcd4621d373cade4e832627b4f6",
        MD5OfMessageAttributes: "8cbe4db156db8a94db8b801b7addb984",
      });
    },
  ),
  now(
    "only attributes that are asked for are handed out, with the digest of those",
    recorded("test_receive_message_message_attribute_names_filters"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);
      const MessageAttributes = { Hello: text("There"), General: text("Kenobi"), "Help.Me": text("Me") };
      await send(sqs, QueueUrl, { MessageBody: "msg", MessageAttributes });
      const ask = async (...MessageAttributeNames: string[]) => {
        const message = await receiveOne(sqs, QueueUrl, { MessageAttributeNames, VisibilityTimeout: 0 });
        return [message.MD5OfMessageAttributes, Object.keys(message.MessageAttributes ?? {}).sort()];
      };

      expect(await ask("All")).toEqual(["4c360f3fdafd970e05fae2f149d997f5", ["General", "Hello", "Help.Me"]]);
      expect(await ask(".*")).toEqual(["4c360f3fdafd970e05fae2f149d997f5", ["General", "Hello", "Help.Me"]]);
      expect(await ask("Hello", "General")).toEqual([
        "fca026605781cb4126a1e9044df24232",
        ["General", "Hello"],
      ]);
      expect(await ask("Hello", "Nobody")).toEqual(["a311262e065454b75da111d535b8dacd", ["Hello"]]);
      expect((await ask("Help.*"))[1]).toEqual(["Help.Me"]);
      expect(await ask("Nobody")).toEqual([undefined, []]);
      expect(await ask()).toEqual([undefined, []]);
    },
  ),
  now(
    "system attributes are handed out by name",
    recorded("test_receive_message_message_system_attribute_names_filters"),
    async (sqs) => {
      const QueueUrl = await newQueue(sqs);
      await send(sqs, QueueUrl, "msg");
      const ask = async (request: object) =>
        Object.keys(
          (await receiveOne(sqs, QueueUrl, { VisibilityTimeout: 0, ...request })).Attributes ?? {},
        ).sort();

      expect(await ask({ MessageSystemAttributeNames: ["All"] })).toEqual([
        "ApproximateFirstReceiveTimestamp",
        "ApproximateReceiveCount",
        "SenderId",
        "SentTimestamp",
      ]);
      expect(await ask({ MessageSystemAttributeNames: ["SenderId"] })).toEqual(["SenderId"]);
      expect(await ask({ MessageSystemAttributeNames: [], AttributeNames: ["SentTimestamp"] })).toEqual([
        "SentTimestamp",
      ]);
      expect(await ask({ MessageSystemAttributeNames: [] })).toEqual([]);
    },
  ),
  now(
    "a message of a FIFO queue tells its ids and its number",
    recorded("test_fifo_message_attributes"),
    async (sqs) => {
      const QueueUrl = await newFifo(sqs, { VisibilityTimeout: "0" });
      const ids = { MessageGroupId: "group-1", MessageDeduplicationId: "dedup-1" };

      const sent = await send(sqs, QueueUrl, { MessageBody: "a", ...ids });
      const first = await receiveOne(sqs, QueueUrl);
      const second = await receiveOne(sqs, QueueUrl);

      expect(sent.SequenceNumber).toMatch(/^\d{20}$/);
      expect(first.Attributes).toMatchObject({
        ...ids,
        SequenceNumber: sent.SequenceNumber,
        ApproximateReceiveCount: "1",
      });
      expect(second.Attributes).toMatchObject({ ApproximateReceiveCount: "2" });
    },
  ),
  inTime("a message tells when it was sent and first received", api("ReceiveMessage"), async (sqs, clock) => {
    const QueueUrl = await newQueue(sqs, { VisibilityTimeout: "10" });
    const start = clock.now();
    await send(sqs, QueueUrl, "a");
    await clock.advance(1000);
    await receiveOne(sqs, QueueUrl);
    await clock.advance(10_000);

    expect((await receiveOne(sqs, QueueUrl)).Attributes).toMatchObject({
      SentTimestamp: String(start),
      ApproximateFirstReceiveTimestamp: String(start + 1000),
      ApproximateReceiveCount: "2",
    });
  }),
  now("sequence numbers grow", recorded("test_fifo_sequence_number_increases"), async (sqs) => {
    const QueueUrl = await newFifo(sqs, { ContentBasedDeduplication: "true" });
    const numbers: (string | undefined)[] = [];
    for (const MessageBody of ["a", "b", "c"]) {
      numbers.push((await send(sqs, QueueUrl, { MessageBody, MessageGroupId: "g" })).SequenceNumber);
    }

    expect(numbers).toEqual([...numbers].sort());
    expect(new Set(numbers).size).toBe(3);
  }),
  now("a trace header is a system attribute", api("SendMessage"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    const trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";

    const sent = await send(sqs, QueueUrl, {
      MessageBody: "a",
      MessageSystemAttributes: { AWSTraceHeader: text(trace) },
    });

    expect(sent.MD5OfMessageSystemAttributes).toMatch(/^[0-9a-f]{32}$/);
    expect((await receiveOne(sqs, QueueUrl)).Attributes).toMatchObject({ AWSTraceHeader: trace });
    await refused(
      send(sqs, QueueUrl, { MessageBody: "a", MessageSystemAttributes: { Other: text("x") } }),
      "InvalidParameterValue",
    );
  }),
  now("a standard queue takes a group id and keeps no order by it", api("SendMessage"), async (sqs) => {
    const QueueUrl = await newQueue(sqs);
    await send(sqs, QueueUrl, { MessageBody: "a", MessageGroupId: "tenant" });
    await send(sqs, QueueUrl, { MessageBody: "b", MessageGroupId: "tenant" });

    expect((await receiveOne(sqs, QueueUrl)).Attributes).toMatchObject({ MessageGroupId: "tenant" });
    expect(await receive(sqs, QueueUrl)).toHaveLength(1);
  }),
];
