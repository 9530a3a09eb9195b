import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { SQS } from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { canHave } from "../../lib/simulator/exchange.ts";
import type { Fault } from "../../lib/simulator/fault.ts";
import { randomFaults } from "../../lib/simulator/random-faults.ts";
import { dynamodb, effect, faultsOn, givenAws, rowsOf } from "./given.ts";

const anyIo = () => true;
const effects = (aws: ReturnType<typeof givenAws>) => rowsOf(aws, "effects");
const iosOf = (aws: ReturnType<typeof givenAws>) =>
  aws.trace.filter(({ io }) => io).map(({ io, fault, text }) => [io?.attempt, fault?.kind, text]);

describe("faults on DynamoDB", () => {
  it.each<[Fault, outcome: string, rows: number, ios: number]>([
    [{ kind: "crash", when: "before" }, "crashed", 0, 1],
    [{ kind: "crash", when: "after" }, "crashed", 1, 1],
    // The SDK tries again, and every try writes an item of its own name.
    [{ kind: "lost-answer" }, "returned", 1, 2],
    [{ kind: "unsent" }, "returned", 1, 2],
    [{ kind: "throttle" }, "returned", 1, 2],
    [{ kind: "unanswered" }, "timed-out", 0, 1],
    [{ kind: "unanswered", when: "after" }, "timed-out", 1, 1],
    [{ kind: "refused", code: "InternalServerError", status: 500 }, "returned", 1, 2],
    [{ kind: "refused", code: "AccessDeniedException" }, "threw", 0, 1],
    [{ kind: "conflict" }, "threw", 0, 1],
    [{ kind: "slow", ms: 60_000 }, "timed-out", 1, 1],
    [{ kind: "slow", ms: 60_000, when: "before" }, "timed-out", 1, 1],
    [{ kind: "freeze", when: "before", ms: 60_000 }, "timed-out", 1, 1],
    [{ kind: "freeze", when: "after", ms: 60_000 }, "timed-out", 1, 1],
    [{ kind: "freeze", when: "after", ms: 500 }, "returned", 1, 1],
  ])("%j ends as %s", async (fault, outcome, rows, ios) => {
    const aws = givenAws();
    aws.faults = faultsOn(anyIo, fault);
    const fn = aws.lambda(() => effect("one"), { timeoutSeconds: 10 });
    const invocation = await aws.run(async () => {
      const result = await fn.invoke({});
      await aws.clock.sleep(120_000);
      return result;
    });
    expect(invocation.outcome).toBe(outcome);
    expect(await effects(aws)).toHaveLength(rows);
    expect(iosOf(aws)).toHaveLength(ios);
  });

  it("a slow request arrives late, a slow response is computed immediately", async () => {
    const rowsAfter = async (fault: Fault) => {
      const aws = givenAws();
      aws.faults = faultsOn(anyIo, fault);
      const fn = aws.lambda(() => effect("one"), { timeoutSeconds: 10 });
      await aws.run(() => fn.invoke({}));
      return (await effects(aws)).length;
    };
    expect(await rowsAfter({ kind: "slow", ms: 60_000 })).toBe(1);
    expect(await rowsAfter({ kind: "slow", ms: 60_000, when: "before" })).toBe(0);
  });

  it("a host that stands still sends nothing, not even simultaneous requests", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(anyIo, { kind: "freeze", when: "before", ms: 60_000 });
    const fn = aws.lambda(() => Promise.all([effect("one"), effect("two")]), { timeoutSeconds: 10 });
    await aws.run(async () => {
      await fn.invoke({});
      expect(await effects(aws)).toHaveLength(0);
      await aws.clock.sleep(60_000);
    });
    expect(await effects(aws)).toHaveLength(2);
  });

  it("a conflict in a transaction has a reason for each item", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(anyIo, { kind: "conflict" });
    const Put = { TableName: "effects", Item: { id: { S: "a" } } };
    const other = { TableName: "orders", Item: { tenant: { S: "t" }, id: { S: "a" } } };
    const fn = aws.lambda(() =>
      dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }, { Put: other }] })),
    );
    const invocation = await aws.run(() => fn.invoke({}));
    const { CancellationReasons } = Object(invocation.outcome === "threw" && invocation.error);
    expect(CancellationReasons.map(({ Code }: { Code: string }) => Code)).toEqual([
      "TransactionConflict",
      "None",
    ]);
  });

  it("a stale read sees the items before the last write", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(({ operation }) => operation === "GetItem", { kind: "stale" });
    const Key = { id: { S: "a" } };
    const read = () => dynamodb.send(new GetItemCommand({ TableName: "effects", Key }));
    const fn = aws.lambda(async () => {
      await dynamodb.send(new PutItemCommand({ TableName: "effects", Item: Key }));
      return [(await read()).Item, (await read()).Item];
    });
    const invocation = await aws.run(() => fn.invoke({}));
    expect(invocation.outcome === "returned" && invocation.value).toEqual([null, Key]);
  });

  it("clients that are given the model's configuration have them too", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(anyIo, { kind: "lost-answer" });
    const own = new DynamoDBClient({ ...aws.dynamodb.clientConfig(), maxAttempts: 1 });
    const fn = aws.lambda(() =>
      own.send(new PutItemCommand({ TableName: "effects", Item: { id: { S: "a" } } })),
    );
    const invocation = await aws.run(() => fn.invoke({}));
    expect(invocation).toMatchObject({ outcome: "threw", error: { code: "ECONNRESET" } });
    expect(await effects(aws)).toHaveLength(1);
  });

  it("a fault that the I/O cannot have ends the run, naming both", async () => {
    const aws = givenAws();
    aws.faults = () => ({ kind: "stale" });
    const fn = aws.lambda(() => effect("one"));
    await expect(aws.run(() => fn.invoke({}))).rejects.toThrow(
      "I/O 1 (dynamodb PutItem effects) can't have the fault stale",
    );
  });
});

describe("faults on SQS and on fetch", () => {
  it.each<[Fault["kind"], messages: number]>([
    ["lost-answer", 2],
    ["unsent", 1],
    ["throttle", 1],
  ])("a message that is sent under %s is in the queue %i times", async (kind, messages) => {
    const aws = givenAws();
    const QueueUrl = aws.queue("letters");
    aws.faults = faultsOn(anyIo, { kind } as Fault);
    const sqs = new SQS();
    const fn = aws.lambda(() => sqs.sendMessage({ QueueUrl, MessageBody: "hello" }));
    expect((await aws.run(() => fn.invoke({}))).outcome).toBe("returned");
    expect(aws.sqs.backlog(QueueUrl).messages).toBe(messages);
    expect(iosOf(aws)).toMatchObject([
      [1, kind, expect.anything()],
      [2, undefined, "ok"],
    ]);
  });

  it.each<[Fault["kind"], answer: string, calls: number]>([
    ["lost-answer", "TypeError: fetch failed", 1],
    ["unsent", "TypeError: fetch failed", 0],
    ["throttle", "429", 0],
    ["refused", "503", 0],
  ])("a fetch under %s is answered with %s", async (kind, answer, calls) => {
    const aws = givenAws();
    let called = 0;
    aws.serve("https://mail.example.com", () => {
      called++;
      return new Response("sent");
    });
    aws.faults = faultsOn(anyIo, {
      kind,
      ...(kind === "refused" && { code: "closed", status: 503 }),
    } as Fault);
    const fn = aws.lambda(() =>
      fetch("https://mail.example.com/send").then(({ status }) => String(status), String),
    );
    const invocation = await aws.run(() => fn.invoke({}));
    expect(invocation).toMatchObject({ outcome: "returned", value: answer });
    expect(called).toBe(calls);
  });
});

describe("randomFaults", () => {
  const io = { service: "dynamodb", operation: "PutItem", target: "t", input: {} } as const;
  const draw = (options: Parameters<typeof randomFaults>[0], count = 400) => {
    const faults = randomFaults(options);
    return Array.from({ length: count }, (_, index) =>
      faults({ ...io, number: index + 1, at: 0, hostId: "h", invocation: 1, attempt: 1 }),
    );
  };

  it("draws the same for the same seed, about as many as its rate, and only what fits", () => {
    const drawn = draw({ seed: 5, rate: 0.5 });
    expect(drawn).toEqual(draw({ seed: 5, rate: 0.5 }));
    expect(drawn).not.toEqual(draw({ seed: 6, rate: 0.5 }));
    const given = drawn.filter((fault) => fault !== undefined);
    expect(given.length).toBeGreaterThan(130);
    expect(given.length).toBeLessThan(220);
    expect(given.every(({ kind }) => canHave(io, kind))).toBe(true);
    expect(new Set(given.map(({ kind }) => kind)).size).toBe(9);
  });

  it("keeps to the kinds and the number it is given", () => {
    const given = draw({ seed: 1, rate: 1, kinds: ["throttle"], most: 3 }).filter(
      (fault) => fault !== undefined,
    );
    expect(given).toEqual([{ kind: "throttle" }, { kind: "throttle" }, { kind: "throttle" }]);
  });
});
