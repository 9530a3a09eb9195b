// A retry storm: one message sent or delivered thousands of times, many invocations at once. A partition of DynamoDB
// takes 1000 write units a second, and refused writes count: so what matters is how many requests each duplicate costs.
import { randomUUID } from "node:crypto";
import type { SQSRecord } from "aws-lambda";
import { type BatchOptions, idempotentBatch } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { Clock } from "onceonly/store-kit";
import { fakeClock, fakeLambdaContext, fakeRandom, MemoryStore, type MemoryWrite } from "onceonly/testing";
import { beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import type { VisibilityRequest } from "../../lib/lambda/batch/batch-options.ts";
import { countRequests } from "../kit/counting-client.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { connect, createTable } from "../kit/tables.ts";
import { answered, envelope, returned, sqsRecord } from "../lambda/batch/given.ts";
import { EventSource } from "../lambda/batch/world.ts";

const BATCH_SIZE = 10;

/** The number of deliveries of one operation, each a message of its own. */
const duplicatesOf = (key: string, count: number) =>
  Array.from({ length: count }, (_, index) => sqsRecord(`message ${index}`, "charge", envelope(key)));

const batchesOf = (...counts: number[]) =>
  counts.reduce((sum, count) => sum + Math.ceil(count / BATCH_SIZE), 0);

type Invoke = (Records: SQSRecord[]) => Promise<readonly unknown[]>;

/** Delivers everything in batches, so many invocations at once. Resolves to what was returned. */
async function storm(
  records: readonly SQSRecord[],
  concurrency: number,
  invoke: Invoke,
): Promise<SQSRecord[]> {
  const starts = Array.from(
    { length: Math.ceil(records.length / BATCH_SIZE) },
    (_, index) => index * BATCH_SIZE,
  );
  const waiting = starts.values();
  const left: SQSRecord[] = [];
  async function invokeUntilEmpty(): Promise<void> {
    for (const start of waiting) {
      const batch = records.slice(start, start + BATCH_SIZE);
      const failed = await invoke(batch);
      left.push(...batch.filter(({ messageId }) => failed.includes(messageId)));
    }
  }
  await Promise.all(Array.from({ length: concurrency }, invokeUntilEmpty));
  return left;
}

const REQUEST_MS = 5;

/** Counts requests, refused ones too. Each takes a while, so that requests overlap. */
function counting(memory: MemoryStore, clock: Clock) {
  /** `peak`: the most that were under way at once. */
  const counts = { writes: 0, reads: 0, peak: 0 };
  let underWay = 0;
  const store = intercepted(memory, async (method, request) => {
    counts[["claim", "settle", "insert"].includes(method) ? "writes" : "reads"] += 1;
    underWay += 1;
    counts.peak = Math.max(counts.peak, underWay);
    await clock.sleep(REQUEST_MS);
    try {
      return await request();
    } finally {
      underWay -= 1;
    }
  });
  return { store, counts };
}

describe("idempotentBatch in a retry storm", () => {
  const DUPLICATES = 5000;
  const CONCURRENCY = 50;

  function givenStorm(changes: Partial<BatchOptions<SQSRecord, MemoryWrite>> = {}) {
    const clock = fakeClock();
    const memory = new MemoryStore();
    const { store, counts } = counting(memory, clock);
    const state = { runs: 0, workMs: 0 };
    const handler = idempotentBatch<SQSRecord, MemoryWrite>(
      async (_, { idempotency }) => {
        state.runs += 1;
        await clock.sleep(state.workMs);
        const item = (former?: { charges?: number }) => ({ charges: (former?.charges ?? 0) + 1 });
        await idempotency.commit(null, { writes: [{ table: "charges", key: "the one", item }] });
      },
      { operation: "charge-payment", store, clock, random: fakeRandom(), ...changes },
    );
    const invoke: Invoke = async (Records) =>
      returned(await answered(handler({ Records }, fakeLambdaContext({ clock, remainingMs: 60_000 }))));
    return Object.assign(state, {
      counts,
      clock,
      handler,
      deliver: (records: readonly SQSRecord[]) => clock.run(storm(records, CONCURRENCY, invoke)),
      charges: () => memory.table("charges").get("the one")?.charges,
    });
  }

  it("H57: 5000 duplicates have one effect, and each delivery costs one write request at most, each completed batch one", async () => {
    const world = givenStorm();
    const records = duplicatesOf("hot", DUPLICATES);

    const left = await world.deliver(records);
    const leftThen = await world.deliver(left);

    expect([world.charges(), world.runs, leftThen]).toEqual([1, 1, []]);
    const completions = 1;
    expect(world.counts.writes).toBeLessThanOrEqual(
      left.length + batchesOf(DUPLICATES, left.length) + completions,
    );
    expect(world.counts.reads).toBe(0);
    // Only what came while the effect was under way comes again.
    expect(left.length).toBeLessThan(CONCURRENCY * BATCH_SIZE);
    // The duplicates of one batch wait for each other.
    expect(world.counts.peak).toBe(CONCURRENCY);
  });

  it("H57: 5000 duplicates that come while the one effect runs are delivered twice each, no more", async () => {
    let source: EventSource;
    const changeVisibility = (request: VisibilityRequest) =>
      source.model.call("ChangeMessageVisibilityBatch", request);
    const world = givenStorm({ key: ({ body }) => body, changeVisibility });
    world.workMs = 50_000;
    source = await new EventSource(world.clock, false).open(30, 3);
    for (let sent = 0; sent < DUPLICATES; sent++) await source.send("hot");

    let deliveries = 0;
    const end = world.clock.now() + 150_000;
    async function pollUntilEnd(): Promise<void> {
      while (world.clock.now() < end) {
        const count = await source.poll(world.handler, 60_000);
        deliveries += count;
        if (count === 0) await world.clock.sleep(5000);
      }
    }
    await world.clock.run(Promise.all(Array.from({ length: CONCURRENCY }, pollUntilEnd)));

    expect([world.charges(), world.runs]).toEqual([1, 1]);
    expect(await source.counts()).toEqual({ left: 0, dead: 0 });
    expect(world.counts.writes).toBeLessThanOrEqual(deliveries + 1);
    expect(world.counts.reads).toBe(0);
    // Those in the winner's own batch come once more: they are not hidden while it works.
    expect(deliveries).toBeLessThanOrEqual(2 * DUPLICATES + BATCH_SIZE);
  });

  it("H57: in the optimistic mode duplicates only read, once in each batch, but for one in each invocation of the first moment", async () => {
    const world = givenStorm({ mode: "optimistic" });
    const records = duplicatesOf("hot", DUPLICATES);

    expect(await world.deliver(records)).toEqual([]);

    expect(world.charges()).toBe(1);
    expect([world.counts.reads, world.counts.writes]).toEqual([DUPLICATES / BATCH_SIZE, CONCURRENCY]);
  });
});

describe.each(inject("dynamodbEngines"))("idempotentBatch in a retry storm on $name", ({ endpoint }) => {
  const DUPLICATES = 300;
  const CONCURRENCY = 10;
  const client = connect(endpoint);
  let counts: ReturnType<typeof countRequests>;
  let runs: number;
  let options: BatchOptions<SQSRecord, DynamoDBWrite>;

  beforeAll(async () => {
    const tableName = await createTable(client);
    counts = countRequests(client);
    const store = new DynamoDBStore({ tableName, client });
    options = { operation: "charge-payment", store, leaseSeconds: 60 };
  });

  beforeEach(() => {
    counts.reset();
    runs = 0;
  });

  const deliver = (records: readonly SQSRecord[], mode: "claimed" | "optimistic") => {
    const handler = idempotentBatch<SQSRecord, DynamoDBWrite>(
      () => {
        runs += 1;
      },
      { ...options, mode },
    );
    return storm(records, CONCURRENCY, async (Records) =>
      returned(await answered(handler({ Records }, fakeLambdaContext({ clock: { now: Date.now } })))),
    );
  };

  it("H57: each completed batch costs one request and one write unit, as does each delivery before that", async () => {
    const records = duplicatesOf(randomUUID(), DUPLICATES);

    const left = await deliver(records, "claimed");
    const leftThen = await deliver(left, "claimed");

    expect([runs, leftThen]).toEqual([1, []]);
    expect(counts.requests).toBeLessThanOrEqual(left.length + batchesOf(DUPLICATES, left.length) + 1);
    expect([counts.writeUnits, counts.readUnits]).toEqual([counts.requests, 0]);
  });

  it("H57: in the optimistic mode a batch of duplicates of completed work costs half a read unit, and no write", async () => {
    const key = randomUUID();
    await deliver(duplicatesOf(key, 1), "optimistic");
    counts.reset();

    expect(await deliver(duplicatesOf(key, DUPLICATES), "optimistic")).toEqual([]);

    expect(runs).toBe(1);
    const batches = DUPLICATES / BATCH_SIZE;
    expect(counts.requests).toBeLessThanOrEqual(batches);
    expect(counts.readUnits).toBeLessThanOrEqual(batches / 2);
    expect(counts.writeUnits).toBe(0);
  });
});
