import { SNS } from "@aws-sdk/client-sns";
import { MessageProducer } from "onceonly/messaging";
import { beforeEach, describe, expect, it } from "vitest";
import type { SimulatedTopic } from "../../lib/simulator/room-options.ts";
import { Simulator } from "../../lib/simulator/simulator.ts";
import { inFunction } from "./given.ts";

const sns = new SNS({ maxAttempts: 1 });

let aws: Simulator;
let plain: string;
let raw: string;

beforeEach(() => {
  aws = new Simulator();
  plain = aws.queue("plain");
  raw = aws.queue("raw");
});

async function messagesIn(QueueUrl: string) {
  const all = { MaxNumberOfMessages: 10, AttributeNames: ["All"], MessageAttributeNames: ["All"] };
  return (await aws.sqs.call("ReceiveMessage", { QueueUrl, ...all })).Messages ?? [];
}

const bodiesIn = async (url: string) => (await messagesIn(url)).map(({ Body }) => Body);

describe("a topic", () => {
  it("gives every queue what is published: the message itself where delivery is raw, else JSON around it", async () => {
    const TopicArn = aws.topic("orders", { subscriptions: [{ queue: plain }, { queue: raw, raw: true }] });
    const MessageAttributes = {
      kind: { DataType: "String", StringValue: "paid & sent" },
      bytes: { DataType: "Binary", BinaryValue: new Uint8Array([1, 2]) },
    };

    const { MessageId } = await inFunction(aws, () =>
      sns.publish({ TopicArn, Message: "<é>", Subject: "s", MessageAttributes }),
    );

    const [whole] = await messagesIn(plain);
    expect(whole?.MessageAttributes).toBeUndefined();
    expect(JSON.parse(whole?.Body ?? "")).toMatchObject({
      Type: "Notification",
      MessageId,
      TopicArn,
      Subject: "s",
      Message: "<é>",
      Timestamp: expect.stringMatching(/^2023-11-14T22:13:20\.\d+Z$/),
      MessageAttributes: {
        kind: { Type: "String", Value: "paid & sent" },
        bytes: { Type: "Binary", Value: "AQI=" },
      },
    });
    expect(await messagesIn(raw)).toMatchObject([{ Body: "<é>", MessageAttributes }]);
  });

  it("takes the envelope of a producer along", async () => {
    const topic = aws.topic("orders", { subscriptions: [{ queue: raw, raw: true }] });
    const producer = new MessageProducer();

    const { messageId } = await inFunction(aws, () =>
      producer.send({ topic, key: "order-7", body: { id: 7 } }),
    );

    expect(messageId).toMatch(/^[\da-f-]{36}$/);
    const [message] = await messagesIn(raw);
    expect(JSON.stringify(message?.MessageAttributes)).toContain("order-7");
  });

  it("keeps the order of each group and drops repetitions, where it is FIFO", async () => {
    const queue = aws.queue("orders.fifo");
    const TopicArn = aws.topic("orders.fifo", { subscriptions: [{ queue, raw: true }] });
    const names = ["a1", "b1", "a2", "b2", "a3", "a1"];

    const { Successful } = await inFunction(aws, () =>
      sns.publishBatch({
        TopicArn,
        PublishBatchRequestEntries: names.map((name, index) => ({
          Id: String(index),
          Message: name,
          MessageGroupId: name[0],
          MessageDeduplicationId: name,
        })),
      }),
    );

    expect(Successful).toHaveLength(6);
    expect(Successful?.[5]?.MessageId).toBe(Successful?.[0]?.MessageId);
    const bodies = await bodiesIn(queue);
    expect(bodies.filter((body) => body.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
    expect(bodies.filter((body) => body.startsWith("b"))).toEqual(["b1", "b2"]);
  });

  it("gives a subscription what its policy wants", async () => {
    const TopicArn = aws.topic("orders", {
      subscriptions: [
        { queue: raw, raw: true, filterPolicy: { kind: ["paid"], cents: [{ numeric: [">", 100] }] } },
        { queue: plain, filterPolicy: { id: [7] }, filterPolicyScope: "MessageBody" },
      ],
    });
    const attributes = (kind: string, cents: string) => ({
      kind: { DataType: "String", StringValue: kind },
      cents: { DataType: "Number", StringValue: cents },
    });

    await inFunction(aws, async () => {
      await sns.publish({ TopicArn, Message: '{"id":7}', MessageAttributes: attributes("paid", "99") });
      await sns.publish({ TopicArn, Message: '{"id":8}', MessageAttributes: attributes("paid", "101") });
      await sns.publish({ TopicArn, Message: "text" });
    });

    expect(await bodiesIn(raw)).toEqual(['{"id":8}']);
    expect(await bodiesIn(plain)).toHaveLength(1);
  });

  it("invokes a function, and again when it fails", async () => {
    const seen: string[] = [];
    const fn = aws.lambda(({ Records: [record] }) => {
      seen.push(`${record.EventSource} ${record.Sns.Message} ${record.Sns.MessageId.length}`);
      if (seen.length < 2) throw new Error("not yet");
    });
    const TopicArn = aws.topic("orders", { subscriptions: [{ fn }] });

    await inFunction(aws, () => sns.publish({ TopicArn, Message: "a" }));

    expect(seen).toEqual(["aws:sns a 36", "aws:sns a 36"]);
  });

  it("delivers some messages twice if the option says so, and loses what its queue refuses", async () => {
    const TopicArn = aws.topic("orders", {
      repeats: 0.5,
      subscriptions: [{ queue: raw, raw: true }, { queue: "gone" }],
    });

    await inFunction(aws, async () => {
      for (let index = 0; index < 8; index++) await sns.publish({ TopicArn, Message: `m${index}` });
    });

    expect(new Set(await bodiesIn(raw)).size).toBe(8);
    expect(aws.sqs.backlog(raw).messages).toBeGreaterThan(8);
    expect(aws.traceText()).toMatch(/orders → gone: loses a message: QueueDoesNotExist/);
  });

  it.each<[string, object]>([
    ["NotFoundException", { TopicArn: "arn:aws:sns:us-east-1:000000000000:none", Message: "a" }],
    ["InvalidParameterException", { Message: "" }],
    ["InvalidParameterException", { Message: "a".repeat(262_145) }],
    ["InvalidParameterException", { Message: "a", MessageDeduplicationId: "a" }],
  ])("answers with %s", async (name, change) => {
    const TopicArn = aws.topic("orders");

    await expect(inFunction(aws, () => sns.publish({ TopicArn, ...change } as never))).rejects.toMatchObject({
      name,
    });
  });

  it("F3: accepts messages up to its own maximumMessageSize", async () => {
    const publish = (TopicArn: string, bytes: number) =>
      inFunction(aws, () => sns.publish({ TopicArn, Message: "a".repeat(bytes) }));
    const large = aws.topic("large", { maximumMessageSize: 1_048_576 });
    const small = aws.topic("small", { maximumMessageSize: 2048 });

    expect(await publish(large, 1_048_576)).toMatchObject({ MessageId: expect.any(String) });
    await expect(publish(large, 1_048_577)).rejects.toMatchObject({ name: "InvalidParameterException" });
    await expect(publish(small, 2049)).rejects.toMatchObject({ name: "InvalidParameterException" });
    expect(() => aws.topic("wrong", { maximumMessageSize: 1_048_577 })).toThrow(
      "`maximumMessageSize` must be",
    );
  });

  it.each<[string, readonly object[]]>([
    ["EmptyBatchRequestException", []],
    ["BatchEntryIdsNotDistinctException", [{ Id: "a" }, { Id: "a" }]],
    ["InvalidBatchEntryIdException", [{ Id: "a b" }]],
    ["TooManyEntriesInBatchRequestException", Array.from({ length: 11 }, (_, index) => ({ Id: `${index}` }))],
    [
      "BatchRequestTooLongException",
      [
        { Id: "a", Message: "a".repeat(200_000) },
        { Id: "b", Message: "b".repeat(70_000) },
      ],
    ],
  ])("answers a batch with %s", async (name, entries) => {
    const TopicArn = aws.topic("orders");
    const PublishBatchRequestEntries = entries.map((entry) => ({ Message: "a", ...entry })) as never;

    await expect(
      inFunction(aws, () => sns.publishBatch({ TopicArn, PublishBatchRequestEntries })),
    ).rejects.toMatchObject({ name });
  });

  it("refuses single entries, as faults and rules say, and takes the others", async () => {
    const TopicArn = aws.topic("orders", { subscriptions: [{ queue: raw, raw: true }] });
    aws.faults = () => ({ kind: "refused-entries", entries: [0], code: "InternalError" });
    const entries = ["a", "b", ""].map((Message, index) => ({ Id: `${index}`, Message }));

    const { Successful, Failed } = await inFunction(aws, () =>
      sns.publishBatch({ TopicArn, PublishBatchRequestEntries: entries }),
    );

    expect(Successful).toMatchObject([{ Id: "1" }]);
    expect(Failed).toMatchObject([
      { Id: "2", Code: "InvalidParameter", SenderFault: true },
      { Id: "0", Code: "InternalError", SenderFault: false },
    ]);
    expect(await bodiesIn(raw)).toEqual(["b"]);
  });

  it.each<[object, string]>([
    [{ kind: "throttle" }, "ThrottledException"],
    [{ kind: "refused", code: "AuthorizationError", status: 403 }, "AuthorizationErrorException"],
    [{ kind: "lost-answer" }, "TimeoutError"],
  ])("under %j ends as %s", async (fault, name) => {
    const TopicArn = aws.topic("orders");
    aws.faults = () => fault as never;

    await expect(inFunction(aws, () => sns.publish({ TopicArn, Message: "a" }))).rejects.toMatchObject({
      name,
    });
  });

  it.each<[SimulatedTopic, string]>([
    [{ subscriptions: [{}] }, "queue | fn"],
    [{ subscriptions: [{ queue: "a", fn: { invoke() {}, invokeAsync() {} } as never }] }, "queue | fn"],
    [{ subscriptions: {} as never }, "subscriptions"],
    [{ repeats: 2 }, "repeats"],
    [{ subscriptions: [{ queue: "a", rawDelivery: true } as never] }, "rawDelivery"],
  ])("must be one: %j", (topic, option) => {
    expect(() => aws.topic("orders", topic)).toThrow(option);
  });

  it("gets an error at the next run for what AWS refuses: a FIFO queue behind a standard topic", async () => {
    aws.topic("orders", { subscriptions: [{ queue: aws.queue("q.fifo") }] });

    await expect(aws.run(() => undefined)).rejects.toThrow("FIFO SQS Queues can not be subscribed");
    expect(() => aws.topic("orders")).toThrow("a topic orders already exists");
  });
});
