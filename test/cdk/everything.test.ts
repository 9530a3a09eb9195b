// One app with every construct and most options, synthesized as `cdk synth` does: bundled, and validated with the
// built-in rules as errors.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { HttpApi, HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { AttributeType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { EventBus } from "aws-cdk-lib/aws-events";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import { CfnQueue, Queue } from "aws-cdk-lib/aws-sqs";
import {
  CommitGrants,
  DedupQueue,
  IdempotencyTable,
  IdempotentFunction,
  OutboxRelay,
  UseIdempotency,
} from "onceonly/cdk";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../package/project.ts";
import { aFunction } from "./given.ts";

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function strictApp(): App {
  const outdir = mkdtempSync(join(tmpdir(), "everything-"));
  folders.push(outdir);
  const context = { "@aws-cdk/core:validateAgainstDefaultRules": true };
  return new App({ outdir, context, analyticsReporting: false });
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
      commits: true,
      retention: Duration.days(40),
    }),
  );
  const queue = new DedupQueue(stack, "Queue", { encryptionKey });
  queue.addConsumer(consumer, { maxConcurrency: 5 });
  queue.grantProduce(create);
  queue.grantChangeVisibility(create);
  for (const [id, other] of Object.entries({ copied, restored, imported })) {
    aFunction(stack, `Uses-${id}`).with(new UseIdempotency(other, { largeResults: false }));
  }

  new OutboxRelay(stack, "Outbox", {
    table,
    destinations: [queue.queue, new Topic(stack, "Topic"), new EventBus(stack, "Bus")],
    onFailureQueue: new Queue(stack, "GivenUp", { enforceSSL: true }),
    retryAttempts: 100,
    maxRecordAge: Duration.hours(12),
  });
  return stack;
}

describe("an app with every construct", () => {
  const app = strictApp();
  const stack = everythingIn(app);

  it("is synthesized without a finding of the built-in rules", () => {
    app.synth();

    const report = JSON.parse(readFileSync(join(app.outdir, "validation-report.json"), "utf8"));
    expect(report.pluginReports).toEqual([]);
  }, 120_000);

  it("has its function bundled as one ES module, with the AWS SDK in it", () => {
    const { Resources } = JSON.parse(readFileSync(join(app.outdir, stack.templateFile), "utf8"));
    const [, create] = Object.entries<{ Properties: { Code: { S3Key: string } } }>(Resources).find(
      ([logicalId]) => /^Create[0-9A-F]{8}$/.test(logicalId),
    )!;
    const folder = join(app.outdir, `asset.${create.Properties.Code.S3Key.replace(".zip", "")}`);

    expect(readdirSync(folder)).toEqual(["index.mjs"]);
    const code = readFileSync(join(folder, "index.mjs"), "utf8");
    expect(code).toContain("DynamoDBClient");
    expect([...code.matchAll(/\bfrom\s*"([^"]+)"/g)].map(([, name]) => name)).not.toContainEqual(
      expect.stringMatching(/^@aws-sdk/),
    );
  });
});

describe("an app with a defect", () => {
  it("is refused by the same rules", () => {
    const app = strictApp();
    const stack = new Stack(app, "Defect");
    const dead = new CfnQueue(stack, "Dead");
    new CfnQueue(stack, "Fifo", {
      fifoQueue: true,
      redrivePolicy: { deadLetterTargetArn: dead.attrArn, maxReceiveCount: 3 },
    });

    expect(() => app.synth()).toThrow("E3502");
  }, 120_000);
});
