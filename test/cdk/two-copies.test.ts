// An app that loads this package twice, as an ES module and as CommonJS for example: each copy knows what the other one has made.
import { Duration, Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { unitApp } from "./app-given.ts";
import { aFunction } from "./given.ts";

type Copy = typeof import("onceonly/cdk");

let one: Copy;
let other: Copy;
beforeAll(async () => {
  one = await import("onceonly/cdk");
  vi.resetModules();
  other = await import("onceonly/cdk");
});

function given() {
  const stack = new Stack(unitApp(), "Test", { env: { account: "111122223333", region: "eu-central-1" } });
  const table = new one.IdempotencyTable(stack, "Table", { outbox: true });
  const queue = new Queue(stack, "Payments", { fifo: true });
  return { stack, table, queue };
}

const warningsOf = (stack: Stack) =>
  Annotations.fromStack(stack)
    .findWarning("*", Match.anyValue())
    .map(({ entry }) => String(entry.data));

/** An app with each construct, in turn of the one and the other copy, all around one table. */
function everything(first: Copy, second: Copy) {
  const stack = new Stack(unitApp(), "Test", { env: { account: "111122223333", region: "eu-central-1" } });
  const table = new first.IdempotencyTable(stack, "Table", { outbox: true, unknownOutcomes: true });
  const fn = aFunction(stack, "Fn", { timeout: Duration.seconds(10) });
  fn.with(new second.UseIdempotency(table, { operations: ["pay"], commits: true }));
  const queue = new first.DedupQueue(stack, "Orders");
  const consumer = aFunction(stack, "Consumer", { timeout: Duration.seconds(10) });
  const retention = Duration.days(30);
  consumer.with(new second.UseIdempotency(table, { operations: ["ship"], retention }));
  queue.addConsumer(consumer);
  const relay = new second.OutboxRelay(stack, "Relay", { table, destinations: [queue.queue] });
  const { sweeper } = relay;
  new first.IdempotencyMonitoring(stack, "Monitoring", { table, sweeper });
  new second.Reconciler(stack, "Reconciler", { table, handler: aFunction(stack, "Handler") });
  second.CommitGrants.fromTable(table.table).actions(fn, "dynamodb:PutItem");
  return Template.fromStack(stack).toJSON();
}

describe("two copies of the package in one app", () => {
  it("H86: A6: produce for each construct what one copy produces", () => {
    const alone = everything(one, one);

    expect(everything(one, other)).toEqual(alone);
    expect(everything(other, one)).toEqual(alone);
  });

  it("are two", () => {
    expect(other.IdempotencyTable).not.toBe(one.IdempotencyTable);
  });

  it("refuse a second relay of a table", () => {
    const { stack, table, queue } = given();
    new one.OutboxRelay(stack, "First", { table, destinations: [queue] });

    expect(() => new other.OutboxRelay(stack, "Second", { table, destinations: [queue] })).toThrow(
      "both send from",
    );
  });

  it("know of each other that a table has a relay, and that two functions run one operation", () => {
    const { stack, table, queue } = given();
    const [first, second] = [aFunction(stack, "First"), aFunction(stack, "Second")];
    first.with(new one.UseIdempotency(table, { operations: ["pay"], commits: true }));
    second.with(new other.UseIdempotency(table, { operations: ["pay"], commits: true }));
    new other.OutboxRelay(stack, "Relay", { table, destinations: [queue] });

    const warnings = warningsOf(stack).join("\n");

    expect(warnings).toContain('both run the operation "pay"');
    expect(warnings).not.toContain("no OutboxRelay in this app");
  });

  it("check a consumer of one copy on a queue of the other", () => {
    const { stack, table } = given();
    const fn = aFunction(stack, "Consumer", { timeout: Duration.seconds(30) });
    fn.with(new one.UseIdempotency(table, { operations: ["pay"], retention: Duration.days(30) }));
    const queue = new other.DedupQueue(stack, "Orders", { visibilityTimeout: Duration.seconds(20) });

    expect(() => queue.addConsumer(fn)).toThrow("6 × timeout 30 s of its consumer");
  });

  it("do not give a function its rights twice", () => {
    const { stack, table } = given();
    const fn = aFunction(stack, "Fn");
    fn.with(new one.UseIdempotency(table, { operations: ["pay"] }));

    expect(() => fn.with(new other.UseIdempotency(table, { operations: ["pay"] }))).toThrow(/Fn/);
  });

  it("raise the alarms of a table once, and warn of one service for two tables", () => {
    const { stack, table } = given();
    const second = new other.IdempotencyTable(stack, "SecondTable");
    new one.IdempotencyMonitoring(stack, "First", { table });
    new other.IdempotencyMonitoring(stack, "Second", { table, service: "payments" });
    new other.IdempotencyMonitoring(stack, "Third", { table: second });

    const alarms = Object.keys(Template.fromStack(stack).findResources("AWS::CloudWatch::Alarm"));

    expect(alarms.filter((id) => id.startsWith("SecondTableThrottles"))).toEqual([]);
    expect(alarms.filter((id) => id.startsWith("FirstTableThrottles"))).not.toEqual([]);
    expect(warningsOf(stack).join("\n")).toContain("in one account and region but use different tables");
  });

  it("report how often the sweeper of the other copy runs", () => {
    const { stack, table, queue } = given();
    const sweepInterval = Duration.minutes(20);
    const { sweeper } = new one.OutboxRelay(stack, "Relay", { table, destinations: [queue], sweepInterval });

    new other.IdempotencyMonitoring(stack, "Monitoring", { table, sweeper });

    const alarms = Object.entries(Template.fromStack(stack).findResources("AWS::CloudWatch::Alarm"));
    const age = alarms.find(([id]) => id.startsWith("MonitoringOutboxAge"));
    expect(JSON.stringify(age)).toContain("1200");
  });
});
