// What the checks of a synthesis cost in an app of many functions, and that they miss none of them.
import { type App, Duration, Stack, Stage } from "aws-cdk-lib";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it, vi } from "vitest";
import { unitApp } from "../app-given.ts";
import { aFunction } from "../given.ts";

/** A consumer with the shortest visibility timeout that the checks take, or a second less. */
function addConsumer(stack: Stack, table: IdempotencyTable, id: string, visibilitySeconds = 3): void {
  const fn = aFunction(stack, id, { timeout: Duration.seconds(3) });
  fn.with(new UseIdempotency(table, { retention: Duration.days(20) }));
  const visibilityTimeout = Duration.seconds(visibilitySeconds);
  fn.addEventSource(new SqsEventSource(new Queue(stack, `${id}Queue`, { visibilityTimeout })));
}

function walksOf(functions: number): number {
  const app = unitApp();
  const stack = new Stack(app, "Test");
  const table = new IdempotencyTable(stack, "Table");
  for (let index = 0; index < functions; index++) addConsumer(stack, table, `Fn${index}`);
  const walks = vi.spyOn(app.node, "findAll");
  app.synth();
  return walks.mock.calls.length;
}

describe("the checks of a synthesis", () => {
  it("walk through the app as often for twenty functions as for two", () => {
    expect(walksOf(20)).toBe(walksOf(2));
  });

  it.each([
    ["the app itself", (app: App) => app],
    ["a stage", (app: App) => new Stage(app, "Prod")],
    ["a stage in a stage", (app: App) => new Stage(new Stage(app, "Prod"), "Europe")],
  ])("see each function of %s, also those that come after a synthesis that failed", (_, scopeIn) => {
    const app = unitApp();
    const stack = new Stack(scopeIn(app), "Test");
    const table = new IdempotencyTable(stack, "Table");
    addConsumer(stack, table, "First", 2);
    expect(() => app.synth()).toThrow("FirstQueue < timeout 3 s");

    addConsumer(stack, table, "Second", 2);

    expect(() => app.synth()).toThrow("SecondQueue < timeout 3 s");
  });
});
