import type { SQSRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import { answered, givenBatch, returned, sqsRecord } from "./given.ts";

const records = (count: number) => Array.from({ length: count }, (_, index) => sqsRecord(`m${index + 1}`));

describe("idempotentBatch", () => {
  it("starts no record that the time left may not hold, and returns it", async () => {
    const { options, context, clock } = givenBatch();
    const runs: string[] = [];
    const handler = idempotentBatch(
      async ({ messageId }: SQSRecord) => {
        runs.push(messageId);
        await clock.sleep(3000);
      },
      { ...options, concurrency: 1 },
    );
    const invocation = context(10_000);

    // Started after 0, 3 and 6 seconds; after 9 there is less left than the margin of 2.
    expect(returned(await answered(clock.run(handler({ Records: records(5) }, invocation))))).toEqual([
      "m4",
      "m5",
    ]);
    expect(runs).toEqual(["m1", "m2", "m3"]);
    expect(invocation.getRemainingTimeInMillis()).toBe(1000);
  });

  it("does not read the keys of records that it has no time for", async () => {
    const { options, context, clock, decisions } = givenBatch();
    const handler = idempotentBatch(() => clock.sleep(9000), { ...options, concurrency: 1 });
    await clock.run(handler({ Records: records(3) }, context(10_000)));

    expect(decisions()).toEqual(["key-fallback", "executed"]);
  });

  it("has a smaller margin if the invocation is short, and leaves no timer running", async () => {
    const { options, context, clock } = givenBatch();
    const handler = idempotentBatch(() => clock.sleep(500), { ...options, concurrency: 1 });
    const invocation = context(3000);

    // A fifth of 3 seconds: after 2 of them there is time for one more, after 2.5 there is none.
    expect(returned(await answered(clock.run(handler({ Records: records(9) }, invocation))))).toHaveLength(4);
    expect(invocation.getRemainingTimeInMillis()).toBe(500);
    expect(clock.sleepers).toBe(0);
  });

  it("starts no duplicate that had to wait until there was no time left", async () => {
    const { options, context, clock } = givenBatch();
    let runs = 0;
    const handler = idempotentBatch(
      async () => {
        runs += 1;
        await clock.sleep(8500);
        throw new Error("no");
      },
      { ...options, key: () => "order-1", fingerprint: () => null },
    );

    expect(returned(await answered(clock.run(handler({ Records: records(2) }, context(10_000)))))).toEqual([
      "m1",
      "m2",
    ]);
    expect(runs).toBe(1);
  });

  it("leases a duplicate that had to wait for no longer than the batch has left", async () => {
    const { options, context, clock, store } = givenBatch();
    const start = clock.now();
    const leases: (number | undefined)[] = [];
    const handler = idempotentBatch(
      async () => {
        leases.push([...store.records.values()].at(-1)?.leaseEndsAt);
        await clock.sleep(3000);
        throw new Error("no");
      },
      { ...options, key: () => "order-1", fingerprint: () => null },
    );
    await answered(clock.run(handler({ Records: records(2) }, context(10_000))));

    expect(leases).toEqual([start + 15_000, start + 15_000]);
  });

  it("answers before the invocation ends although a record still runs, after that one's signal", async () => {
    const { options, context, clock, states } = givenBatch();
    const aborted: number[] = [];
    const invocation = context(10_000);
    const handler = idempotentBatch(async ({ messageId }: SQSRecord, { idempotency }) => {
      if (messageId !== "m2") return;
      idempotency.signal.addEventListener("abort", () => aborted.push(invocation.getRemainingTimeInMillis()));
      await new Promise(() => {});
    }, options);

    expect(returned(await answered(clock.run(handler({ Records: records(3) }, invocation))))).toEqual(["m2"]);
    expect(invocation.getRemainingTimeInMillis()).toBe(200);
    expect(aborted).toEqual([500]);
    expect(states()).toEqual(["completed", "in-progress", "completed"]);
  });

  it("keeps the margin that is configured", async () => {
    const { options, context, clock } = givenBatch();
    const handler = idempotentBatch(() => clock.sleep(1000), {
      ...options,
      concurrency: 1,
      deadlineMarginMs: 7500,
    });
    const invocation = context(10_000);

    expect(returned(await answered(clock.run(handler({ Records: records(9) }, invocation))))).toEqual(
      records(9)
        .slice(3)
        .map(({ messageId }) => messageId),
    );
    expect(invocation.getRemainingTimeInMillis()).toBe(7000);
  });

  it("leases each record for the time that the batch has left", async () => {
    const { options, context, clock, store } = givenBatch();
    const leases: (number | undefined)[] = [];
    const start = clock.now();
    const handler = idempotentBatch(
      async () => {
        leases.push([...store.records.values()].at(-1)?.leaseEndsAt);
        await clock.sleep(3000);
      },
      { ...options, concurrency: 1 },
    );
    await clock.run(handler({ Records: records(2) }, context(10_000)));

    expect(leases).toEqual([start + 15_000, start + 15_000]);
  });
});
