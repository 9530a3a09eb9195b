// The parts of an app in nested stacks: checks see through their borders, and ids are the same in each of them.
import { Duration, NestedStack, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  DedupQueue,
  IdempotencyMonitoring,
  IdempotencyTable,
  OutboxRelay,
  UseIdempotency,
} from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitApp } from "./app-given.ts";
import { aFunction } from "./given.ts";

function given(parent = "Shop") {
  const stack = new Stack(unitApp(), parent, { env: { account: "111122223333", region: "eu-central-1" } });
  const [data, services] = [new NestedStack(stack, "Data"), new NestedStack(stack, "Services")];
  return { stack, data, services, table: new IdempotencyTable(data, "Table", { outbox: true }) };
}

describe("nested stacks", () => {
  it("a consumer in one, its queue in another and its table in a third are checked together", () => {
    const { stack, data, services, table } = given();
    const fn = aFunction(services, "Charge", { timeout: Duration.seconds(10) });
    const queues = new NestedStack(stack, "Queues");
    const queue = new Queue(queues, "Payments", { visibilityTimeout: Duration.seconds(9) });
    fn.with(new UseIdempotency(table, { operations: ["charge"], retention: Duration.days(40) }));
    fn.addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));

    expect(() => Template.fromStack(data)).toThrow("Shop/Queues/Payments < timeout 10 s");
  });

  it("the retention is proved against a queue of another nested stack, with the inequality", () => {
    const reject = (retention: Duration) => {
      const { stack, services, table } = given();
      const fn = aFunction(services, "Charge", { timeout: Duration.seconds(3) });
      const queue = new Queue(new NestedStack(stack, "Queues"), "Payments", {
        visibilityTimeout: Duration.seconds(30),
        retentionPeriod: Duration.days(4),
      });
      fn.with(new UseIdempotency(table, { operations: ["charge"], retention }));
      fn.addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
      try {
        Template.fromStack(services);
        return "";
      } catch (error) {
        return (error as Error).message;
      }
    };

    expect(reject(Duration.days(3))).toMatch(/retention 259200 s .*< .*Payments/s);
    expect(reject(Duration.days(20))).toBe("");
  });

  it("a relay, its table and its monitoring may be in three of them", () => {
    const { stack, data, services, table } = given();
    const queue = new DedupQueue(services, "Orders");
    const relay = new OutboxRelay(services, "Relay", { table, destinations: [queue.queue] });
    const fn = aFunction(services, "Create");
    fn.with(new UseIdempotency(table, { operations: ["create"], commits: true }));
    const watching = new NestedStack(stack, "Watching");
    new IdempotencyMonitoring(watching, "Monitoring", { table, relay: relay.relay, sweeper: relay.sweeper });

    expect(() => new OutboxRelay(data, "Second", { table, destinations: [queue.queue] })).toThrow(
      "both send from",
    );
    const template = Template.fromStack(services);

    template.resourceCountIs("AWS::Lambda::EventSourceMapping", 1);
    expect(
      Object.keys(Template.fromStack(watching).findResources("AWS::CloudWatch::Alarm")).length,
    ).toBeGreaterThan(5);
  });

  it("has the same ids whatever its parent is called", () => {
    const idsIn = (parent: string) => {
      const { services, table } = given(parent);
      const queue = new DedupQueue(services, "Orders");
      new OutboxRelay(services, "Relay", { table, destinations: [queue.queue] });
      const fn = aFunction(services, "Create");
      queue.addConsumer(fn);
      fn.with(new UseIdempotency(table, { operations: ["create"], retention: Duration.days(40) }));
      return Object.keys(Template.fromStack(services).toJSON().Resources);
    };

    expect(idsIn("Shop")).toEqual(idsIn("ShopOfAnotherStage"));
  });
});
