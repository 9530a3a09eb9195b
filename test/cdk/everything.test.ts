// One app with every construct and most options, bundled, and the sample: synthesized as `cdk synth` does, with the
// built-in rules as errors, as cdk.json says.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { HttpApi, HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { AttributeType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { EventBus } from "aws-cdk-lib/aws-events";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Topic } from "aws-cdk-lib/aws-sns";
import { CfnQueue, Queue } from "aws-cdk-lib/aws-sqs";
import {
  CommitGrants,
  DedupQueue,
  IdempotencyTable,
  IdempotentFunction,
  OutboxRelay,
  Reconciler,
  UseIdempotency,
} from "onceonly/cdk";
import { afterAll, describe, expect, it } from "vitest";
import { SampleStack } from "../../bin/sample-stack.ts";
import { root } from "../kit/project.ts";
import { aFunction, faultsOf } from "./given.ts";

const { context } = JSON.parse(readFileSync(join(root, "cdk.json"), "utf8"));

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function strictApp(more: object = {}): App {
  const outdir = mkdtempSync(join(tmpdir(), "everything-"));
  folders.push(outdir);
  return new App({ outdir, context: { ...context, ...more }, analyticsReporting: false });
}

function everythingIn(app: App): Stack {
  const stack = new Stack(app, "Everything", { env: { region: "eu-west-1", account: "111111111111" } });
  const encryptionKey = new Key(stack, "Key");
  const table = new IdempotencyTable(stack, "Table", { outbox: true, encryptionKey });
  const copied = new IdempotencyTable(stack, "Copied", {
    replicas: [{ region: "eu-central-1" }],
    keysPinnedToRegion: true,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const restored = new IdempotencyTable(stack, "Restored", { restoredAt: new Date("2026-01-01T00:00:00Z") });
  const imported = IdempotencyTable.fromTableAttributes(stack, "Imported", { tableName: "records" });

  const create = new IdempotentFunction(stack, "Create", {
    entry: join(root, "functions/get-order.ts"),
    table,
    operations: ["create-order"],
    commits: true,
    bundling: { sourceMap: true },
  });
  const orders = new TableV2(stack, "Orders", { partitionKey: { name: "id", type: AttributeType.STRING } });
  CommitGrants.fromTable(orders).actions(create, "dynamodb:PutItem", "dynamodb:ConditionCheckItem");
  const integration = new HttpLambdaIntegration("Integration", create);
  new HttpApi(stack, "Api").addRoutes({ path: "/orders", methods: [HttpMethod.POST], integration });

  const consumer = aFunction(stack, "Consumer", { timeout: Duration.seconds(29) });
  consumer.with(
    new UseIdempotency(table, {
      operations: ["charge-payment", "refund*"],
      scopeTag: "tenant",
      largeResults: false,
      retention: Duration.days(40),
    }),
  );
  const queue = new DedupQueue(stack, "Queue", { encryptionKey });
  queue.addConsumer(consumer, { maxConcurrency: 5 });
  queue.grantProduce(create);
  queue.grantChangeVisibility(create);
  for (const [id, other] of Object.entries({ copied, restored, imported })) {
    aFunction(stack, `Uses-${id}`).with(
      new UseIdempotency(other, { operations: ["use"], largeResults: false }),
    );
  }

  const listed = new IdempotencyTable(stack, "Listed", { unknownOutcomes: true, encryptionKey });
  const settle = aFunction(stack, "Settle", { timeout: Duration.minutes(1) });
  new Reconciler(stack, "Reconciler", { table: listed, handler: settle });

  new OutboxRelay(stack, "Outbox", {
    table,
    destinations: [queue.queue, new Topic(stack, "Topic"), new EventBus(stack, "Bus")],
    onFailureQueue: new Queue(stack, "GivenUp", { enforceSSL: true }),
    retryAttempts: 100,
    maxRecordAge: Duration.hours(12),
  });
  return stack;
}

function findingsIn(app: App): unknown {
  app.synth();
  return JSON.parse(readFileSync(join(app.outdir, "validation-report.json"), "utf8")).pluginReports;
}

describe("an app with every construct", () => {
  const app = strictApp();
  const stack = everythingIn(app);

  it("is synthesized without a finding of the built-in rules", () => {
    expect(findingsIn(app)).toEqual([]);
  }, 120_000);

  it("has its function bundled as one ES module, with the AWS SDK in it, and as it asked itself", () => {
    const { Resources } = JSON.parse(readFileSync(join(app.outdir, stack.templateFile), "utf8"));
    const [, create] = Object.entries<{ Properties: { Code: { S3Key: string } } }>(Resources).find(
      ([logicalId]) => /^Create[0-9A-F]{8}$/.test(logicalId),
    )!;
    const folder = join(app.outdir, `asset.${create.Properties.Code.S3Key.replace(".zip", "")}`);

    expect(readdirSync(folder).sort()).toEqual(["index.mjs", "index.mjs.map"]);
    const code = readFileSync(join(folder, "index.mjs"), "utf8");
    expect(code).toContain("DynamoDBClient");
    expect([...code.matchAll(/\bfrom\s*"([^"]+)"/g)].map(([, name]) => name)).not.toContainEqual(
      expect.stringMatching(/^@aws-sdk/),
    );
  });
});

describe("SampleStack", () => {
  // As it is deployed for good is what `npm run synth` makes.
  it("is synthesized without a finding of the built-in rules as it is tried out, sandbox included", () => {
    const app = strictApp({ "aws:cdk:bundling-stacks": [] });
    new SampleStack(app, "Sample", { ephemeral: true, tokenDigests: {} });

    expect(findingsIn(app)).toEqual([]);
  }, 120_000);
});

describe("an app with defects that constructs do not see", () => {
  it("is refused by the same rules", () => {
    const stack = new Stack(strictApp(), "Defects");
    const dead = new CfnQueue(stack, "Dead");
    const redrivePolicy = { deadLetterTargetArn: dead.attrArn, maxReceiveCount: 3 };
    const fifo = new CfnQueue(stack, "Fifo", { fifoQueue: true, redrivePolicy });
    dead.redriveAllowPolicy = { redrivePermission: "byQueue", sourceQueueArns: [fifo.attrArn] };
    new CfnQueue(stack, "Misspelt").addPropertyOverride("VisibilityTimeOut", 30);
    new CfnQueue(stack, "Forever").addPropertyOverride("MessageRetentionPeriod", 1_209_601);
    const slow = aFunction(stack, "Slow", { timeout: Duration.seconds(31) });
    slow.addEventSource(new SqsEventSource(new Queue(stack, "Short")));
    const resources = [dead.attrArn];
    const conditions = { StringEqualz: { "aws:username": "a" } };
    slow.addToRolePolicy(new PolicyStatement({ actions: ["sqs:SendMessage"], resources, conditions }));

    const faults = faultsOf(stack);
    for (const rule of ["E3502", "E3505", "E3510", "F3002", "F3004", "F3034"]) {
      expect(faults).toContain(`CloudFormation-Validate::${rule}`);
    }
  }, 120_000);
});
