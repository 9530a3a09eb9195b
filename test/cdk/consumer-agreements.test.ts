import { Duration } from "aws-cdk-lib";
import { CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { CfnQueue, Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { aFunction, faultsOf } from "./given.ts";
import { unitStack } from "./unit-app.ts";

const seconds = (count: number) => Duration.seconds(count);

describe("UseIdempotency proves what else a queue and its consumer must agree on", () => {
  const given = (timeout: number, visibilityTimeout: number) => {
    const stack = unitStack();
    const fn = aFunction(stack, "Fn", { timeout: seconds(timeout) });
    const retention = Duration.days(20);
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), { retention }));
    const queue = new Queue(stack, "Queue", { visibilityTimeout: seconds(visibilityTimeout) });
    fn.addEventSource(new SqsEventSource(queue));
    return stack;
  };

  it("that messages are hidden for as long as they are handled", () => {
    expect(faultsOf(given(30, 30))).toBe("");
    expect(faultsOf(given(31, 30))).toContain(
      "visibility timeout 30 s of Test/Queue < timeout 31 s of Test/Fn: messages come again while they are handled. Make it six times as long: 186 s",
    );
  });

  it("that throughput per message group goes with deduplication per message group", () => {
    const stackWith = (deduplicationScope?: string) => {
      const stack = given(3, 30);
      const queue = new CfnQueue(stack, "Fifo", {
        fifoQueue: true,
        fifoThroughputLimit: "perMessageGroupId",
        deduplicationScope,
      });
      const fn = stack.node.findChild("Fn") as ReturnType<typeof aFunction>;
      new CfnEventSourceMapping(stack, "Mapping", {
        functionName: fn.functionName,
        eventSourceArn: queue.attrArn,
      });
      return stack;
    };

    expect(faultsOf(stackWith("messageGroup"))).toBe("");
    expect(faultsOf(stackWith())).toContain(
      "fifoThroughputLimit of Test/Fifo is perMessageGroupId and its deduplicationScope is queue",
    );
  });
});
