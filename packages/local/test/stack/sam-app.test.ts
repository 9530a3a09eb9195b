// Templates of SAM in the local runner: one with events of each kind, and the one that the documents show.
import { fileURLToPath } from "node:url";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { PublishCommand, SNSClient } from "@aws-sdk/client-sns";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type RunningStack, startStack } from "../../lib/index.ts";
import { until } from "./world.ts";

const pathTo = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
const dynamodbEndpoint = inject("dynamodbEngines")[0]?.endpoint;
const local = { region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } };

const lines: string[] = [];
let stack: RunningStack;
beforeAll(async () => {
  const folder = pathTo("test/fixtures/sam-app");
  stack = await startStack({ folder, dynamodbEndpoint, log: (line) => lines.push(line) });
});
afterAll(() => stack?.stop());

const apiOf = (path: string) => stack.apis.find((api) => api.path === path)?.url;
const json = async (response: Promise<Response>) => (await response).json();

describe("startStack with a template of SAM", () => {
  it("runs tables, queues, functions and APIs, and names the rest", () => {
    expect(Object.keys(stack.functions).sort()).toEqual(["Echo", "Guard", "Print"]);
    expect(stack.tables.Items?.name).toMatch(/^sam-app-Items-/);
    expect(stack.apis.map(({ path }) => path)).toEqual(["Orders", "ServerlessRestApi", "ServerlessHttpApi"]);
    expect(stack.outputs.Role).toMatch(/^role\/arn:aws:iam:/);
    expect(stack.notRun).toEqual([
      "AWS::Serverless::Function Print (Print): its event Pages of the type S3",
      expect.stringMatching(/^AWS::S3::Bucket Pages/),
      expect.stringMatching(/^AWS::Serverless::StateMachine Flow/),
    ]);
  });

  it("serves a REST API with its default authorizer, stage and own words", async () => {
    const order = (authorization: string) =>
      fetch(`${apiOf("Orders")}/orders/7`, { headers: { authorization } });

    expect(apiOf("Orders")).toMatch(/\/v1$/);
    expect(await json(order("7"))).toMatchObject({
      event: { resource: "/orders/{id}", stageVariables: { color: "blue" } },
      environment: { table: stack.tables.Items?.name, bucket: "v1 of its own" },
    });
    const refused = await order("8");
    expect(refused.status).toBe(403);
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
    expect((await fetch(`${apiOf("Orders")}/open`, { method: "DELETE" })).status).toBe(200);
  });

  it("serves the APIs that functions imply, and function URLs", async () => {
    const implied = await json(fetch(`${apiOf("ServerlessRestApi")}/implicit`, { method: "POST" }));
    const http = await json(fetch(`${apiOf("ServerlessHttpApi")}/http/a/b`, { method: "PUT" }));
    const url = await json(fetch(stack.functionUrls.EchoUrl!));

    expect(implied).toMatchObject({ event: { path: "/implicit", requestContext: { stage: "Prod" } } });
    expect(http).toMatchObject({ event: { version: "2.0", pathParameters: { proxy: "a/b" } } });
    expect(url).toMatchObject({ event: { requestContext: { stage: "$default" } } });
  });

  it("feeds functions from queues, topics, buses and schedules", async () => {
    const sqs = new SQSClient({ ...local, endpoint: stack.endpoints.sqs });
    const sns = new SNSClient({ ...local, endpoint: stack.endpoints.aws });
    const eventBridge = new EventBridgeClient({ ...local, endpoint: stack.endpoints.aws });
    await sqs.send(new SendMessageCommand({ QueueUrl: stack.queues.Jobs?.url, MessageBody: "hi" }));
    await sns.send(new PublishCommand({ TopicArn: stack.topics.News?.arn, Message: "hi" }));
    const entry = { Source: "shop", DetailType: "Sold", Detail: "{}" };
    await eventBridge.send(new PutEventsCommand({ Entries: [entry] }));
    await stack.schedules.PrintDaily?.fire();
    await stack.schedules.PrintNightly?.fire();
    for (const client of [sqs, sns, eventBridge]) client.destroy();

    for (const by of ["aws:sqs", "aws:sns", "shop", "aws.events", "aws.scheduler"]) {
      await until(() => lines.some((line) => line.includes(`{"by":"${by}"}`)));
    }
  });

  it("deploys the example of the documents, and leaves out only its durable function", async () => {
    const example = await startStack({
      folder: pathTo("docs/guides/without-cdk/sam.yaml"),
      dynamodbEndpoint,
      parameters: { AlarmTopic: "arn:aws:sns:us-east-1:000000000000:alarms" },
    });
    await example.stop();

    expect(example.notRun).toEqual([
      expect.stringMatching(/^AWS::Lambda::Function FulfilOrder .*durable executions don't run here/),
    ]);
    expect(Object.keys(example.eventSources)).not.toEqual([]);
    expect(Object.keys(example.schedules)).not.toEqual([]);
  });
});
