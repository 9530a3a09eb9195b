// Logical ids: CloudFormation replaces a resource whose id changes, and a replaced table has forgotten what ran.
import { type CfnElement, Duration, Stack, Stage } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { AttributeType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { ArnPrincipal, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  DedupQueue,
  IdempotencyMonitoring,
  IdempotencyTable,
  OutboxRelay,
  Reconciler,
  UseIdempotency,
} from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitApp, unitStack } from "./app-given.ts";
import { aFunction } from "./given.ts";

interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

const resourcesOf = (stack: Stack) => Object.entries<Resource>(Template.fromStack(stack).toJSON().Resources);
const idsOf = (stack: Stack) =>
  resourcesOf(stack)
    .map(([id, { Type }]) => `${Type} ${id}`)
    .sort();

/** What CloudFormation replaces the resource for. */
const CREATE_ONLY = ["KeySchema", "TableName", "FifoQueue", "QueueName"];
const identities = (stack: Stack, type: string) =>
  resourcesOf(stack)
    .filter(([, { Type }]) => Type === type)
    .map(([id, { Properties }]) => [id, CREATE_ONLY.map((name) => Properties[name])]);

const partitionKey = { name: "pk", type: AttributeType.STRING };

function everythingIn(stack: Stack, elsewhere: Stack) {
  const table = new IdempotencyTable(stack, "Records", { outbox: true, unknownOutcomes: true });
  const fn = aFunction(stack, "Fn");
  fn.with(new UseIdempotency(table, { operations: ["pay"], retention: Duration.days(40) }));
  const [near, far] = [new DedupQueue(stack, "Payments"), new DedupQueue(elsewhere, "Payments")];
  for (const queue of [near, far]) queue.addConsumer(fn);
  const { relay, sweeper } = new OutboxRelay(stack, "Outbox", { table, destinations: [near.queue] });
  new Reconciler(stack, "Reconciler", { table, handler: fn });
  const queues = [near.queue, far.queue];
  const deadLetterQueues = [near.deadLetterQueue, far.deadLetterQueue];
  const watched = { queues, deadLetterQueues, relay, sweeper, functions: [fn], reconciler: fn };
  new IdempotencyMonitoring(stack, "Monitoring", { table, ...watched });
}

describe("logical ids", () => {
  it("of a TableV2 that becomes an IdempotencyTable stay, with every property for which CloudFormation would replace a table", () => {
    const [plain, adopted] = [unitStack(), unitStack()];
    new TableV2(plain, "Records", { partitionKey, tableName: "records" });
    new IdempotencyTable(adopted, "Records", { tableName: "records" });

    expect(identities(adopted, "AWS::DynamoDB::GlobalTable")).toEqual(
      identities(plain, "AWS::DynamoDB::GlobalTable"),
    );
  });

  it("of a Queue that becomes a DedupQueue stay, and those of its policy and of its event source", () => {
    const [plain, adopted] = [unitStack(), unitStack()];
    const dead = (stack: Stack) => new Queue(stack, "GivenUp", { fifo: true, enforceSSL: true });
    const deadLetterQueue = { queue: dead(plain), maxReceiveCount: 5 };
    const before = new Queue(plain, "Payments", { fifo: true, enforceSSL: true, deadLetterQueue });
    aFunction(plain).addEventSource(new SqsEventSource(before));
    const after = new DedupQueue(adopted, "Payments", { deadLetterQueue: dead(adopted) });
    aFunction(adopted).addEventSource(new SqsEventSource(after.queue));

    expect(idsOf(adopted)).toEqual(idsOf(plain));
    expect(identities(adopted, "AWS::SQS::Queue")).toEqual(identities(plain, "AWS::SQS::Queue"));
  });

  it("reveal a table with another key, which CloudFormation would replace", () => {
    const [plain, adopted] = [unitStack(), unitStack()];
    new TableV2(plain, "Records", { partitionKey: { ...partitionKey, name: "id" } });
    new IdempotencyTable(adopted, "Records");

    expect(identities(adopted, "AWS::DynamoDB::GlobalTable")).not.toEqual(
      identities(plain, "AWS::DynamoDB::GlobalTable"),
    );
  });

  it("do not depend on the path of the stack, nor on that of its stage", () => {
    const app = unitApp();
    const stage = new Stage(app, "Production");
    const elsewhere = (scope: Stage) => new Stack(scope, "Elsewhere");
    const [one, other] = [new Stack(app, "Shop"), new Stack(stage, "TheShop")];
    everythingIn(one, elsewhere(app));
    everythingIn(other, elsewhere(stage));

    expect(idsOf(other)).toEqual(idsOf(one));
  });

  it("of queues with one name in two stacks differ", () => {
    const app = unitApp();
    const [stack, elsewhere] = [new Stack(app, "Shop"), new Stack(app, "Elsewhere")];
    expect(() => everythingIn(stack, elsewhere)).not.toThrow();
  });

  it("of the inner table and queues are those of the resources that overrides reach", () => {
    const stack = unitStack();
    const { table } = new IdempotencyTable(stack, "Records");
    const { queue } = new DedupQueue(stack, "Payments");
    queue.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ArnPrincipal("arn:aws:iam::111111111111:role/other")],
        actions: ["sqs:SendMessage"],
        resources: [queue.queueArn],
      }),
    );

    const of = (id: string) =>
      stack.getLogicalId(stack.node.findChild(id).node.defaultChild?.node.defaultChild as CfnElement);
    expect([of("Records"), of("Payments")]).toEqual([
      stack.resolve(table.tableName).Ref,
      (stack.resolve(queue.queueUrl) as { Ref: string }).Ref,
    ]);
  });
});
