// An old app in plain CommonJS, without a feature flag of CDK, takes the packed tarball. It runs in the local runner with
// duplicates.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type RunningStack, startStack } from "../../packages/local/lib/index.ts";
import { until } from "../../packages/local/test/stack/world.ts";
import { findingsOfApp } from "../cdk/nag-given.ts";
import { type ConsumerProjects, prepareConsumerProjects } from "./projects-world.ts";

const local = { region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } };
const PEERS = ["aws-cdk-lib", "constructs", "esbuild", "@aws-sdk/client-dynamodb", "@aws-sdk/client-sqs"];

let projects: ConsumerProjects;
let folder: string;
let stack: RunningStack;
let dynamodb: DynamoDBClient;
let sqs: SQSClient;
beforeAll(async () => {
  projects = await prepareConsumerProjects();
  folder = await projects.create("old-kiosk", PEERS);
  stack = await startStack({ folder, dynamodbEndpoint: inject("dynamodbEngines")[0]?.endpoint });
  dynamodb = new DynamoDBClient({ ...local, endpoint: stack.endpoints.dynamodb });
  sqs = new SQSClient({ ...local, endpoint: stack.endpoints.sqs });
}, 300_000);
afterAll(async () => {
  dynamodb?.destroy();
  sqs?.destroy();
  await stack?.stop();
  await projects?.remove();
});

async function sell(article: string, key: string): Promise<unknown> {
  const response = await fetch(stack.url!, {
    method: "POST",
    headers: { "idempotency-key": key },
    body: JSON.stringify({ article }),
  });
  const body = response.ok ? await response.json() : await response.text();
  return { status: response.status, replayed: response.headers.has("idempotent-replayed"), body };
}

/** What was done to an article, and how often. */
async function doneTo(article: string): Promise<Record<string, unknown>> {
  const TableName = stack.tables.Sales?.name;
  const asked = new GetItemCommand({ TableName, Key: { article: { S: article } }, ConsistentRead: true });
  const { Item = {} } = await dynamodb.send(asked);
  const { article: _, ...done } = unmarshall(Item);
  return done;
}

describe("an old app in CommonJS without feature flags", () => {
  it("runs whole", () => {
    expect(stack.notRun).toEqual([]);
    expect(Object.keys(stack.functions)).toEqual(["sell", "print"]);
  });

  it("has no cdk-nag finding in our constructs", async () => {
    const { open } = await findingsOfApp(folder, "app.js", join(folder, "nag.out"));

    expect(open.filter((line) => /^Kiosk\/(sell|Sales)\/Resource: /.test(line)).length).toBeGreaterThan(5);
    expect(open.filter((line) => /^Kiosk\/(Records|Receipts)\//.test(line))).toEqual([]);
  });

  it("sells and prints a repeated request once", async () => {
    const QueueUrl = stack.queues.Receipts?.url;
    const [, consumer] = Object.entries(stack.eventSources).find(([path]) => path.startsWith("print/"))!;
    await consumer.disable();
    const key = randomUUID();

    const answers = [await sell("tea", key), await sell("tea", key)];
    const asked = { QueueUrl, MessageAttributeNames: ["All"], VisibilityTimeout: 0 };
    const { Messages: [message] = [] } = await sqs.send(new ReceiveMessageCommand(asked));
    const { Body: MessageBody, MessageAttributes } = message!;
    const copy = { QueueUrl, MessageBody, MessageAttributes, MessageGroupId: "tea" };
    await sqs.send(new SendMessageCommand({ ...copy, MessageDeduplicationId: "copy" }));
    const last = { ...copy, MessageBody: JSON.stringify({ article: "cup" }), MessageAttributes: {} };
    await sqs.send(new SendMessageCommand({ ...last, MessageDeduplicationId: "last" }));
    consumer.enable();

    // The group is in order: what came before it is done.
    await until(async () => (await doneTo("cup")).printed);
    expect(await doneTo("tea")).toEqual({ sold: 1, printed: 1 });
    const first = { status: 201, replayed: false, body: { sold: 1 } };
    expect(answers).toEqual([first, { ...first, replayed: true }]);
  });
});
