// What the constructs offer as CDK's own constructs do: imports by name and ARN, names on the interfaces, type guards,
// property injection.
import { Duration, PropertyInjectors, RemovalPolicy, type Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Key } from "aws-cdk-lib/aws-kms";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  DedupQueue,
  IdempotencyMonitoring,
  IdempotencyTable,
  IdempotentFunction,
  OutboxRelay,
  Reconciler,
} from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { rightsOf } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { aFunction } from "./given.ts";

const env = { account: "111111111111", region: "eu-west-1" };
const tableArn = "arn:aws:dynamodb:eu-west-1:111111111111:table/records";
const queueArn = "arn:aws:sqs:eu-west-1:111111111111:orders.fifo";

describe("IdempotencyTable", () => {
  it("B12: is imported by its name or its ARN, and exposes both", () => {
    const stack = unitStack({ env });
    const byName = IdempotencyTable.fromTableName(stack, "ByName", "records");
    const byArn = IdempotencyTable.fromTableArn(stack, "ByArn", tableArn);

    expect([byName.tableName, byArn.tableName, byArn.tableArn]).toEqual(["records", "records", tableArn]);
    expect(stack.resolve(byName.tableArn)).toEqual(stack.resolve(byName.table.tableArn));
    expect(byName.hasOutbox).toBe(false);
  });

  it("B12: knows tables that were created, imported or replicated, and nothing else", () => {
    const stack = unitStack({ env });
    const table = new IdempotencyTable(stack, "Table", {
      tableName: "records",
      replicas: [{ region: "eu-west-2" }],
      keysPinnedToRegion: true,
    });
    const imported = IdempotencyTable.fromTableName(stack, "Imported", "records");

    expect([table, imported, table.replica("eu-west-2")].map(IdempotencyTable.isIdempotencyTable)).toEqual([
      true,
      true,
      true,
    ]);
    expect([table.table, stack, {}, null, "table"].some(IdempotencyTable.isIdempotencyTable)).toBe(false);
    expect([table.tableName, table.tableArn]).toEqual([table.table.tableName, table.table.tableArn]);
  });
});

describe("DedupQueue", () => {
  it("B12: is imported by its attributes, and exposes URL and ARN", () => {
    const stack = unitStack({ env });
    const queueUrl = "https://sqs.example/orders.fifo";
    const queue = DedupQueue.fromQueueAttributes(stack, "Queue", { queueArn, queueUrl });

    expect([queue.queueUrl, queue.queueArn]).toEqual([queueUrl, queueArn]);
    expect(() =>
      DedupQueue.fromQueueAttributes(stack, "Standard", { queueArn: queueArn.replace(".fifo", "") }),
    ).toThrow("a standard queue");
  });

  it("B12: checks the timeout of a consumer against the visibility timeout of an import", () => {
    const stack = unitStack({ env });
    const visibilityTimeout = Duration.seconds(20);
    const queue = DedupQueue.fromQueueAttributes(stack, "Queue", { queueArn, visibilityTimeout });

    expect(() => queue.addConsumer(aFunction(stack, "Slow", { timeout: Duration.seconds(30) }))).toThrow(
      "visibilityTimeout 20 s of Test/Queue < 180 s",
    );
  });

  it("B12: grants the use of the key of an import", () => {
    const stack = unitStack({ env });
    const encryptionKey = new Key(stack, "Key");
    const fn = aFunction(stack);
    DedupQueue.fromQueueAttributes(stack, "Queue", { queueArn, encryptionKey }).grantProduce(fn);

    expect(rightsOf(Template.fromStack(stack), "Fn").map(({ actions }) => actions)).toEqual([
      ["sqs:SendMessage"],
      ["kms:Decrypt", "kms:GenerateDataKey"],
    ]);
  });

  it("B12: knows queues that were created or imported, and nothing else", () => {
    const stack = unitStack({ env });
    const queue = new DedupQueue(stack, "Queue");
    const imported = DedupQueue.fromQueueArn(stack, "Imported", queueArn);

    expect([queue, imported].every(DedupQueue.isDedupQueue)).toBe(true);
    expect([queue.queue, stack, undefined].some(DedupQueue.isDedupQueue)).toBe(false);
    expect([queue.queueUrl, queue.queueArn]).toEqual([queue.queue.queueUrl, queue.queue.queueArn]);
  });
});

describe("property injection", () => {
  function inject(stack: Stack, constructUniqueId: string, extra: object): string[] {
    const seen: string[] = [];
    PropertyInjectors.of(stack).add({
      constructUniqueId,
      inject(props, { id }) {
        seen.push(id);
        return { ...props, ...extra };
      },
    });
    return seen;
  }

  it("B12: reaches a table and a queue, also without properties", () => {
    const stack = unitStack({ env });
    inject(stack, IdempotencyTable.PROPERTY_INJECTION_ID, { removalPolicy: RemovalPolicy.DESTROY });
    inject(stack, DedupQueue.PROPERTY_INJECTION_ID, { maxReceiveCount: 9 });
    new IdempotencyTable(stack, "Table");
    new DedupQueue(stack, "Queue");

    const template = Template.fromStack(stack);
    template.hasResource("AWS::DynamoDB::GlobalTable", { DeletionPolicy: "Delete" });
    template.hasResourceProperties("AWS::SQS::Queue", { RedrivePolicy: { maxReceiveCount: 9 } });
  });

  it("B12: reaches each construct by its own id, from the nearest scope", () => {
    const stack = unitStack({ env });
    const ids = [
      IdempotencyTable,
      DedupQueue,
      OutboxRelay,
      Reconciler,
      IdempotencyMonitoring,
      IdempotentFunction,
    ];
    const all = ids.map(({ PROPERTY_INJECTION_ID }) => PROPERTY_INJECTION_ID);
    expect(all).toEqual(ids.map(({ name }) => `onceonly.cdk.${name}`));
    const outer = inject(stack.node.root as Stack, OutboxRelay.PROPERTY_INJECTION_ID, {});
    const seen = all.map((id) => inject(stack, id, {}));

    const table = new IdempotencyTable(stack, "Table", { outbox: true, unknownOutcomes: true });
    new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
    new Reconciler(stack, "Reconciler", { table, handler: aFunction(stack) });
    new IdempotencyMonitoring(stack, "Monitoring", { table });
    new DedupQueue(stack, "Queue");
    new IdempotentFunction(stack, "Idempotent", { table, entry: "functions/get-order.ts" });

    expect(seen).toEqual([["Table"], ["Queue"], ["Outbox"], ["Reconciler"], ["Monitoring"], ["Idempotent"]]);
    expect(outer).toEqual([]);
  });
});
