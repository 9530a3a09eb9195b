import { describe, expect, it } from "vitest";
import { Simulator } from "../../lib/simulator/simulator.ts";

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

  it("reports errors, timeouts and environments that end, each followed by one that works", async () => {
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
      const answers = [];
      for (const how of ["throw", "hang", "reject", "timer", "work"]) {
        const invocation = await fn.invoke({ how });
        answers.push([how, invocation.outcome, invocation.hostId]);
      }
      return answers;
    });
    expect(outcomes).toEqual([
      ["throw", "threw", "function-1#1"],
      ["hang", "timed-out", "function-1#1"],
      ["reject", "threw", "function-1#2"],
      ["timer", "threw", "function-1#3"],
      ["work", "returned", "function-1#4"],
    ]);
  });

  it("runs no more concurrent invocations than its concurrency, and no two in one environment", async () => {
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
