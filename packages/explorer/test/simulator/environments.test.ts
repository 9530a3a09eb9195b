import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";
import { Simulator } from "../../lib/simulator/simulator.ts";
import { effect, faultsOn, givenAws, rowsOf } from "./given.ts";

const SECOND = 1000;

describe("an environment", () => {
  it("that ends by an unhandled error loses its response, but affects no later invocation", async () => {
    const aws = givenAws();
    let invocations = 0;
    const fn = aws.lambda(async () => {
      if (++invocations > 1) return effect("one");
      void Promise.reject(new Error("nobody waits"));
      return "done";
    });
    const [first, second] = await aws.run(async () => [await fn.invoke({}), await fn.invoke({})]);
    expect(first).toMatchObject({ outcome: "threw", hostId: "function-1#1" });
    expect(second).toMatchObject({ outcome: "returned", hostId: "function-1#2" });
  });

  it.each<[string, (fail: () => never) => void]>([
    ["setImmediate", (fail) => setImmediate(fail)],
    ["process.nextTick", (fail) => process.nextTick(fail)],
  ])("is ended by an error in %s", async (_, later) => {
    const aws = new Simulator();
    const fn = aws.lambda(async () => {
      later(() => {
        throw new RangeError("late");
      });
      await sleep(10);
    });
    const [first, second] = await aws.run(async () => [await fn.invoke({}), await fn.invoke({})]);
    expect(first).toMatchObject({ outcome: "threw", error: { message: "late" } });
    expect(second?.hostId).toBe("function-1#2");
  });

  it("that a fault holds after its response gets no invocation until it continues", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(() => true, { kind: "freeze", when: "after", ms: 60 * SECOND });
    let leavesWork = true;
    const fn = aws.lambda(async () => {
      if (leavesWork) void effect("late");
      leavesWork = false;
    });
    const hosts = await aws.run(async () => {
      const answers = [await fn.invoke({})];
      await sleep(SECOND);
      answers.push(await fn.invoke({}));
      await sleep(120 * SECOND);
      answers.push(await fn.invoke({}));
      return answers.map(({ hostId }) => hostId);
    });
    expect(hosts).toEqual(["function-1#1", "function-1#2", "function-1#1"]);
  });

  it("that ends after its response gets no invocation", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(() => true, { kind: "crash", when: "after" });
    const fn = aws.lambda(async ({ of }) => {
      const work = effect(of);
      if (of === "awaited") await work;
    });
    const [first, second] = await aws.run(async () => {
      const answers = await fn.invoke({ of: "late" });
      await sleep(SECOND);
      return [answers, await fn.invoke({ of: "awaited" })];
    });
    expect(first).toMatchObject({ outcome: "returned", hostId: "function-1#1" });
    expect(second).toMatchObject({ outcome: "returned", hostId: "function-1#2" });
  });

  it("stands still between invocations, even if a fault on it ends in between", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(() => true, { kind: "freeze", when: "after", ms: 60 * SECOND });
    const late: number[] = [];
    const fn = aws.lambda(async () => {
      void effect("late").then(() => late.push(aws.clock.now() - 1_700_000_000_000));
    });
    await aws.run(async () => {
      await fn.invoke({});
      await sleep(300 * SECOND);
      aws.faults = undefined;
      await fn.invoke({});
      await sleep(SECOND);
    });
    expect(late).toHaveLength(1);
    expect(late[0]).toBeGreaterThanOrEqual(300 * SECOND);
  });

  it("that hangs is gone with its request, which arrives all the same", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(() => true, { kind: "slow", ms: 10 * SECOND, when: "before" });
    let isAnswered = false;
    const fn = aws.lambda(
      async () => {
        await effect("late");
        isAnswered = true;
      },
      { timeoutSeconds: 3 },
    );
    const invocation = await aws.run(async () => {
      const answers = await fn.invoke({});
      await sleep(60 * SECOND);
      return answers;
    });
    expect(invocation.outcome).toBe("timed-out");
    expect([await rowsOf(aws, "effects"), isAnswered]).toMatchObject([[{}], false]);
  });
});

describe("an invocation", () => {
  it("has its whole time left whatever its environment's clock shows, and less after a freeze", async () => {
    const aws = givenAws();
    aws.faults = faultsOn(() => true, { kind: "freeze", when: "after", ms: 4 * SECOND });
    const fn = aws.lambda(
      async (_event, context) => {
        const left = [context.getRemainingTimeInMillis()];
        await effect("one");
        return [...left, context.getRemainingTimeInMillis() <= 6 * SECOND];
      },
      { timeoutSeconds: 10, skewMs: -3_600_000 },
    );
    expect(await aws.run(() => fn.invoke({}))).toMatchObject({ value: [10 * SECOND, true] });
  });

  it("without an event gets an empty one", async () => {
    const aws = new Simulator();
    const echo = aws.lambda((event) => event);
    await aws.run(async () => {
      expect(await echo.invoke(undefined)).toMatchObject({ outcome: "returned", value: {} });
    });
  });

  it.each<[string, LambdaHandler, object]>([
    ["its callback", (_event, _context, callback) => callback?.(null, "done"), { value: "done" }],
    [
      "an error for its callback",
      (_event, _context, callback) => callback?.(new Error("no")),
      { outcome: "threw", error: { message: "no" } },
    ],
    [
      "its callback before its promise",
      async (_event, _context, callback) => callback?.(null, "done"),
      { value: "done" },
    ],
    ["context.succeed", (_event, context) => context.succeed("done"), { value: "done" }],
    ["context.done", (_event, context) => context.done(undefined, "done"), { value: "done" }],
    ["context.fail", (_event, context) => context.fail("no"), { outcome: "threw", error: "no" }],
    ["nothing at all", () => undefined, { outcome: "returned", value: null }],
  ])("43.5: answers with %s", async (_, handler, expected) => {
    const aws = new Simulator();

    expect(await aws.run(() => aws.lambda(handler).invoke({}))).toMatchObject(expected);
  });

  it.each([
    ["waits for its requests and timers", true, 2],
    ["ends with callbackWaitsForEmptyEventLoop = false", false, 0],
  ])("43.5: whose callback comes early %s", async (_, waits, writes) => {
    const aws = givenAws();
    const fn = aws.lambda((_event, context, callback) => {
      context.callbackWaitsForEmptyEventLoop = waits;
      void effect("one").then(() => setTimeout(() => void effect("two"), SECOND));
      callback?.(null, "early");
    });

    const { seen, invocation } = await aws.run(async () => {
      const ended = await fn.invoke({});
      return { invocation: ended, seen: (await rowsOf(aws, "effects")).length };
    });

    expect([invocation, seen]).toMatchObject([{ outcome: "returned", value: "early" }, writes]);
  });

  it("that is asynchronous is tried three times under one request id, a minute and two minutes apart", async () => {
    const aws = new Simulator();
    const seen: [at: number, id: string][] = [];
    const fn = aws.lambda((_event, { awsRequestId }) => {
      seen.push([Math.round((Date.now() - 1_700_000_000_000) / SECOND), awsRequestId]);
      throw new Error("no");
    });
    const invocation = await aws.run(() => fn.invokeAsync({}, { requestId: "one" }));
    expect(seen).toEqual([
      [0, "one"],
      [60, "one"],
      [180, "one"],
    ]);
    expect(invocation).toMatchObject({ outcome: "threw", number: 3, requestId: "one" });
  });
});
