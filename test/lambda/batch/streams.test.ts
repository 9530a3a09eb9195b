import type {
  DynamoDBBatchResponse,
  DynamoDBRecord,
  KinesisStreamBatchResponse,
  KinesisStreamRecord,
} from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { answered, givenBatch, returned } from "./given.ts";

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

  it("H27: stops at the first failure, returns it and the following records by their sequence numbers, and continues there", async () => {
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

    expect(returned(await answered(clock.run(handler({ Records }, context()))))).toEqual([]);
  });

  it("returns everything from the record on for which there is no time left", async () => {
    const { options, context, clock } = givenBatch();
    const handler = idempotentBatch(() => clock.sleep(4000), options);

    expect(returned(await answered(clock.run(handler({ Records }, context(10_000)))))).toEqual([
      "103",
      "104",
    ]);
  });

  it("waits at a record in progress elsewhere as long as there is time, and returns from there", async () => {
    const { options, context, clock, errors } = givenBatch();
    const dead = idempotentBatch(() => new Promise(() => {}), options);
    void answered(dead({ Records: [recordOf(102)] }, context(30_000)));
    await clock.advance(0);
    const invocation = context(10_000);

    const answer = clock.run(idempotentBatch(() => {}, options)({ Records }, invocation));

    expect(returned(await answered(answer))).toEqual(["102", "103", "104"]);
    // What is left is the margin, in which no record is started.
    expect(invocation.getRemainingTimeInMillis()).toBe(2000);
    expect(errors).toEqual([]);
  });

  it("H66: goes on when the other attempt's lease has ended, or its work is done", async () => {
    for (const isDone of [true, false]) {
      const { options, context, clock, decisions } = givenBatch();
      const work = () => (isDone ? clock.sleep(3000) : new Promise(() => {}));
      void answered(idempotentBatch(work, options)({ Records: [recordOf(102)] }, context(5000)));
      await clock.advance(0);
      const invocation = context(60_000);
      const runs: unknown[] = [];
      const handler = idempotentBatch(
        ({ eventID }: { eventID?: string }) => void runs.push(eventID),
        options,
      );

      expect(returned(await clock.run(handler({ Records }, invocation)))).toEqual([]);

      expect(runs).toHaveLength(isDone ? 3 : 4);
      const waitedMs = 60_000 - invocation.getRemainingTimeInMillis();
      // Its invocation had 5 seconds, and 5 are for the clocks.
      if (isDone) expect(waitedMs).toBeLessThan(5000);
      else expect([waitedMs, decisions().includes("taken-over")]).toEqual([expect.closeTo(10_000, -2), true]);
    }
  });

  it(`${name === "Kinesis" ? "is advised" : "isn't advised"} to use the event's id`, async () => {
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

    expect(returned(await answered(handler({ Records: [recordOf(101), recordOf(102)] }, context())))).toEqual(
      ["102"],
    );
    expect(errors).toEqual([expect.objectContaining({ code: "FINGERPRINT_MISMATCH" })]);
  });

  it("rejects a batch with a record that has no sequence number", async () => {
    const { options, context } = givenBatch();
    const { kinesis: _, dynamodb: __, ...bare } = recordOf(101) as KinesisStreamRecord & DynamoDBRecord;

    await expect(idempotentBatch(() => {}, options)({ Records: [bare] }, context())).rejects.toThrow(
      "without an identifier",
    );
  });
});
