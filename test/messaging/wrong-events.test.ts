// Relay and sweeper in the wrong place: they throw, where they did nothing before.

import { DynamoDBOutbox } from "onceonly/dynamodb";
import { outboxRelay, outboxSweeper } from "onceonly/messaging";
import { describe, expect, it } from "vitest";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";

const ARN = "arn:aws:dynamodb:eu-central-1:123456789012:table";
const client = { config: {}, send: () => expect.unreachable() };
const outboxOf = (tableName: string) => new DynamoDBOutbox({ tableName, client });
const relay = (tableName = "records") =>
  outboxRelay({ outbox: outboxOf(tableName), destinations: "any", sqs: client as never });

const change = (
  table: string,
  StreamViewType = "NEW_IMAGE",
  NewImage: object = { id: { S: "order-7" } },
) => ({
  eventName: "INSERT",
  eventSource: "aws:dynamodb",
  eventSourceARN: `${ARN}/${table}/stream/2026-01-01T00:00:00.000`,
  dynamodb: { SequenceNumber: "1", StreamViewType, NewImage },
});
const refused = (message: string) => ({ code: "PAYLOAD_INVALID", message: expect.stringContaining(message) });

describe("outboxRelay", () => {
  it.each([
    ["a schedule", { "detail-type": "Scheduled Event" }],
    ["nothing", undefined],
  ])("refuses %s", async (_, event) => {
    await expect(relay()(event as never)).rejects.toMatchObject(
      refused("the event has no records: connect outboxRelay to the table's stream"),
    );
  });

  it.each(["aws:sqs", "aws:kinesis"])("refuses records of %s", async (eventSource) => {
    await expect(relay()({ Records: [{ eventSource }] })).rejects.toMatchObject(
      refused("the records don't come from a DynamoDB stream"),
    );
  });

  it.each(["records", `${ARN}/records`])("refuses the stream of another table than %s", async (tableName) => {
    await expect(relay(tableName)({ Records: [change("orders")] })).rejects.toMatchObject(
      refused(
        "the change comes from the table orders, but the outbox is in the table records: connect outboxRelay to the stream of records",
      ),
    );
  });

  it.each(["KEYS_ONLY", "OLD_IMAGE"])("refuses a stream of %s", async (view) => {
    await expect(relay()({ Records: [change("records", view)] })).rejects.toMatchObject(
      refused(
        `the stream of the table records has the view type ${view}, which doesn't contain the messages: use NEW_IMAGE`,
      ),
    );
  });

  it.each(["records", `${ARN}/records`])("passes over the business items in %s itself", async (tableName) => {
    const Records = [change("records"), change("records", "NEW_AND_OLD_IMAGES")];

    expect(await relay(tableName)({ Records })).toEqual({ batchItemFailures: [] });
  });

  it("accepts an empty event, and records that name no source", async () => {
    expect(await relay()({ Records: [] })).toEqual({ batchItemFailures: [] });
    expect(await relay()({ Records: [{ dynamodb: { SequenceNumber: "1" } }] })).toEqual({
      batchItemFailures: [],
    });
  });
});

describe("outboxSweeper", () => {
  const sweeper = outboxSweeper({
    outbox: new MemoryOutbox(() => {}),
    destinations: "any",
    observe: () => {},
  });

  it("rejects the table's stream, which the relay accepts", async () => {
    await expect(sweeper({ Records: [change("records")] })).rejects.toMatchObject(
      refused(
        "the event comes from a stream: run outboxSweeper on a schedule, and connect outboxRelay to the table's stream",
      ),
    );
  });

  it.each([undefined, {}, { Records: [] }, { Records: [{ eventSource: "aws:sqs" }] }])(
    "sweeps whatever else calls it: %o",
    async (event) => {
      expect(await sweeper(event)).toEqual({ sent: 0, failed: 0, waiting: 0 });
    },
  );

  it.each(["ValidationException", "ResourceNotFoundException"])(
    "says what a table that answers with a %s must have",
    async (name) => {
      const failing = { config: {}, send: () => Promise.reject(Object.assign(new Error("no"), { name })) };
      const outbox = new DynamoDBOutbox({ tableName: "orders", client: failing });

      await expect(outboxSweeper({ outbox, destinations: "any" })({})).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        failure: "refused",
        message: expect.stringContaining(
          `${name}: the table orders must have the key pk, and the index outbox of the numbers unsentShard and unsentSince`,
        ),
      });
    },
  );
});
