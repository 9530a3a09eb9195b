import { Duration } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { AttributeType, CfnTable, StreamViewType, Table, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { CfnEventSourceMapping, StartingPosition } from "aws-cdk-lib/aws-lambda";
import { DynamoEventSource, SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { CfnQueue, Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyTable, UseIdempotency, type UseIdempotencyOptions } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "../app-given.ts";
import { aFunction, faultsOf } from "../given.ts";

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
      "visibility timeout 30 s of Test/Queue < timeout 31 s of Test/Fn: messages are delivered again while they're being handled. Make it six times the function's timeout: 186 s",
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
      "fifoThroughputLimit of Test/Fifo is perMessageGroupId, but its deduplicationScope is queue",
    );
  });
});

describe("UseIdempotency proves that there is a stream where a function reads one", () => {
  const partitionKey = { name: "id", type: AttributeType.STRING };

  function faultsOfReader(tableIn: (stack: ReturnType<typeof unitStack>) => TableV2 | Table): string {
    const stack = unitStack();
    const fn = aFunction(stack);
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Records")));
    const startingPosition = StartingPosition.LATEST;
    fn.addEventSource(new DynamoEventSource(tableIn(stack), { startingPosition }));
    return faultsOf(stack);
  }

  it("of any table", () => {
    const dynamoStream = StreamViewType.NEW_IMAGE;

    expect(faultsOfReader((stack) => new TableV2(stack, "Table", { partitionKey, dynamoStream }))).toBe("");
    expect(faultsOfReader((stack) => new Table(stack, "Table", { partitionKey, stream: dynamoStream }))).toBe(
      "",
    );
    expect(faultsOfReader((stack) => new TableV2(stack, "Table", { partitionKey }))).toContain(
      "Test/Fn reads the stream of Test/Table, which doesn't have one: enable it",
    );
  });

  it("of a table and an event source that are plain resources", () => {
    const faultsWith = (streamSpecification?: CfnTable.StreamSpecificationProperty) => {
      const stack = unitStack();
      const fn = aFunction(stack);
      fn.with(new UseIdempotency(new IdempotencyTable(stack, "Records")));
      const keySchema = [{ attributeName: "id", keyType: "HASH" }];
      const table = new CfnTable(stack, "Plain", { keySchema, streamSpecification });
      const eventSourceArn = table.attrStreamArn;
      const { functionName } = fn;
      new CfnEventSourceMapping(stack, "Mapping", {
        functionName,
        eventSourceArn,
        startingPosition: "LATEST",
      });
      return faultsOf(stack);
    };

    expect(faultsWith({ streamViewType: "NEW_IMAGE" })).toBe("");
    expect(faultsWith()).toContain("Test/Fn reads the stream of Test/Plain, which doesn't have one");
  });

  it("of an idempotency table, whose outbox brings it", () => {
    expect(faultsOfReader((stack) => new IdempotencyTable(stack, "Outbox", { outbox: true }).table)).toBe("");
    expect(faultsOfReader((stack) => new IdempotencyTable(stack, "Outbox").table)).toContain(
      "Test/Fn reads the stream of Test/Outbox, which doesn't have one",
    );
  });
});

describe("UseIdempotency proves that the handler accepts its retention", () => {
  const faultsWith = (options: UseIdempotencyOptions) => {
    const stack = unitStack();
    aFunction(stack).with(new UseIdempotency(new IdempotencyTable(stack, "Table"), options));
    return faultsOf(stack);
  };

  it.each<[string, UseIdempotencyOptions]>([
    ["366 days", { retention: Duration.days(366) }],
    ["400 days that are meant", { retention: Duration.days(400), allowLongRetention: true }],
    ["ten years", { retention: Duration.days(3650), allowLongRetention: true }],
  ])("and accepts %s", (_, options) => {
    expect(faultsWith(options)).toBe("");
  });

  it.each<[string, UseIdempotencyOptions, string]>([
    [
      "400 days",
      { retention: Duration.days(400) },
      "retention 34560000 s of Test/Fn > 31622400 s (366 days), which the handler rejects as its retentionSeconds: shorten it, or set allowLongRetention on both UseIdempotency and the handler",
    ],
    [
      "eleven years",
      { retention: Duration.days(4015), allowLongRetention: true },
      "retention 346896000 s of Test/Fn > 315360000 s (ten years), more than any handler accepts: shorten it",
    ],
  ])("and refuses %s", (_, options, text) => {
    expect(faultsWith(options)).toContain(text);
  });
});

describe("UseIdempotency of one operation", () => {
  const warningsOf = (first: UseIdempotencyOptions, second: UseIdempotencyOptions, tables = ["Table"]) => {
    const stack = unitStack();
    const [table, other = table] = tables.map((id) => new IdempotencyTable(stack, id));
    aFunction(stack, "One").with(new UseIdempotency(table as IdempotencyTable, first));
    aFunction(stack, "Two").with(new UseIdempotency(other as IdempotencyTable, second));
    return Annotations.fromStack(stack)
      .findWarning("*", Match.stringLikeRegexp("shared-operation"))
      .map(({ id, entry }) => `${id}: ${String(entry.data)}`);
  };

  it("in two functions of one table is reported on the second", () => {
    expect(warningsOf({ operations: ["pay", "refund"] }, { operations: ["cancel", "pay"] })).toEqual([
      '/Test/Two: Test/One and Test/Two both run the operation "pay" on Test/Table, so for one key only the first runs and the other returns its result: give each function its own operation name [ack: onceonly:shared-operation]',
    ]);
  });

  it("is not reported if tables or operations differ", () => {
    expect(warningsOf({ operations: ["pay"] }, { operations: ["pay"] }, ["Table", "Other"])).toEqual([]);
    expect(warningsOf({ operations: ["pay"] }, { operations: ["refund"] })).toEqual([]);
    expect(warningsOf({}, {})).toEqual([]);
  });
});
