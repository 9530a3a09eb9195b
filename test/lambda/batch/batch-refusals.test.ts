import type { SQSEvent, SQSRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
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
      [sqsRecord("a"), sqsRecord("b")],
      /^the event is a list of records, as EventBridge Pipes .*`runOnce` for each/,
    ],
    [
      { invocationId: "i", records: [{ recordId: "1", data: "" }] },
      /a list of `records`, as Data Firehose .*`runOnce`/,
    ],
    [{ eventSource: "aws:mq", messages: [{}] }, /^the event is of aws:mq: .*`runOnce` for each/],
    [{ eventSource: "aws:rmq", rmqMessagesByQueue: { "q::/": [{}] } }, /^the event is of aws:rmq/],
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
      /`state`: leave `tumblingWindow` out/,
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

  it("throws for a partly failed batch of any source whose mapping does not report failures", async () => {
    const { options, context } = givenBatch({ reportBatchItemFailures: false });
    const handler = idempotentBatch((record: SQSRecord) => {
      if (record.messageId === "b") throw new Error("no");
    }, options);

    await expect(handler({ Records: [sqsRecord("a"), sqsRecord("b")] }, context())).rejects.toThrow(
      "only 1 of 2 records are done (0 in progress elsewhere), beginning with record b",
    );
    expect(() => idempotentBatch(() => {}, { ...options, reportBatchItemFailures: "yes" } as never)).toThrow(
      "option `reportBatchItemFailures` must be one of",
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
