// Consumers of streams and queues whose event source gives up, or takes an answer for a success.
import { SQS } from "@aws-sdk/client-sqs";
import { idempotentBatch } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { describe, expect, it } from "vitest";
import type { QueueConnection, TableConnection } from "../../lib/simulator/simulator-options.ts";
import { effect, faultsOn, givenAws, rowsOf } from "./given.ts";

const START = 1_700_000_000_000;

const options = {
  operation: "consume",
  store: new DynamoDBStore({ tableName: "idempotency" }),
  onRecordError: () => undefined,
} as const;

describe("a consumer of a stream with three retries", () => {
  async function consume(whenInProgress?: "reject") {
    const aws = givenAws();
    aws.table("letters", { partitionKey: "id", stream: true });
    const handler = idempotentBatch<{ eventID: string }>(({ eventID }) => effect(eventID), {
      ...options,
      whenInProgress: whenInProgress as "reject",
    });
    const fn = aws.lambdaPerEnvironment(() => handler, { timeoutSeconds: 10 });
    aws.connectTable(fn, { tableName: "letters", maxRetries: 3 });
    // It dies with its claim: the lease is of the 10 seconds that it had, and 5 for the clocks.
    aws.faults = faultsOn(({ target }) => target === "effects", { kind: "crash", when: "before" });
    await aws.run(async () => {
      for (const id of ["a", "b"]) {
        await aws.dynamodb.call("PutItem", { TableName: "letters", Item: { id: { S: id } } });
      }
      await aws.untilIdle();
    });
    return { effects: (await rowsOf(aws, "effects")).length, trace: aws.traceText() };
  }

  it("H66: finishes what a dead attempt has left in progress, and gives nothing up", async () => {
    const { effects, trace } = await consume();

    expect(effects).toBe(2);
    expect(trace).not.toContain("gives up");
  });

  it("H66: gives it up only if it must not wait", async () => {
    const { effects, trace } = await consume("reject");

    expect(effects).toBe(0);
    expect(trace).toContain("gives up on 2 records: RetryAttemptsExhausted");
  });
});

describe("a consumer of Kafka with two retries", () => {
  /** One record in each of two partitions; its event source gives a batch up after the last retry. */
  async function consume(whenInProgress?: "reject") {
    const aws = givenAws();
    const handler = idempotentBatch<{ partition: number }>(({ partition }) => effect(`${partition}`), {
      ...options,
      whenInProgress: whenInProgress as "reject",
    });
    const fn = aws.lambdaPerEnvironment(() => handler, { timeoutSeconds: 10 });
    aws.faults = faultsOn(({ target }) => target === "effects", { kind: "crash", when: "before" });
    const records = Object.fromEntries(
      [0, 1].map((partition) => [`letters-${partition}`, [letter(partition)]]),
    );
    const outcomes = await aws.run(async () => {
      const all: string[] = [];
      for (let retry = 0; retry <= 2 && all.at(-1) !== "returned"; retry++) {
        await aws.clock.sleep(1000 * retry);
        all.push(
          (await fn.invoke({ eventSource: "SelfManagedKafka", bootstrapServers: "b-1:9092", records }))
            .outcome,
        );
      }
      return all;
    });
    const done = (await rowsOf(aws, "effects")).map((row) => row.of?.S);
    return { outcomes, done: done.toSorted() };
  }

  function letter(partition: number) {
    return { topic: "letters", partition, offset: 7, timestamp: 1, key: "", value: "e30=", headers: [] };
  }

  it("H66: finishes what a dead attempt has left in progress before its retries are used up", async () => {
    expect(await consume()).toEqual({ outcomes: ["crashed", "threw", "returned"], done: ["0", "1"] });
  });

  it("H66: doesn't if it must not wait", async () => {
    expect(await consume("reject")).toEqual({ outcomes: ["crashed", "threw", "threw"], done: [] });
  });
});

describe("a batch of a stream of which nothing is done", () => {
  async function consume(connection: Partial<TableConnection>) {
    const aws = givenAws();
    aws.table("letters", { partitionKey: "id", stream: true });
    const done: string[] = [];
    const handler = idempotentBatch<{ dynamodb: { Keys: { id: { S: string } } } }>(({ dynamodb }) => {
      if (dynamodb.Keys.id.S === "poison") throw new Error("no");
      done.push(dynamodb.Keys.id.S);
    }, options);
    aws.connectTable(aws.lambda(handler), { tableName: "letters", maxRetries: 2, ...connection });
    await aws.run(async () => {
      for (const id of ["poison", "b", "c"]) {
        await aws.dynamodb.call("PutItem", { TableName: "letters", Item: { id: { S: id } } });
      }
      await aws.untilIdle();
    });
    return { done, givenUp: /gives up on \d+ record/.exec(aws.traceText())?.[0] };
  }

  it("is split down to the record that fails, whether Lambda reads where the batch stopped or not", async () => {
    const expected = { done: ["b", "c"], givenUp: "gives up on 1 record" };

    expect(await consume({ bisect: true, reportsItemFailures: false })).toEqual(expected);
    expect(await consume({ bisect: true, reportsItemFailures: true })).toEqual(expected);
  });

  it("is given up as a whole if it may not be split, and reported as such, not skipped as done", async () => {
    expect(await consume({ reportsItemFailures: false })).toEqual({
      done: [],
      givenUp: "gives up on 3 record",
    });
  });
});

describe("a batch of which nothing is done", () => {
  async function consume(connection: Partial<QueueConnection>) {
    const aws = givenAws();
    const queueUrl = aws.queue("letters", {
      visibilitySeconds: 30,
      deadLetter: { queue: "dead", maxReceives: 3 },
    });
    const fail = idempotentBatch(() => Promise.reject(new Error("no")), options);
    aws.connectQueue(aws.lambda(fail), { queueUrl, ...connection });
    await aws.run(async () => {
      await aws.sqs.call("SendMessage", { QueueUrl: queueUrl, MessageBody: "a" });
      await aws.untilIdle();
    });
    return [queueUrl, queueUrl.replace("letters", "dead")].map((url) => aws.sqs.backlog(url).messages);
  }

  it("comes back until it is a dead letter, even if Lambda does not read which records failed", async () => {
    expect(await consume({ reportsItemFailures: false })).toEqual([0, 1]);
    expect(await consume({ reportsItemFailures: true })).toEqual([0, 1]);
  });
});

describe("duplicates on a queue with a visibility timeout of 15 minutes, while the first one runs", () => {
  const sqs = new SQS();

  /** How many messages are left, in flight or not, by seconds. */
  async function consume(hides: boolean) {
    const aws = givenAws();
    const queueUrl = aws.queue("letters", { visibilitySeconds: 900 });
    const handler = idempotentBatch<{ body: string }>(
      async ({ body }) => {
        await new Promise((resolve) => setTimeout(resolve, 5000));
        await effect(body);
      },
      {
        ...options,
        key: ({ body }) => body,
        ...(hides && { changeVisibility: (request) => sqs.changeMessageVisibilityBatch(request) }),
      },
    );
    const fn = aws.lambda(handler, { timeoutSeconds: 10 });
    aws.connectQueue(fn, { queueUrl, batchSize: 1 });
    const left = await aws.run(async () => {
      for (let copy = 0; copy < 6; copy++) {
        await aws.sqs.call("SendMessage", { QueueUrl: queueUrl, MessageBody: "a" });
      }
      const counts: number[] = [];
      for (const seconds of [4, 30, 600, 960]) {
        await aws.clock.sleep(seconds * 1000 - (aws.clock.now() - START));
        counts.push(aws.sqs.backlog(queueUrl).messages);
      }
      return counts;
    });
    return { left, effects: (await rowsOf(aws, "effects")).length };
  }

  it("H67: are in flight no longer than the first one's lease if they are hidden until then", async () => {
    expect(await consume(true)).toEqual({ left: [6, 0, 0, 0], effects: 1 });
  });

  it("H67: are so until the visibility timeout has ended if they are not", async () => {
    expect(await consume(false)).toEqual({ left: [6, 5, 5, 0], effects: 1 });
  });
});
