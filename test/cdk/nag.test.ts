// Each construct under the AwsSolutions rules of cdk-nag, with defaults and with the options that change rights.
import { type App, Duration, Stack } from "aws-cdk-lib";
import { AttributeType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { FlowLogDestination, Vpc } from "aws-cdk-lib/aws-ec2";
import { ManagedPolicy, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  CommitGrants,
  DedupQueue,
  IdempotencyMonitoring,
  IdempotencyTable,
  IdempotentFunction,
  OutboxRelay,
  Reconciler,
  UseIdempotency,
} from "onceonly/cdk";
import { describe, expect, it, test } from "vitest";
import { aFunction } from "./given.ts";
import { nagFindings } from "./nag-given.ts";

const NONE = { open: [], acknowledged: [] };
const entry = "functions/create-order.ts";
const env = { region: "eu-west-1", account: "111111111111" };

const findingsIn = (add: (stack: Stack) => void) =>
  nagFindings((app: App) => {
    const stack = new Stack(app, "Test", { env });
    add(stack);
    return stack;
  });

const aTable = (stack: Stack) => new IdempotencyTable(stack, "Table", { outbox: true });
const aKey = (stack: Stack) => new Key(stack, "Key", { enableKeyRotation: true });

describe("AwsSolutions rules", () => {
  it("find the defaults of a function and a queue", () => {
    const { open } = findingsIn((stack) => {
      aFunction(stack);
      new Queue(stack, "Queue");
    });

    expect(open).toEqual([
      expect.stringMatching(/^Test\/Fn\/ServiceRole\/Resource: AwsSolutions-IAM4/),
      "Test/Queue/Resource: AwsSolutions-SQS3",
      "Test/Queue/Resource: AwsSolutions-SQS4",
    ]);
  });

  test.each<[string, (stack: Stack) => void]>([
    ["an IdempotencyTable", (stack) => new IdempotencyTable(stack, "Table")],
    [
      "an IdempotencyTable with a key and an outbox",
      (stack) => new IdempotencyTable(stack, "Table", { outbox: true, encryptionKey: aKey(stack) }),
    ],
    ["a DedupQueue", (stack) => new DedupQueue(stack, "Queue")],
    [
      "a DedupQueue with a key, a producer and a consumer",
      (stack) => {
        const fn = new IdempotentFunction(stack, "Fn", {
          entry,
          table: aTable(stack),
          retention: Duration.days(40),
        });
        const queue = new DedupQueue(stack, "Queue", { encryptionKey: aKey(stack) });
        queue.addConsumer(fn);
        queue.grantProduce(fn);
        queue.grantChangeVisibility(fn);
      },
    ],
    [
      "an IdempotentFunction",
      (stack) => new IdempotentFunction(stack, "Fn", { entry, table: aTable(stack) }),
    ],
    [
      "an IdempotentFunction with fenced rights and commits",
      (stack) => {
        const table = new IdempotencyTable(stack, "Table", { encryptionKey: aKey(stack) });
        const operations = ["create-order", "refund*"];
        const fn = new IdempotentFunction(stack, "Fn", {
          entry,
          table,
          operations,
          scopeTag: "tenant",
          commits: true,
        });
        const rows = new TableV2(stack, "Rows", {
          partitionKey: { name: "id", type: AttributeType.STRING },
          pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
        });
        CommitGrants.fromTable(rows).actions(fn, "dynamodb:PutItem");
      },
    ],
    [
      "an OutboxRelay",
      (stack) => {
        const { queue } = new DedupQueue(stack, "Queue");
        new OutboxRelay(stack, "Outbox", { table: aTable(stack), destinations: [queue] });
      },
    ],
    [
      "a Reconciler",
      (stack) => {
        const table = new IdempotencyTable(stack, "Table", { unknownOutcomes: true });
        const handler = new IdempotentFunction(stack, "Fn", { entry, table, timeout: Duration.minutes(1) });
        new Reconciler(stack, "Reconciler", { table, handler });
      },
    ],
    [
      "an IdempotencyMonitoring",
      (stack) => new IdempotencyMonitoring(stack, "Monitoring", { table: aTable(stack) }),
    ],
  ])("find nothing in %s", (_, add) => {
    expect(findingsIn(add)).toEqual(NONE);
  });

  it("find no more in a function to which UseIdempotency was added than in the function", () => {
    const without = findingsIn((stack) => aFunction(stack));

    const withIt = findingsIn((stack) => aFunction(stack).with(new UseIdempotency(aTable(stack))));

    expect(withIt).toEqual(without);
  });

  it("have acknowledged that an OutboxRelay's on-failure queue has no dead-letter queue", () => {
    const findings = findingsIn((stack) => {
      new OutboxRelay(stack, "Outbox", {
        table: aTable(stack),
        destinations: [new DedupQueue(stack, "Queue").queue],
        onFailureQueue: new Queue(stack, "GivenUp", { enforceSSL: true }),
      });
    });

    expect(findings).toEqual({ open: [], acknowledged: ["Test/GivenUp/Resource: AwsSolutions-SQS3"] });
  });

  it("have acknowledged the managed policy that a VPC requires, and no wildcard of the app's own", () => {
    const findings = findingsIn((stack) => {
      const vpc = new Vpc(stack, "Vpc", { natGateways: 0 });
      vpc.addFlowLog("Flow", { destination: FlowLogDestination.toCloudWatchLogs() });
      const fn = new IdempotentFunction(stack, "Fn", { entry, table: aTable(stack), vpc });
      fn.addToRolePolicy(new PolicyStatement({ actions: ["s3:GetObject"], resources: ["*"] }));
    });

    expect(findings).toEqual({
      open: ["Test/FnRole/DefaultPolicy/Resource: AwsSolutions-IAM5[Resource::*]"],
      acknowledged: [expect.stringMatching(/^Test\/FnRole\/Resource: .*AWSLambdaVPCAccessExecutionRole\]$/)],
    });
  });

  it("leave it to the app what its own role may do in a VPC", () => {
    const { acknowledged } = findingsIn((stack) => {
      const vpc = new Vpc(stack, "Vpc", { natGateways: 0 });
      const role = new Role(stack, "Own", {
        assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
        managedPolicies: [
          ManagedPolicy.fromAwsManagedPolicyName("service-role/AWSLambdaVPCAccessExecutionRole"),
        ],
      });
      new IdempotentFunction(stack, "Fn", { entry, table: aTable(stack), vpc, role });
    });

    expect(acknowledged).toEqual([]);
  });
});
