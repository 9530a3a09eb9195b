import type { MSKEvent, MSKRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { givenBatch, returned } from "./sqs-records.ts";

function kafkaEvent(places: readonly (readonly [partition: number, offset: number])[]): MSKEvent {
  const records: Record<string, MSKRecord[]> = {};
  for (const [partition, offset] of places) {
    const record = {
      topic: "orders",
      partition,
      offset,
      timestamp: 1_700_000_000_000,
      timestampType: "CREATE_TIME" as const,
      key: "",
      value: Buffer.from(`${partition}/${offset}`).toString("base64"),
      headers: [],
    };
    records[`orders-${partition}`] = [...(records[`orders-${partition}`] ?? []), record];
  }
  const eventSourceArn = "arn:aws:kafka:eu-central-1:123456789012:cluster/orders/1-2";
  return { eventSource: "aws:kafka", eventSourceArn, bootstrapServers: "b-1:9092", records };
}

const place = ({ partition, offset }: MSKRecord) => `${partition}/${offset}`;

describe("idempotentBatch on Kafka", () => {
  const event = kafkaEvent([
    [0, 10],
    [0, 11],
    [0, 12],
    [1, 10],
    [1, 11],
  ]);

  it("stops a partition at its first failure, and returns partition and offset of what is not done", async () => {
    const { options, context } = givenBatch();
    const runs: string[] = [];
    let fails = true;
    const handler = idempotentBatch((record: MSKRecord) => {
      runs.push(place(record));
      if (fails && place(record) === "0/11") throw new Error("no");
    }, options);

    const first = await handler(event, context());
    fails = false;
    const second = await handler(event, context());

    expect(returned(first)).toEqual([
      { partition: "orders-0", offset: 11 },
      { partition: "orders-0", offset: 12 },
    ]);
    expect(second).toEqual({ batchItemFailures: [] });
    expect(runs.sort()).toEqual(["0/10", "0/11", "0/11", "0/12", "1/10", "1/11"]);
  });

  it("runs partitions at once, and the records of one in order", async () => {
    const { options, context, clock } = givenBatch();
    const ended: string[] = [];
    const handler = idempotentBatch(async (record: MSKRecord) => {
      await clock.sleep(record.partition === 0 ? 2000 : 100);
      ended.push(place(record));
    }, options);
    await clock.run(handler(event, context()));

    expect(ended).toEqual(["1/10", "1/11", "0/10", "0/11", "0/12"]);
  });

  it("keeps equal offsets of partitions, topics and clusters apart, and tells that it fell back to them", async () => {
    const { options, context, decisions } = givenBatch();
    const runs: string[] = [];
    const handler = idempotentBatch((record: MSKRecord) => void runs.push(place(record)), options);
    const same = kafkaEvent([[0, 1]]);
    const [record] = Object.values(same.records).flat() as [MSKRecord];
    await handler(same, context());
    await handler(kafkaEvent([[1, 1]]), context());
    await handler({ records: { "refunds-0": [{ ...record, topic: "refunds" }] } }, context());
    await handler({ ...same, eventSourceArn: "another" } as MSKEvent, context());
    await handler(same, context());

    expect(runs).toEqual(["0/1", "1/1", "0/1", "0/1"]);
    expect(decisions().filter((decision) => decision === "key-fallback")).toHaveLength(5);
  });

  it("takes records without a value", async () => {
    const { options, context } = givenBatch();
    const { value: _, ...record } = Object.values(kafkaEvent([[0, 1]]).records).flat()[0] as MSKRecord;

    expect(
      await idempotentBatch(() => {}, options)({ records: { "orders-0": [record] } }, context()),
    ).toEqual({
      batchItemFailures: [],
    });
  });

  it("refuses a batch with a record that has no offset", async () => {
    const { options, context } = givenBatch();
    const { offset: _, ...record } = Object.values(kafkaEvent([[0, 1]]).records).flat()[0] as MSKRecord;

    await expect(
      idempotentBatch(() => {}, options)({ records: { "orders-0": [record] } }, context()),
    ).rejects.toThrow("without an identifier");
  });
});
