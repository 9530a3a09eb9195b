// Lanes that nothing can hide wait for another attempt's lease; other lanes go on meanwhile.
import type { MSKRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { answered, givenBatch, returned, sqsRecord } from "./given.ts";

/** One record in each of so many partitions. */
function kafkaEvent(partitions: readonly number[]) {
  const records: Record<string, MSKRecord[]> = {};
  for (const partition of partitions) {
    const value = Buffer.from(`${partition}`).toString("base64");
    const record = { topic: "orders", partition, offset: 1, timestamp: 0, key: "", value, headers: [] };
    records[`orders-${partition}`] = [{ ...record, timestampType: "CREATE_TIME" }];
  }
  return { bootstrapServers: "b-1:9092", records };
}

type Batch = ReturnType<typeof givenBatch>;

/** Attempts that died with a lease of 10 seconds: 5 of their invocation, 5 for the clocks. */
async function deadAttempts({ options, context, clock }: Batch, partitions: readonly number[]) {
  const dead = idempotentBatch(() => new Promise(() => {}), options);
  void answered(dead(kafkaEvent(partitions), context(5000)));
  await clock.advance(0);
}

describe("idempotentBatch on Kafka", () => {
  it("H66: lets all partitions that can go on do so before it waits for those that cannot", async () => {
    const batch = givenBatch();
    const { options, context, clock } = batch;
    await deadAttempts(batch, [0, 1]);
    const invocation = context(60_000);
    const ended: [partition: number, second: number][] = [];
    const handler = idempotentBatch(
      async ({ partition }: MSKRecord) => {
        await clock.sleep(1000);
        ended.push([partition, Math.floor((60_000 - invocation.getRemainingTimeInMillis()) / 1000)]);
      },
      { ...options, concurrency: 2 },
    );

    await clock.run(handler(kafkaEvent([0, 1, 2, 3, 4]), invocation));

    expect(ended.slice(0, 3)).toEqual([
      [2, 1],
      [3, 1],
      [4, 2],
    ]);
    // Both wait for the end of one lease, and their pauses are random.
    expect(
      ended
        .slice(3)
        .map(([partition]) => partition)
        .sort(),
    ).toEqual([0, 1]);
    expect(ended.at(-1)?.[1]).toBe(11);
  });

  it("H66: waits for more partitions at the same time than calls otherwise wait in one environment", async () => {
    const batch = givenBatch();
    const partitions = Array.from({ length: 30 }, (_, index) => index);
    const dead = idempotentBatch(() => new Promise(() => {}), { ...batch.options, concurrency: 30 });
    void answered(dead(kafkaEvent(partitions), batch.context(5000)));
    await batch.clock.advance(0);

    const handler = idempotentBatch(() => {}, { ...batch.options, concurrency: 30 });
    const answer = await answered(batch.clock.run(handler(kafkaEvent(partitions), batch.context(60_000))));

    expect(returned(answer)).toEqual([]);
  });

  it("F4: waits in an invocation of 90 minutes for a lease that ends after more than 15", async () => {
    const batch = givenBatch();
    const { options, context, clock } = batch;
    const dead = idempotentBatch(() => new Promise(() => {}), { ...options, leaseSeconds: 3600 });
    void answered(dead(kafkaEvent([0]), context(5000)));
    await clock.advance(0);
    const invocation = context(5_400_000);

    const answer = await clock.run(idempotentBatch(() => {}, options)(kafkaEvent([0]), invocation));

    expect(answer).toEqual({ batchItemFailures: [] });
    expect(invocation.getRemainingTimeInMillis()).toBeLessThanOrEqual(1_800_000);
  });

  it("rejects at once if the option says so, and waits no longer than the option allows", async () => {
    for (const [whenInProgress, waitedMs] of [
      ["reject", 0],
      [{ waitSeconds: 2 }, 2000],
    ] as const) {
      const batch = givenBatch();
      await deadAttempts(batch, [0]);
      const invocation = batch.context(60_000);
      const handler = idempotentBatch(() => {}, { ...batch.options, whenInProgress });

      const answer = await answered(batch.clock.run(handler(kafkaEvent([0]), invocation)));

      expect(returned(answer)).toHaveLength(1);
      expect(60_000 - invocation.getRemainingTimeInMillis()).toBe(waitedMs);
    }
  });

  it("waits by default also where the option is given as undefined, and without an invocation to end it", async () => {
    const batch = givenBatch();
    await deadAttempts(batch, [0]);
    const handler = idempotentBatch(() => {}, {
      ...batch.options,
      leaseSeconds: 60,
      whenInProgress: undefined as never,
    });

    expect(await batch.clock.run(handler(kafkaEvent([0]), {} as never))).toEqual({ batchItemFailures: [] });
  });
});

describe("idempotentBatch on SQS", () => {
  it("doesn't wait by default: the message comes back", async () => {
    const { options, context, clock } = givenBatch();
    const event = { Records: [sqsRecord("m1")] };
    void answered(idempotentBatch(() => new Promise(() => {}), options)(event, context(5000)));
    await clock.advance(0);
    const invocation = context(60_000);

    await answered(idempotentBatch(() => {}, options)(event, invocation));

    expect(invocation.getRemainingTimeInMillis()).toBe(60_000);
  });

  it("waits for messages whose queue has no name, as nothing can hide them", async () => {
    const { options, context, clock } = givenBatch();
    const event = { Records: [sqsRecord("m1", "a", { eventSourceARN: "payments" })] };
    void answered(idempotentBatch(() => new Promise(() => {}), options)(event, context(5000)));
    await clock.advance(0);

    const answer = await clock.run(idempotentBatch(() => {}, options)(event, context(60_000)));

    expect(answer).toEqual({ batchItemFailures: [] });
  });
});
