// Records as EventBridge Pipes pass them to a function: a JSON array, in the forms of AWS's documentation.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-batching-concurrency.html
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import type { BatchOptions } from "../../../lib/lambda/batch/batch-options.ts";
import { answered, envelope, fifoRecord, givenBatch, returned, sqsRecord } from "./given.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

const ofKinesis = (id: string, data = `data ${id}`) => ({
  kinesisSchemaVersion: "1.0",
  partitionKey: "1",
  sequenceNumber: id,
  data: base64(data),
  approximateArrivalTimestamp: 1545084650.987,
  eventSource: "aws:kinesis",
  eventVersion: "1.0",
  eventID: `shardId-000000000006:${id}`,
  eventName: "aws:kinesis:record",
  invokeIdentityArn: "arn:aws:iam::123456789012:role/pipe",
  awsRegion: "us-east-2",
  eventSourceARN: "arn:aws:kinesis:us-east-2:123456789012:stream/orders",
});

const ofTable = (id: string, total = id) => ({
  eventID: `event-${id}`,
  eventVersion: "1.0",
  dynamodb: {
    Keys: { Id: { N: "101" } },
    NewImage: { Id: { N: "101" }, total: { N: total } },
    StreamViewType: "NEW_AND_OLD_IMAGES",
    SequenceNumber: id,
    SizeBytes: 26,
  },
  awsRegion: "us-west-2",
  eventName: "INSERT",
  eventSourceARN: "arn:aws:dynamodb:us-east-1:111122223333:table/orders",
  eventSource: "aws:dynamodb",
});

const CLUSTER = "arn:aws:kafka:sa-east-1:123456789012:cluster/orders/751d2973-2";

const ofKafka = (offset: number, partition = "0", value = `value ${offset}`) => ({
  eventSource: "aws:kafka",
  eventSourceArn: CLUSTER,
  eventSourceKey: `orders-${partition}`,
  topic: "orders",
  partition,
  offset,
  timestamp: 1545084650987,
  timestampType: "CREATE_TIME",
  key: base64("key"),
  value: base64(value),
  headers: [{ headerKey: [104, 101] }],
});

/** A handler that fails for the records in `failing`, and the records that it ran for. */
function given(failing: readonly unknown[] = [], more: Partial<BatchOptions> = {}) {
  const { options, context, errors, decisions } = givenBatch(more);
  const ran: unknown[] = [];
  const fails = new Set(failing);
  const handler = idempotentBatch((record: unknown) => {
    ran.push(record);
    if (fails.has(record)) throw new Error("no");
  }, options);
  const run = (event: unknown) => answered(handler(event as never, context()));
  return { handler, run, ran, fails, context, errors, decisions };
}

const ofQueue = (id: string) => sqsRecord(id);

describe("idempotentBatch behind a pipe", () => {
  it.each([
    ["a standard queue", ["1", "2", "3"].map(ofQueue), ["2"]],
    ["a FIFO queue", ["1", "2", "3"].map((id) => fifoRecord(id, "group")), ["2", "3"]],
    [
      "Kinesis",
      ["1", "2", "3"].map((id) => ofKinesis(id)),
      ["shardId-000000000006:2", "shardId-000000000006:3"],
    ],
    ["a DynamoDB stream", ["1", "2", "3"].map((id) => ofTable(id)), ["event-2", "event-3"]],
  ])("R2: returns the failed records of %s by the ids that a pipe reads", async (_, records, ids) => {
    const { run, ran, fails } = given([records[1]]);

    expect(returned(await run(records))).toEqual(ids);
    fails.clear();
    expect(returned(await run(records))).toEqual([]);
    expect(ran).toHaveLength(4);
  });

  it.each([
    ["a queue", (id: string) => [sqsRecord(id), { Records: [sqsRecord(id)] }]],
    [
      "Kinesis",
      (id: string) => {
        const { partitionKey, sequenceNumber, data, ...rest } = ofKinesis(id);
        return [ofKinesis(id), { Records: [{ ...rest, kinesis: { partitionKey, sequenceNumber, data } }] }];
      },
    ],
    ["a DynamoDB stream", (id: string) => [ofTable(id), { Records: [ofTable(id)] }]],
    [
      "Kafka",
      (id: string) => {
        const record = ofKafka(Number(id));
        const mapped = { ...record, partition: 0 };
        return [
          record,
          { eventSource: "aws:kafka", eventSourceArn: CLUSTER, records: { "orders-0": [mapped] } },
        ];
      },
    ],
  ])(
    "R2: finds the records that an event source mapping of %s has done, and the reverse",
    async (_, both) => {
      const { run, ran } = given();
      const [piped, mapped] = both("1");
      const [next, nextMapped] = both("2");

      for (const event of [mapped, [piped], [next], nextMapped]) {
        expect(returned(await run(event))).toEqual([]);
      }
      expect(ran).toHaveLength(2);
    },
  );

  it("R2: runs Kafka partitions in order, and always throws if a record fails, because a pipe retries the whole batch", async () => {
    for (const reportBatchItemFailures of [undefined, true, false]) {
      const records = [ofKafka(1), ofKafka(1, "1"), ofKafka(2), ofKafka(2, "1")];
      const setting = reportBatchItemFailures === undefined ? {} : { reportBatchItemFailures };
      const { handler, run, ran, fails, context } = given([records[1]], setting);

      const thrown = await handler(records, context()).catch((error: unknown) => error);
      fails.clear();

      expect(thrown).toMatchObject({ code: "BATCH_NOT_DONE", batchItemFailures: [{}, {}] });
      expect(ran).toHaveLength(3);
      expect(returned(await run(records))).toEqual([]);
      expect(ran).toHaveLength(5);
    }
  });

  it("R2: keeps equal places in two self-managed clusters apart", async () => {
    const { run, ran } = given();
    const { eventSourceArn: _, ...record } = { ...ofKafka(1), eventSource: "SelfManagedKafka" };

    await run([{ ...record, bootstrapServers: "one:9092" }]);
    await run([{ ...record, bootstrapServers: "two:9092" }]);
    await run([{ ...record, bootstrapServers: "one:9092" }]);

    expect(ran).toHaveLength(2);
  });

  it("R2: throws for a batch of one record that fails, so that the pipe retries it", async () => {
    const record = sqsRecord("only");
    const { handler, context, errors } = given([record]);

    await expect(handler([record], context())).rejects.toMatchObject({ code: "BATCH_NOT_DONE" });
    expect(errors).toEqual([new Error("no")]);
  });

  it("R2: has nothing to do for an empty array", async () => {
    expect(await given().run([])).toEqual({ batchItemFailures: [] });
  });

  it("R2: runs a duplicate in one batch once", async () => {
    const { run, ran } = given();
    const sent = envelope("order-1");
    const records = [
      sqsRecord("1", "same", sent),
      sqsRecord("2", "same", sent),
      sqsRecord("1", "same", sent),
    ];

    expect(returned(await run(records))).toEqual([]);
    expect(ran).toHaveLength(1);
  });

  it("R2: hides messages that are in progress elsewhere", async () => {
    const hidden: unknown[] = [];
    const world = givenBatch({ changeVisibility: async (request: unknown) => void hidden.push(request) });
    const forever = idempotentBatch(() => new Promise(() => {}), world.options);
    void answered(forever([sqsRecord("1")] as never, world.context()));
    await world.clock.advance(0);

    const again = idempotentBatch(() => {}, world.options);
    expect(returned(await answered(again([sqsRecord("1")] as never, world.context())))).toEqual(["1"]);
    expect(hidden).toHaveLength(1);
  });

  it.each([
    ["mixes sources", [sqsRecord("1"), ofTable("1")]],
    ["has a record of another source", [sqsRecord("1"), { ...sqsRecord("2"), eventSource: "aws:mq" }]],
    ["has something else than a record", [sqsRecord("1"), null]],
    ["has records that an input transformer changed", [{ orderId: "order-1" }, { orderId: "order-2" }]],
    ["has lists", [[sqsRecord("1")]]],
  ])("R2: refuses an array that %s, before any record runs", async (_, event) => {
    const { handler, ran, context } = given();

    await expect(handler(event as never, context())).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
      message: expect.stringMatching(
        /^the event is an array whose items aren't all records of one source: .*input transformer.*`idempotentEach`/,
      ),
    });
    expect(ran).toEqual([]);
  });

  it.each([
    ["a queue", { ...sqsRecord("1"), messageId: undefined }],
    ["Kinesis", { ...ofKinesis("1"), eventID: undefined }],
    ["a DynamoDB stream", { ...ofTable("1"), eventID: "" }],
    ["Kafka", { ...ofKafka(1), offset: "1" }],
  ])("R2: refuses a record of %s without the id that a pipe reads", async (_, record) => {
    const { handler, context } = given();

    await expect(handler([record] as never, context())).rejects.toThrow("records without an identifier");
  });
});
