import type {
  DynamoDBBatchResponse,
  DynamoDBRecord,
  KinesisStreamBatchResponse,
  KinesisStreamRecord,
} from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { givenBatch, returned } from "./sqs-records.ts";

function kinesisRecord(sequenceNumber: string, data = `data ${sequenceNumber}`): KinesisStreamRecord {
  return {
    eventID: `shardId-000000000000:${sequenceNumber}`,
    eventName: "aws:kinesis:record",
    eventSource: "aws:kinesis",
    eventSourceARN: "arn:aws:kinesis:eu-central-1:123456789012:stream/orders",
    eventVersion: "1.0",
    invokeIdentityArn: "",
    awsRegion: "eu-central-1",
    kinesis: {
      sequenceNumber,
      data: Buffer.from(data).toString("base64"),
      partitionKey: "order",
      approximateArrivalTimestamp: 1_700_000_000,
      kinesisSchemaVersion: "1.0",
    },
  };
}

function changeRecord(sequenceNumber: string, id = "order-1"): DynamoDBRecord {
  return {
    eventID: `event ${sequenceNumber}`,
    eventName: "MODIFY",
    eventSource: "aws:dynamodb",
    dynamodb: {
      SequenceNumber: sequenceNumber,
      Keys: { id: { S: id } },
      NewImage: { id: { S: id }, total: { N: sequenceNumber } },
      ApproximateCreationDateTime: 1_700_000_000,
      StreamViewType: "NEW_IMAGE",
    },
  };
}

const sources = [
  ["Kinesis", (n: number) => kinesisRecord(`${n}`)],
  ["a DynamoDB stream", (n: number) => changeRecord(`${n}`)],
] as const;

describe.each(sources)("idempotentBatch on %s", (name, recordOf) => {
  const Records = [101, 102, 103, 104].map((n) => recordOf(n));

  it("H27: stops at the first failure, returns it and what follows by their sequence numbers, and goes on there", async () => {
    const { options, context } = givenBatch();
    const runs: string[] = [];
    let fails = true;
    const handler = idempotentBatch(({ eventID }: { eventID?: string }) => {
      runs.push(eventID as string);
      if (fails && eventID === Records[2]?.eventID) throw new Error("no");
    }, options);

    const first: KinesisStreamBatchResponse & DynamoDBBatchResponse = await handler({ Records }, context());
    fails = false;
    const second = await handler({ Records: Records.slice(2) }, context());
    const third = await handler({ Records }, context());

    expect(returned(first)).toEqual(["103", "104"]);
    expect([returned(second), returned(third)]).toEqual([[], []]);
    expect(runs).toEqual([0, 1, 2, 2, 3].map((index) => Records[index]?.eventID));
  });

  it("runs one record after the other", async () => {
    const { options, context, clock } = givenBatch();
    let running = 0;
    const handler = idempotentBatch(async () => {
      expect(running++).toBe(0);
      await clock.sleep(1000);
      running -= 1;
    }, options);

    expect(returned(await clock.run(handler({ Records }, context())))).toEqual([]);
  });

  it("returns all from the record on for which there is no time left", async () => {
    const { options, context, clock } = givenBatch();
    const handler = idempotentBatch(() => clock.sleep(4000), options);

    expect(returned(await clock.run(handler({ Records }, context(10_000))))).toEqual(["103", "104"]);
  });

  it("waits at a record in progress elsewhere, and returns from there", async () => {
    const { options, context, clock, errors } = givenBatch();
    void idempotentBatch(() => new Promise(() => {}), options)({ Records: [recordOf(102)] }, context());
    await clock.advance(0);

    expect(returned(await idempotentBatch(() => {}, options)({ Records }, context()))).toEqual([
      "102",
      "103",
      "104",
    ]);
    expect(errors).toEqual([]);
  });

  it(`is ${name === "Kinesis" ? "told to fall back" : "not told to fall back"} to the event's id`, async () => {
    const { options, context, decisions } = givenBatch();
    const keys: string[] = [];
    const handler = idempotentBatch((_, { idempotency }) => void keys.push(idempotency.key), options);
    await handler({ Records: [recordOf(101)] }, context());

    expect(keys).toEqual([recordOf(101).eventID]);
    expect(decisions()).toEqual([...(name === "Kinesis" ? ["key-fallback"] : []), "executed"]);
  });

  it("refuses another payload under the key that a function reads", async () => {
    const { options, context, errors } = givenBatch();
    const handler = idempotentBatch(() => {}, { ...options, key: () => "order-1" });

    expect(returned(await handler({ Records: [recordOf(101), recordOf(102)] }, context()))).toEqual(["102"]);
    expect(errors).toEqual([expect.objectContaining({ code: "FINGERPRINT_MISMATCH" })]);
  });

  it("refuses a batch with a record that has no sequence number", async () => {
    const { options, context } = givenBatch();
    const { kinesis: _, dynamodb: __, ...bare } = recordOf(101) as KinesisStreamRecord & DynamoDBRecord;

    await expect(idempotentBatch(() => {}, options)({ Records: [bare] }, context())).rejects.toThrow(
      "without an identifier",
    );
  });
});
