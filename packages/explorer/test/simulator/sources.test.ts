import { SQS } from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { Simulator } from "../../lib/simulator/simulator.ts";

interface SqsEvent {
  readonly Records: readonly {
    readonly messageId: string;
    readonly body: string;
    readonly attributes: { readonly ApproximateReceiveCount: string };
  }[];
}

interface StreamEvent {
  readonly Records: readonly {
    readonly dynamodb: {
      readonly SequenceNumber: string;
      readonly NewImage: { readonly n: { readonly N: string }; readonly bytes: { readonly B: string } };
    };
  }[];
}

const sqs = new SQS();
const START = 1_700_000_000_000;

describe("connectQueue", () => {
  it("hands on messages, and those that fail again after their visibility timeout, until they are dead letters", async () => {
    const aws = new Simulator();
    const QueueUrl = aws.queue("work", {
      visibilitySeconds: 20,
      deadLetter: { queue: "dead", maxReceives: 3 },
    });
    const seen: [string, number][] = [];
    const fn = aws.lambda(({ Records }: SqsEvent) => {
      for (const { body } of Records) seen.push([body, Math.floor((Date.now() - START) / 20_000)]);
      const failed = Records.filter(({ body }) => body === "bad");
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    });
    aws.connectQueue(fn, { queueUrl: QueueUrl });
    await aws.run(async () => {
      const Entries = ["good", "bad"].map((MessageBody, index) => ({ Id: String(index), MessageBody }));
      await sqs.sendMessageBatch({ QueueUrl, Entries });
      await aws.untilIdle();
    });
    expect(seen.filter(([body]) => body === "good")).toEqual([["good", 0]]);
    expect(seen.filter(([body]) => body === "bad")).toEqual([0, 1, 2].map((turn) => ["bad", turn]));
    expect(aws.sqs.backlog(QueueUrl).messages).toBe(0);
    expect(aws.sqs.backlog(QueueUrl.replace("work", "dead")).messages).toBe(1);
  });

  it("treats an error, a timeout and a response that names no message as a failure of the whole batch", async () => {
    const aws = new Simulator();
    const QueueUrl = aws.queue("work.fifo", { visibilitySeconds: 20 });
    const answers = [
      () => Promise.reject(new Error("no")),
      () => new Promise(() => undefined),
      () => ({ batchItemFailures: [{ itemIdentifier: "unknown" }] }),
      () => undefined,
    ];
    const sizes: number[] = [];
    const fn = aws.lambda(
      ({ Records }: SqsEvent) => {
        sizes.push(Records.length);
        return answers.shift()?.();
      },
      { timeoutSeconds: 3 },
    );
    aws.connectQueue(fn, { queueUrl: QueueUrl, concurrency: 1 });
    await aws.run(async () => {
      const message = { QueueUrl, MessageBody: "x", MessageGroupId: "g" };
      await sqs.sendMessage({ ...message, MessageDeduplicationId: "1" });
      await sqs.sendMessage({ ...message, MessageDeduplicationId: "2" });
      await aws.untilIdle();
    });
    expect(sizes).toEqual([2, 2, 2, 2]);
  });

  it("keeps the order of a group, and lets other groups by", async () => {
    const aws = new Simulator({ seed: 3 });
    const QueueUrl = aws.queue("work.fifo", { visibilitySeconds: 30, contentBasedDeduplication: true });
    const seen: string[] = [];
    let failures = 2;
    const fn = aws.lambda(({ Records: [record] }: SqsEvent) => {
      if (record?.body === "a1" && failures-- > 0) throw new Error("not yet");
      seen.push(record?.body ?? "");
    });
    aws.connectQueue(fn, { queueUrl: QueueUrl, batchSize: 1, concurrency: 3 });
    await aws.run(async () => {
      for (const body of ["a1", "a2", "b1", "b2"]) {
        await sqs.sendMessage({ QueueUrl, MessageBody: body, MessageGroupId: body[0] });
      }
      await aws.untilIdle();
    });
    expect(seen).toEqual(["b1", "b2", "a1", "a2"]);
  });
});

describe("connectQueue, of a function that is slower than the visibility timeout", () => {
  it("delivers the message again in between, with the next receive count", async () => {
    const aws = new Simulator();
    const QueueUrl = aws.queue("work", { visibilitySeconds: 10 });
    const seen: [second: number, receives: string][] = [];
    const fn = aws.lambda(async ({ Records: [record] }: SqsEvent) => {
      seen.push([Math.floor((Date.now() - START) / 1000), record!.attributes.ApproximateReceiveCount]);
      if (seen.length === 1) await new Promise((resolve) => setTimeout(resolve, 25_000));
    });
    aws.connectQueue(fn, { queueUrl: QueueUrl });
    await aws.run(async () => {
      await sqs.sendMessage({ QueueUrl, MessageBody: "a" });
      await aws.untilIdle();
    });
    expect(seen).toEqual([
      [0, "1"],
      [10, "2"],
    ]);
    expect(aws.sqs.backlog(QueueUrl).messages).toBe(0);
  });
});

describe("connectTable", () => {
  const givenTable = () => {
    const aws = new Simulator();
    aws.table("letters", { partitionKey: "id", stream: true });
    const write = async (numbers: readonly number[]) => {
      for (const n of numbers) {
        const Item = { id: { S: `id-${n}` }, n: { N: String(n) }, bytes: { B: new Uint8Array([n]) } };
        await aws.dynamodb.call("PutItem", { TableName: "letters", Item });
      }
    };
    return { aws, write };
  };
  const numbersOf = ({ Records }: StreamEvent) =>
    Records.map(({ dynamodb }) => Number(dynamodb.NewImage.n.N));

  it("delivers changes in order, bytes as base64, and begins again at the record that a response names", async () => {
    const { aws, write } = givenTable();
    const batches: number[][] = [];
    let failures = 1;
    const fn = aws.lambda((event: StreamEvent) => {
      expect(Buffer.from(event.Records[0]!.dynamodb.NewImage.bytes.B, "base64")).toHaveLength(1);
      batches.push(numbersOf(event));
      const third = event.Records.find(({ dynamodb }) => dynamodb.NewImage.n.N === "3");
      if (!third || failures-- <= 0) return { batchItemFailures: [] };
      return { batchItemFailures: [{ itemIdentifier: third.dynamodb.SequenceNumber }] };
    });
    aws.connectTable(fn, { tableName: "letters", batchSize: 4 });
    await write([1, 2]);
    await aws.run(async () => {
      await write([3, 4, 5]);
      await aws.untilIdle();
      await write([6]);
      await aws.untilIdle();
    });
    expect(batches).toEqual([[1, 2, 3, 4], [3, 4], [5], [6]]);
  });

  it("splits a failing batch if allowed, and gives up one that fails too often", async () => {
    const { aws, write } = givenTable();
    const done: number[] = [];
    const fn = aws.lambda((event: StreamEvent) => {
      const numbers = numbersOf(event);
      if (numbers.includes(2)) throw new Error("poison");
      done.push(...numbers);
    });
    aws.connectTable(fn, { tableName: "letters", bisect: true, maxRetries: 2 });
    await aws.run(async () => {
      await write([1, 2, 3, 4]);
      await aws.untilIdle();
    });
    expect(done).toEqual([1, 3, 4]);
    expect(aws.traceText()).toContain("gives up on 1 records: RetryAttemptsExhausted");
  });

  it("waits for changes without going on in time", async () => {
    const { aws } = givenTable();
    aws.connectTable(
      aws.lambda(() => undefined),
      { tableName: "letters" },
    );
    await aws.run(() => aws.untilIdle());
    expect(aws.clock.now() - START).toBeLessThan(1000);
    await expect(aws.run(() => new Promise(() => undefined))).rejects.toThrow("other than the clock");
  });
});

describe("every", () => {
  it("invokes on time, and each failure twice more after one and two minutes", async () => {
    const aws = new Simulator();
    const minutes: number[] = [];
    const fn = aws.lambda(() => {
      minutes.push(Math.round((Date.now() - START) / 60_000));
      if (minutes.length < 3) throw new Error("not yet");
    });
    aws.every(10 * 60_000, fn);
    await aws.run(() => aws.clock.sleep(25 * 60_000));
    expect(minutes).toEqual([10, 11, 13, 20]);
  });
});
