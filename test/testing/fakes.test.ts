import type { Context } from "aws-lambda";
import { fakeClock, fakeLambdaContext, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";

describe("fakeRandom", () => {
  it("repeats itself for the same seed, and differs for another", () => {
    const draw = (seed: number | string) => {
      const random = fakeRandom(seed);
      return [random.token(), random.fraction(), random.token()];
    };

    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    expect(draw("1")).toEqual(draw(1));
  });

  it("gives a different token each time, and fractions below 1", () => {
    const random = fakeRandom();
    const tokens = Array.from({ length: 200 }, () => random.token());
    const fractions = Array.from({ length: 200 }, () => random.fraction());

    expect(new Set(tokens).size).toBe(200);
    expect(Math.min(...fractions)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...fractions)).toBeLessThan(1);
    expect(new Set(fractions).size).toBe(200);
  });
});

describe("fakeLambdaContext", () => {
  it("is a Lambda context whose remaining time runs with the clock, down to 0", async () => {
    const clock = fakeClock();
    const context: Context = fakeLambdaContext({ clock, remainingMs: 1000 });

    const before = context.getRemainingTimeInMillis();
    await clock.advance(400);
    const between = context.getRemainingTimeInMillis();
    await clock.advance(5000);

    expect([before, between, context.getRemainingTimeInMillis()]).toEqual([1000, 600, 0]);
  });

  it("has 30 seconds and a unique request id by default", () => {
    const clock = fakeClock();
    const [one, two] = [fakeLambdaContext({ clock }), fakeLambdaContext({ clock })];

    expect(one.getRemainingTimeInMillis()).toBe(30_000);
    expect(one.awsRequestId).not.toBe(two.awsRequestId);
  });

  it("A11: needs no options, and then runs with the system's clock", () => {
    for (const context of [fakeLambdaContext({}), fakeLambdaContext()]) {
      expect(context.getRemainingTimeInMillis()).toBeGreaterThan(20_000);
    }
  });

  it("accepts name and request id, as retries share them", () => {
    const context = fakeLambdaContext({ clock: fakeClock(), functionName: "pay", awsRequestId: "r-1" });

    expect(context).toMatchObject({ functionName: "pay", awsRequestId: "r-1" });
    expect(context.invokedFunctionArn).toMatch(/:function:pay$/);
  });

  it("refuses callbacks", () => {
    const context = fakeLambdaContext({ clock: fakeClock() });

    for (const callback of [context.done, context.fail, context.succeed] as (() => void)[]) {
      expect(callback).toThrow("return a promise");
    }
  });
});
