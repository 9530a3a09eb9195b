import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { SNS } from "@aws-sdk/client-sns";
import { describe, expect, it } from "vitest";
import { Simulator } from "../../../lib/testing/simulator/simulator.ts";
import { dynamodb, effect, givenAws, rowsOf } from "./given.ts";

const HOUR = 3_600_000;

describe("run", () => {
  it("takes no real time for virtual hours, and answers as the work does", async () => {
    const aws = new Simulator({ startAt: 1_000_000 });
    const began = performance.now();
    const seen = await aws.run(async () => {
      await aws.clock.sleep(5 * HOUR);
      await new Promise((resolve) => setTimeout(resolve, HOUR));
      return [Date.now(), Date.parse(new Date().toISOString()), aws.clock.now()];
    });
    expect(seen).toEqual([1_000_000 + 6 * HOUR, 1_000_000 + 6 * HOUR, 1_000_000 + 6 * HOUR]);
    expect(performance.now() - began).toBeLessThan(HOUR / 10);
    await expect(aws.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("fails work that waits for something that is not the clock", async () => {
    const aws = new Simulator();
    await expect(aws.run(() => new Promise(() => undefined))).rejects.toThrow("not the clock");
  });

  it("fails work that never ends while a schedule goes on", async () => {
    const aws = new Simulator({ maxDays: 0.01 });
    aws.every(
      60_000,
      aws.lambda(() => "tick"),
    );
    await expect(aws.run(() => new Promise(() => undefined))).rejects.toThrow("0.01 days");
  });

  it("refuses to be nested, and invocations outside of it", async () => {
    const aws = new Simulator();
    const fn = aws.lambda(() => "done");
    await expect(fn.invoke({})).rejects.toThrow("in run(async () =>");
    await expect(aws.run(() => aws.run(() => 1))).rejects.toThrow("runs already");
  });

  it("lends a region and credentials to clients that have none, and takes them back", async () => {
    const before = { ...process.env };
    const aws = new Simulator();
    const region = await aws.run(() => process.env.AWS_REGION);
    expect(region).toBeTruthy();
    expect({ ...process.env }).toEqual(before);
  });

  it("goes on beside the run of another simulator, each as it would alone", async () => {
    const traceOf = async (seed: number) => {
      const aws = givenAws({ seed });
      const fn = aws.lambda(() => effect("one"), { skewMs: seed });
      await aws.run(() => Promise.all([fn.invoke({}), fn.invoke({}), fn.invoke({})]));
      return aws.traceText();
    };
    const together = await Promise.all([traceOf(1), traceOf(2)]);
    expect(together).toEqual([await traceOf(1), await traceOf(2)]);
  });

  it("is where the clock moves on: outside of it nothing would be done that is due", async () => {
    const aws = new Simulator({ startAt: 0 });
    await aws.clock.advance(1000);
    await aws.run(() => aws.clock.advance(1000));
    expect(aws.clock.now()).toBe(2000);
    await expect(aws.clock.run(Promise.resolve(1))).rejects.toThrow("the simulator's run");
    void aws.clock.sleep(10);
    await expect(aws.clock.advance(1000)).rejects.toThrow("within run");
  });

  it("tells what is wrong with a table or a queue", async () => {
    const aws = new Simulator();
    aws.table("x", { partitionKey: "id" });
    await expect(aws.run(() => 1)).rejects.toThrow(/tableName|TableName|characters/);
    aws.queue("orders.fifo", { fifo: false });
    await expect(aws.run(() => 1)).rejects.toThrow("alphanumeric");
  });

  it("can go on with a second run, where the first one stood", async () => {
    const aws = givenAws();
    const fn = aws.lambda(() => effect("late"));
    const first = await aws.run(() => {
      void fn.invoke({});
      return aws.clock.now();
    });
    await aws.run(() => aws.clock.sleep(1000));
    expect(await rowsOf(aws, "effects")).toHaveLength(1);
    expect(aws.clock.now()).toBe(first + 1000);
  });
});

describe("lambda", () => {
  it("hands on event and answer as JSON, with a context of the invocation", async () => {
    const aws = new Simulator();
    const event = { list: [1], nothing: undefined };
    const fn = aws.lambda(
      (received, context) => ({
        same: received === event,
        received,
        at: new Date(),
        left: context.getRemainingTimeInMillis(),
        id: context.awsRequestId,
        name: context.functionName,
      }),
      { name: "echo", timeoutSeconds: 3 },
    );
    const invocation = await aws.run(() => fn.invoke(event, { requestId: "request-1" }));
    expect(invocation).toEqual({
      number: 1,
      hostId: "echo#1",
      requestId: "request-1",
      outcome: "returned",
      value: {
        same: false,
        received: { list: [1] },
        at: "2023-11-14T22:13:20.000Z",
        left: 3000,
        id: "request-1",
        name: "echo",
      },
    });
  });

  it("tells errors, timeouts and environments that end, each followed by one that works", async () => {
    const aws = new Simulator();
    const fn = aws.lambda(
      async ({ how }) => {
        if (how === "throw") throw new RangeError("too much");
        if (how === "hang") await new Promise(() => undefined);
        if (how === "reject") {
          void Promise.reject(new Error("nobody waits"));
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        if (how === "timer") {
          setTimeout(() => {
            throw new Error("in a timer");
          }, 5);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        return how;
      },
      { timeoutSeconds: 2 },
    );
    const outcomes = await aws.run(async () => {
      const told = [];
      for (const how of ["throw", "hang", "reject", "timer", "work"]) {
        const invocation = await fn.invoke({ how });
        told.push([how, invocation.outcome, invocation.hostId]);
      }
      return told;
    });
    expect(outcomes).toEqual([
      ["throw", "threw", "function-1#1"],
      ["hang", "timed-out", "function-1#1"],
      ["reject", "threw", "function-1#2"],
      ["timer", "threw", "function-1#3"],
      ["work", "returned", "function-1#4"],
    ]);
  });

  it("runs no more invocations at once than its concurrency, and no two in one environment", async () => {
    const aws = new Simulator();
    let most = 0;
    let running = 0;
    const fn = aws.lambda(
      async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 100));
        running--;
      },
      { concurrency: 2 },
    );
    const hosts = await aws.run(async () => {
      const invocations = await Promise.all(Array.from({ length: 6 }, () => fn.invoke({})));
      return invocations.map(({ hostId }) => hostId);
    });
    expect(most).toBe(2);
    expect(new Set(hosts).size).toBe(2);
  });

  it("gives each environment its own clock", async () => {
    const aws = new Simulator({ startAt: 0 });
    const fn = aws.lambda(() => Date.now(), { skewsMs: [1000, -1000] });
    const values = await aws.run(async () =>
      (await Promise.all([fn.invoke({}), fn.invoke({}), fn.invoke({})])).map(
        (each) => each.outcome === "returned" && each.value,
      ),
    );
    expect(values).toEqual([1000, -1000, 1000]);
  });
});

describe("clients of the AWS SDK", () => {
  it("reach the model in the work of run too, without latency and without a trace", async () => {
    const aws = givenAws();
    const Key = { id: { S: "a" } };
    await aws.run(async () => {
      await effect("seen");
      const { Item } = await dynamodb.send(new GetItemCommand({ TableName: "effects", Key }));
      expect(Item).toBeUndefined();
    });
    expect(await rowsOf(aws, "effects")).toHaveLength(1);
    expect(aws.trace).toEqual([]);
  });

  it("are told which services there are", async () => {
    const aws = new Simulator();
    const sns = new SNS();
    const fn = aws.lambda(() =>
      sns.publish({ TopicArn: "arn:aws:sns:us-east-1:000000000000:t", Message: "m" }),
    );
    const invocation = await aws.run(() => fn.invoke({}));
    expect(invocation.outcome === "threw" && String(invocation.error)).toMatch(
      /has DynamoDB and SQS, not what is at sns\..*serve\(/,
    );
  });
});
