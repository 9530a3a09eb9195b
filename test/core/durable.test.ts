import { describe, expect, it } from "vitest";
import { isDurableContext, refuseDurable } from "../../lib/core/durable.ts";

const BRANDED = { [Symbol.for("@aws/durable-execution-sdk-js/durable-context")]: true };
const step = () => {};

describe("isDurableContext", () => {
  it.each([
    ["a branded context", BRANDED, true],
    ["an older SDK's context", { step, runInChildContext: step }, true],
    ["a context with the ARN of its execution", { executionContext: { durableExecutionArn: "arn" } }, true],
    ["a function named step", { step }, false],
    ["a child context's function", { runInChildContext: step }, false],
    ["members that aren't functions", { step: "step", runInChildContext: "run" }, false],
    ["a step that isn't a function", { step: "step", runInChildContext: step }, false],
    ["an ARN that isn't a string", { executionContext: { durableExecutionArn: 1 } }, false],
    ["Lambda's own context", { awsRequestId: "id" }, false],
    ["no context", undefined, false],
  ])("decides for %s", (_, context, isDurable) => {
    expect(isDurableContext(context)).toBe(isDurable);
  });
});

describe("refuseDurable", () => {
  const event = { DurableExecutionArn: "arn", CheckpointToken: "token" };

  it.each([
    [event, undefined],
    [{}, BRANDED],
  ])("refuses a durable execution: %#", (given, context) => {
    expect(() => refuseDurable("handler", given, context)).toThrow(
      /`handler` can't run once as a whole in a durable execution: use `idempotentDurable`/,
    );
  });

  it.each([
    [{ ...event, DurableExecutionArn: "" }],
    [{ ...event, CheckpointToken: "" }],
    [{ ...event, CheckpointToken: 1 }],
    [{ DurableExecutionArn: "arn" }],
    [undefined],
  ])("accepts an event that only resembles one: %j", (given) => {
    expect(() => refuseDurable("fn", given)).not.toThrow();
  });
});
