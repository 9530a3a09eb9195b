// A local run of one table and three queues, its console, and a browser on its page.
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { inject } from "vitest";
import { ATTRIBUTES, OUTBOX_INDEX, UNSETTLED_INDEX } from "../../../../lib/contract.ts";
import { systemClock } from "../../../../lib/core/clock.ts";
import { runOnce } from "../../../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../../../lib/dynamodb/dynamodb-store.ts";
import { emfMetrics } from "../../../../lib/observe/emf-metrics.ts";
import { root } from "../../../../test/kit/project.ts";
import { run } from "../../../../test/kit/run.ts";
import { connect } from "../../../../test/kit/tables.ts";
import { startStack } from "../../../local/lib/index.ts";
import { assemblyOf, functionResource } from "../../../local/test/stack/given.ts";
import { createBreakage } from "../../lib/console/breakage.ts";
import { startConsole } from "../../lib/console/console-server.ts";
import { decisionFeed } from "../../lib/console/decision-feed.ts";
import { stackSource } from "../../lib/console/stack-source.ts";

const key = (AttributeName: string, KeyType: string) => ({ AttributeName, KeyType });
const index = (IndexName: string, shard: string, since: string) => ({
  IndexName,
  KeySchema: [key(shard, "HASH"), key(since, "RANGE")],
  Projection: { ProjectionType: "KEYS_ONLY" },
});

const RESOURCES = {
  Records: {
    Type: "AWS::DynamoDB::Table",
    Properties: {
      KeySchema: [key(ATTRIBUTES.partitionKey, "HASH")],
      AttributeDefinitions: [
        { AttributeName: ATTRIBUTES.partitionKey, AttributeType: "S" },
        ...[
          ATTRIBUTES.unsentShard,
          ATTRIBUTES.unsentSince,
          ATTRIBUTES.unsettledShard,
          ATTRIBUTES.unsettledSince,
        ].map((AttributeName) => ({ AttributeName, AttributeType: "N" })),
      ],
      GlobalSecondaryIndexes: [
        index(OUTBOX_INDEX, ATTRIBUTES.unsentShard, ATTRIBUTES.unsentSince),
        index(UNSETTLED_INDEX, ATTRIBUTES.unsettledShard, ATTRIBUTES.unsettledSince),
      ],
    },
  },
  Payments: {
    Type: "AWS::SQS::Queue",
    Properties: {
      RedrivePolicy: { deadLetterTargetArn: { "Fn::GetAtt": ["DeadPayments", "Arn"] }, maxReceiveCount: 3 },
    },
  },
  News: { Type: "AWS::SNS::Topic", Properties: {} },
  ShopBus: { Type: "AWS::Events::EventBus", Properties: { Name: "shop" } },
  OtherBus: { Type: "AWS::Events::EventBus", Properties: { Name: "other" } },
  Echo: functionResource("echo.handler"),
  Slow: functionResource("slow.handler"),
  DeadPayments: { Type: "AWS::SQS::Queue", Properties: {} },
};

export const SECRET = "canary-4711";

/** Each cleanup is added to the list as soon as there is something to clean up. */
export async function newConsole(cleanups: (() => unknown)[], mayWrite = false) {
  await run(process.execPath, ["tools/build-console.mjs"], root);
  const folder = await assemblyOf({ Shop: { Resources: RESOURCES } });
  cleanups.push(() => rm(folder, { recursive: true }));
  const decisions = decisionFeed();
  const breakage = createBreakage();
  const stack = await startStack({
    folder,
    dynamodbEndpoint: inject("dynamodbEngines")[0]!.endpoint,
    disturbances: breakage.disturbances,
  });
  cleanups.push(stack.stop);
  const source = stackSource({ stack, title: "the stacks of shop", decisions, breakage, clock: systemClock });
  cleanups.push(source.close);
  const served = await startConsole({ source, port: 0, mayWrite });
  cleanups.push(served.stop);
  const client = connect(stack.endpoints.dynamodb, { region: "us-east-1" });
  cleanups.push(() => client.destroy());
  const store = new DynamoDBStore({ tableName: stack.tables.Records!.name, client });
  const printed = (line: string) => decisions.take(`[Pay] ${line}`, Date.now());
  const options = {
    operation: "pay",
    scope: "acme",
    store,
    leaseSeconds: 30,
    observe: emfMetrics({ write: printed }),
  };
  return {
    stack,
    source,
    store,
    url: served.url,
    /** Calls under a fresh key, or under the one given. */
    async pay(
      handler: Parameters<typeof runOnce>[3],
      idempotencyKey = `${SECRET}-${randomUUID()}`,
      more = {},
    ) {
      await runOnce({ ...options, ...more }, idempotencyKey, { card: SECRET }, handler).catch(
        () => undefined,
      );
      return idempotencyKey;
    },
    paymentsQueue: "https://sqs.us-east-1.amazonaws.com/123456789012/payments",
  };
}

export type ConsoleUnderTest = Awaited<ReturnType<typeof newConsole>>;

export interface Watched {
  readonly page: Page;
  /** What the browser complained of, and every address that it asked. */
  readonly complaints: readonly string[];
  readonly asked: readonly string[];
}

export async function openPage(
  browser: Browser,
  url: string,
  cleanups: (() => unknown)[],
  options: { readonly colorScheme?: "light" | "dark" } = {},
): Promise<Watched> {
  const context = await browser.newContext({ ...options, viewport: { width: 1280, height: 900 } });
  cleanups.push(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(url);
  await page.getByRole("heading", { name: "Records" }).waitFor();
  return { page, complaints, asked };
}
