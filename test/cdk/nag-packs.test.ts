// The constructs under the rules for NIST 800-53, HIPAA and PCI, with the properties that these rules ask for.
import { type App, Duration, Stack } from "aws-cdk-lib";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { Key } from "aws-cdk-lib/aws-kms";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { HIPAASecurityChecks, type NagPack, NIST80053R5Checks, PCIDSS321Checks } from "cdk-nag";
import {
  DedupQueue,
  IdempotencyMonitoring,
  IdempotencyTable,
  IdempotentFunction,
  OutboxRelay,
  Reconciler,
} from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { nagFindings } from "./nag-given.ts";

const env = { region: "eu-west-1", account: "111111111111" };

/** Every construct, with keys, in a VPC of another stack, and with reserved concurrency. */
function shopIn(app: App): Stack {
  const vpc = new Vpc(new Stack(app, "Network", { env }), "Vpc", { natGateways: 0 });
  const stack = new Stack(app, "Shop", { env });
  const key = new Key(stack, "Key", { enableKeyRotation: true });
  const table = new IdempotencyTable(stack, "Table", {
    outbox: true,
    unknownOutcomes: true,
    encryptionKey: key,
  });
  const queue = new DedupQueue(stack, "Queue", { encryptionKey: key });
  const onFailureQueue = new Queue(stack, "GivenUp", { enforceSSL: true, encryptionMasterKey: key });
  const settings = { vpc, reservedConcurrentExecutions: 5 };
  const functionOf = (id: string) =>
    new IdempotentFunction(stack, id, {
      ...settings,
      entry: "functions/create-order.ts",
      table,
      operations: [id],
      commits: true,
      retention: Duration.days(40),
      logGroup: new LogGroup(stack, `${id}Lines`, { encryptionKey: key }),
    });
  const consumer = functionOf("Pay");
  queue.addConsumer(consumer);
  const { relay, sweeper } = new OutboxRelay(stack, "Outbox", {
    ...settings,
    table,
    destinations: [queue.queue],
    onFailureQueue,
    logEncryptionKey: key,
  });
  const reconciler = functionOf("Reconcile");
  new Reconciler(stack, "Reconciler", { table, handler: reconciler });
  const topic = Topic.fromTopicArn(stack, "Topic", "arn:aws:sns:eu-west-1:111111111111:alarms");
  new IdempotencyMonitoring(stack, "Monitoring", {
    table,
    relay,
    sweeper,
    reconciler,
    functions: [consumer],
    queues: [queue.queue],
    deadLetterQueues: [queue.deadLetterQueue],
    alarmActions: [new SnsAction(topic)],
  });
  return stack;
}

/** The functions of the app, of which docs/operate/security.md says why. */
const DEAD_LETTERS = ["Pay", "Reconcile"];

describe("the constructs with keys, a VPC and reserved concurrency", () => {
  it.each<[string, new (app: App) => NagPack, string[]]>([
    ["NIST.800.53.R5", NIST80053R5Checks, DEAD_LETTERS],
    ["HIPAA.Security", HIPAASecurityChecks, DEAD_LETTERS],
    ["PCI.DSS.321", PCIDSS321Checks, []],
  ])("leave %s to the app", (pack, Pack, functions) => {
    const { open, acknowledged } = nagFindings(shopIn, (app) => new Pack(app));

    expect(open.filter((line) => line.startsWith("Shop/"))).toEqual(
      functions.map((id) => `Shop/${id}/Resource: ${pack}-LambdaDLQ`),
    );
    expect(acknowledged.filter((line) => !/-(IAMNoInlinePolicy|LambdaDLQ)$/.test(line))).toEqual([]);
  });
});
