import type { SQSEvent, SQSRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { EVENT_SOURCES } from "../../../lib/contract.ts";
import { envelope, givenBatch, sqsRecord } from "./given.ts";

describe("idempotentBatch", () => {
  it.each([
    [{ Records: [{ EventSource: "aws:sns" }] }, /^the event is of aws:sns: /],
    [
      { Records: [{ eventSource: "aws:s3" }, { eventSource: "aws:s3" }] },
      /^the event is of aws:s3: .*`runOnce` for each/,
    ],
    [{ Records: [{ cf: {} }] }, /^the event is not a batch: .*`runOnce` for each/],
    [{ Records: [null] }, /^the event is not a batch/],
    [
      { invocationId: "i", records: [{ recordId: "1", data: "" }] },
      /an object with an array `records`, which Data Firehose .*`runOnce`/,
    ],
    [{ eventSource: "aws:mq", messages: {} }, /^the event is of aws:mq: .*`runOnce` for each/],
    [{ eventSource: "aws:docdb", events: [{}] }, /^the event is of aws:docdb/],
    [{ eventSource: "secret of\na caller" }, /^the event is not a batch/],
    [{ records: { "orders-0": 1 } }, /^the event is not a batch/],
    [{ records: "orders" }, /^the event is not a batch/],
    [
      { Records: [], window: { start: "", end: "" }, state: {}, isFinalInvokeForWindow: true },
      /tumbling window/,
    ],
    [
      { Records: [{ eventSource: "aws:kinesis", eventID: "1" }], state: {}, isFinalInvokeForWindow: false },
      /`state`: remove `tumblingWindow`/,
    ],
    [{ detail: {} }, /not a batch: .*several records.*`runOnce`.*`idempotent`/],
    [undefined, /not a batch/],
    [{ Records: [sqsRecord("")] }, /without an identifier/],
  ])(
    "A10: refuses what it could not answer for, with advice that makes no batch one operation: %j",
    async (event, message) => {
      const { options, context } = givenBatch();
      await expect(
        idempotentBatch(() => {}, options)(event as unknown as SQSEvent, context()),
      ).rejects.toThrow(message);
    },
  );

  it.each(["SQS", "Kinesis", "DynamoDB streams", "Kafka"] as const)(
    "knows whether Lambda reads which records of %s failed",
    async (source) => {
      const row = EVENT_SOURCES[source];
      const { options, context } = givenBatch();
      const handler = idempotentBatch((record: { readonly eventID?: string }) => {
        if (record.eventID === "2") throw new Error("no");
      }, options);
      const [eventSource = ""] = row.eventSources;
      const kafka = (offset: number) => ({ topic: "t", partition: 0, offset, eventID: `${offset}` });
      const event = {
        eventSource,
        Records: ["1", "2"].map((id) => ({
          ...sqsRecord(id),
          eventSource,
          eventID: id,
          kinesis: { sequenceNumber: id, data: "" },
        })),
        ...(eventSource === "aws:kafka" && { records: { "t-0": [kafka(1), kafka(2)] } }),
      };

      const answer = handler(event as never, context()).catch(({ code }) => code);

      expect(await answer).toEqual(
        row.reportsFailures ? { batchItemFailures: [{ itemIdentifier: "2" }] } : "BATCH_NOT_DONE",
      );
    },
  );

  it("throws for a partly failed batch of any source whose mapping does not report failures", async () => {
    const { options, context } = givenBatch({ reportBatchItemFailures: false });
    const handler = idempotentBatch((record: SQSRecord) => {
      if (record.messageId === "b") throw new Error("no");
    }, options);

    await expect(handler({ Records: [sqsRecord("a"), sqsRecord("b")] }, context())).rejects.toThrow(
      "1 of 2 records succeeded (0 in progress elsewhere); the first failure is record b",
    );
    expect(() => idempotentBatch(() => {}, { ...options, reportBatchItemFailures: "yes" } as never)).toThrow(
      "`reportBatchItemFailures` must be true or false",
    );
  });
});

describe("A11: the test event of S3 in a queue", () => {
  const test = {
    Service: "Amazon S3",
    Event: "s3:TestEvent",
    Time: "2026-11-27T12:00:00.000Z",
    Bucket: "uploads",
    RequestId: "5582815E1AEA5ADF",
    HostId: "8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR+YstdA6Knx4Ip8EXAMPLE",
  };
  const notification = { Type: "Notification", TopicArn: "arn:aws:sns:eu-central-1:123456789012:uploads" };

  async function ranOf(...bodies: string[]) {
    const { options, context, errors } = givenBatch();
    const ran: string[] = [];
    const handler = idempotentBatch((record: SQSRecord) => void ran.push(record.body), {
      ...options,
      key: (record: SQSRecord) => JSON.parse(record.body).Records[0].s3.object.sequencer,
    });
    const Records = bodies.map((body, index) => sqsRecord(`m${index}`, body));
    return { answer: await handler({ Records }, context()), ran, errors };
  }

  it("is acknowledged without a run, also behind a topic, and others go on", async () => {
    const change = JSON.stringify({ Records: [{ s3: { object: { sequencer: "1" } } }] });
    const wrapped = JSON.stringify({ ...notification, Message: JSON.stringify(test) });
    const { answer, ran, errors } = await ranOf(JSON.stringify(test), change, wrapped);

    expect(answer).toEqual({ batchItemFailures: [] });
    expect([ran, errors]).toEqual([[change], []]);
    expect((await ranOf(JSON.stringify(test))).answer).toEqual({ batchItemFailures: [] });
  });

  it("is nothing but the exact message: what only looks like it runs", async () => {
    const { options, context } = givenBatch();
    const ran: string[] = [];
    const bodies = [
      JSON.stringify({ ...test, order: 1 }),
      JSON.stringify({ Event: "s3:TestEvent" }),
      JSON.stringify({ ...test, Service: "a shop" }),
      JSON.stringify({ note: "s3:TestEvent" }),
      "s3:TestEvent",
      '"s3:TestEvent"',
      JSON.stringify({ ...notification, Message: "s3:TestEvent" }),
    ];
    const handler = idempotentBatch((record: SQSRecord) => void ran.push(record.body), options);
    await handler({ Records: bodies.map((body, index) => sqsRecord(`m${index}`, body)) }, context());
    await handler({ Records: [sqsRecord("m", JSON.stringify(test), envelope("k"))] }, context());

    expect(ran).toEqual([...bodies, JSON.stringify(test)]);
  });
});
