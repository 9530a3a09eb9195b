// What a test can get wrong, and the error it gets.
import { TransactWriteItemsCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Fault } from "../../lib/simulator/fault.ts";
import { Simulator } from "../../lib/simulator/simulator.ts";
import { dynamodb, effect, givenAws } from "./given.ts";

const anything = (value: unknown) => value as never;
const handler = () => "done";

describe("an option that breaks its rule", () => {
  it.each<[string, (aws: Simulator) => unknown, says: string]>([
    [
      "of the simulator",
      () => new Simulator(anything({ sed: 1 })),
      "`sed` isn't an option (did you mean `seed`?)",
    ],
    ["seed", () => new Simulator({ seed: Number.NaN }), "`seed` must be a number"],
    ["startAt", () => new Simulator({ startAt: -1 }), "`startAt` must be a whole number from 0"],
    [
      "of a table",
      (aws) => aws.table("orders", anything({ partition: "id" })),
      "`partition` isn't an option",
    ],
    ["no key", (aws) => aws.table("orders", anything({})), "`partitionKey` must be an attribute name"],
    [
      "37.3: a table name of two letters",
      (aws) => aws.table("ab", { partitionKey: "id" }),
      '`table name` must be 3 to 255 characters long and consist of a-z, A-Z, 0-9, "_", "-" and ".", as DynamoDB requires (got "ab")',
    ],
    [
      "37.3: an index name of two letters",
      (aws) => aws.table("orders", { partitionKey: "id", indexes: { by: { partitionKey: "day" } } }),
      "`index name` must be 3 to 255 characters long",
    ],
    [
      "37.3: a table name with a space",
      (aws) => aws.table("my orders", { partitionKey: "id" }),
      'as DynamoDB requires (got "my orders")',
    ],
    [
      "of an index",
      (aws) => aws.table("orders", { partitionKey: "id", indexes: { byDay: anything({ key: "day" }) } }),
      "`key` isn't an option",
    ],
    ["of a queue", (aws) => aws.queue("work", anything({ visibility: 3 })), "`visibility` isn't an option"],
    [
      "visibilitySeconds",
      (aws) => aws.queue("work", { visibilitySeconds: 30_000_000 }),
      "`visibilitySeconds` must be a whole number from 0 to 43200",
    ],
    [
      "deadLetter",
      (aws) => aws.queue("work", { deadLetter: { queue: "dead", maxReceives: 0 } }),
      "`deadLetter` must be { queue, maxReceives }",
    ],
    ["no handler", (aws) => aws.lambda(anything(undefined)), "`handler` must be a function"],
    ["timeoutSeconds", (aws) => aws.lambda(handler, { timeoutSeconds: 30_000 }), "above 0 and up to 5400"],
    ["concurrency", (aws) => aws.lambda(handler, { concurrency: 0 }), "`concurrency` must be"],
    ["skewsMs", (aws) => aws.lambda(handler, { skewsMs: [] }), "`skewsMs` must be an array of numbers"],
    [
      "batchSize",
      (aws) => aws.connectQueue(aws.lambda(handler), { queueUrl: "q", batchSize: 11 }),
      "`batchSize` must be a whole number from 1 to 10",
    ],
    [
      "maxRetries",
      (aws) => aws.connectTable(aws.lambda(handler), { tableName: "t", maxRetries: -2 }),
      "`maxRetries` must be a whole number from -1",
    ],
    ["every", (aws) => aws.every(0, aws.lambda(handler)), "`ms` must be at least 1 ms"],
    ["no origin", (aws) => aws.serve("api", anything(handler)), 'serve needs an origin such as "https://'],
    ["a path", (aws) => aws.serve("https://api.example.com/v1", anything(handler)), "serve needs an origin"],
    ["no service", (aws) => aws.serve("https://api.example.com", anything({})), "a function that responds"],
  ])("is reported at once: %s", (_, make, says) => {
    expect(() => make(new Simulator())).toThrow(says);
  });

  it("is none where it holds: a clock that is behind, a queue by its URL, an origin with a slash", () => {
    const aws = new Simulator({ seed: -1, startAt: 0, maxDays: 0.5 });
    const queue = aws.queue("dead", { delaySeconds: 0 });
    aws.queue("work", { deadLetter: { queue, maxReceives: 1000 } });
    aws.serve("http://localhost:3000/", () => new Response());
    aws.lambda(handler, { skewMs: -60_000, timeoutSeconds: 0.5 });
  });

  it("F4: is none in a timeout of 30 or 90 minutes", () => {
    const aws = new Simulator();
    for (const timeoutSeconds of [1800, 5400]) aws.lambda(handler, { timeoutSeconds });
    expect(() => aws.lambda(handler, { timeoutSeconds: 5401 })).toThrow("above 0 and up to 5400");
  });
});

describe("a simulation that does not fit together", () => {
  it.each([
    [
      { Key: { id: { S: "1" } }, UpdateExpression: "SET status = id" },
      "ValidationException: Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: status",
    ],
    [
      { Key: { no: { S: "1" } }, UpdateExpression: "SET a = id" },
      "TransactionCanceledException [None, ValidationError: The provided key element does not match the schema]",
    ],
  ])("tells in the trace what DynamoDB refuses of the transaction with %j", async (update, text) => {
    const aws = givenAws();
    const Put = { TableName: "effects", Item: { id: { S: "2" } } };
    const Update = { TableName: "effects", ...update };
    const fn = aws.lambda(() =>
      dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }, { Update }] })),
    );

    await aws.run(() => fn.invoke({}));

    expect(aws.trace.filter(({ io }) => io).map((event) => event.text)).toEqual([text]);
  });

  it("has each table and each queue once", () => {
    const aws = new Simulator();
    aws.table("orders", { partitionKey: "id" });
    aws.queue("work");
    expect(() => aws.table("orders", { partitionKey: "id" })).toThrow("a table orders already exists");
    expect(() => aws.queue("work")).toThrow("a queue work already exists");
  });

  it("reports a table that is refused, also if the work itself creates it", async () => {
    const aws = new Simulator();
    await expect(aws.run(() => aws.table("x", { partitionKey: "id" }))).rejects.toThrow("name");
  });

  it("names the queue or the table that a source has none of", async () => {
    const aws = new Simulator();
    aws.connectQueue(aws.lambda(handler), { queueUrl: "https://sqs.us-east-1.amazonaws.com/0/none" });
    await expect(aws.run(() => aws.untilIdle())).rejects.toThrow("no queue https://sqs");
    const other = new Simulator();
    other.connectTable(other.lambda(handler), { tableName: "none" });
    await expect(other.run(() => other.untilIdle())).rejects.toThrow("no table none");
  });

  it("is not run within another one, and not twice at once", async () => {
    const aws = new Simulator();
    await expect(aws.run(() => new Simulator().run(() => 1))).rejects.toThrow(
      "another simulator is already running",
    );
  });

  it("reports a server that returns no Response", async () => {
    const aws = new Simulator();
    aws.serve("https://api.example.com", () => anything(undefined));
    const fn = aws.lambda(() => fetch("https://api.example.com/"));
    expect(await aws.run(() => fn.invoke({}))).toMatchObject({
      outcome: "threw",
      error: {
        message: expect.stringContaining("https://api.example.com returned a value of type undefined"),
      },
    });
  });
});

describe("a fault", () => {
  it.each<[string, Fault, says: string]>([
    ["of no kind", anything({ kind: "crsh" }), '`kind` must be "crash",'],
    ["without its side", anything({ kind: "crash" }), "`when` must be "],
    ["without its time", anything({ kind: "freeze", when: "after" }), "`ms` must be a number"],
    ["with too much", anything({ kind: "unsent", ms: 3 }), "`ms` isn't an option"],
  ])("%s ends the run with an error", async (_, fault, says) => {
    const aws = givenAws();
    aws.faults = () => fault;
    await expect(aws.run(() => aws.lambda(() => effect("one")).invoke({}))).rejects.toThrow(says);
  });
});

describe("work", () => {
  it("that leaves an error behind fails the run, also as its last thing", async () => {
    const aws = new Simulator();
    const leave = () => {
      void Promise.reject(new Error("left behind"));
      return "done";
    };
    await expect(aws.run(leave)).rejects.toThrow("left behind");
    expect(await aws.run(() => "next")).toBe("next");
  });

  it("that goes on for ever without waiting fails, instead of hanging", async () => {
    const aws = new Simulator();
    let isOver = false;
    const fn = aws.lambda(async () => {
      while (!isOver) await new Promise((resolve) => setImmediate(resolve));
    });
    await expect(aws.run(() => fn.invoke({}))).rejects.toThrow(
      "setImmediate, which doesn't advance virtual time",
    );
    isOver = true;
  }, 60_000);
});

describe("fake timers of a test runner", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("are refused, before and after the simulator is made, and do no harm when they are gone", async () => {
    const aws = givenAws();
    vi.useFakeTimers();
    await expect(aws.run(() => 1)).rejects.toThrow("vi.useRealTimers()");
    expect(() => new Simulator()).toThrow("vi.useRealTimers()");
    vi.useRealTimers();
    expect((await aws.run(() => aws.lambda(() => effect("one")).invoke({}))).outcome).toBe("returned");
  });

  it("of another kind are refused too: time would not get through", async () => {
    const aws = new Simulator();
    const { setTimeout: patched } = globalThis;
    globalThis.setTimeout = (() => 1) as unknown as typeof setTimeout;
    await expect(aws.run(() => 1)).rejects.toThrow("setTimeout has been replaced");
    globalThis.setTimeout = patched;
    await aws.run(() => aws.clock.sleep(1));
  });
});
