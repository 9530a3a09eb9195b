// A CDK app in a folder of its own, from synthesis to HTTP.

import { fileURLToPath } from "node:url";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type RunningStack, startStack } from "../../lib/index.ts";
import { until } from "./world.ts";

const folder = fileURLToPath(new URL("../../../../test/fixtures/echo-app", import.meta.url));

interface Echo {
  readonly event: { readonly requestContext: { readonly authorizer?: unknown } };
  readonly environment: Readonly<Record<string, string>>;
}

const lines: string[] = [];
let stack: RunningStack;

beforeAll(async () => {
  const [engine] = inject("dynamodbEngines");
  stack = await startStack({ folder, dynamodbEndpoint: engine?.endpoint, log: (line) => lines.push(line) });
});
afterAll(() => stack?.stop());

describe("startStack with the folder of a CDK app", () => {
  it("serves the app's routes", () => {
    expect(stack.apis[0]?.routes).toEqual(["ANY /echo/{proxy+}", "GET /guarded/{name}", "GET /slow"]);
  });

  it("hands over events of payload format 2.0 and environment of the template", async () => {
    const response = await fetch(`${stack.url}/echo/a/b?x=1`, { method: "PUT", body: "hi" });
    const { event, environment } = (await response.json()) as Echo;

    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2; Path=/"]);
    expect(event).toMatchObject({
      version: "2.0",
      routeKey: "ANY /echo/{proxy+}",
      pathParameters: { proxy: "a/b" },
      queryStringParameters: { x: "1" },
      body: "hi",
    });
    expect(environment).toEqual({
      table: stack.tables.Table?.name,
      tableArn: stack.tables.Table?.arn,
      bucket: expect.any(String),
      endpoint: stack.endpoints.dynamodb,
    });
  });

  it("asks the authorizer, and follows its policy", async () => {
    const guarded = (authorization?: string) =>
      fetch(`${stack.url}/guarded/joe`, { headers: authorization ? { authorization } : {} });

    expect((await guarded()).status).toBe(401);
    expect((await guarded("jim")).status).toBe(403);
    const allowed = await guarded("joe");
    expect(allowed.status).toBe(200);
    expect(((await allowed.json()) as Echo).event.requestContext.authorizer).toEqual({
      lambda: { tenant: "acme" },
    });
  });

  it("serves a REST API under its stage, with events of payload format 1.0", async () => {
    const url = stack.outputs.OrdersUrl as string;
    const order = (init: RequestInit) => fetch(`${url}/7?x=1&x=2`, { method: "POST", ...init });

    expect(stack.apis[1]?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/prod$/);
    expect(url).toBe(`${stack.apis[1]?.url}/orders`);
    const response = await order({ headers: { Authorization: "7", "X-Both": "a" }, body: "hi" });
    expect(response.status).toBe(200);
    const { event } = (await response.json()) as Echo;
    expect(event).toMatchObject({
      resource: "/orders/{id}",
      path: "/orders/7",
      httpMethod: "POST",
      multiValueHeaders: { "X-Both": ["a"] },
      queryStringParameters: { x: "2" },
      multiValueQueryStringParameters: { x: ["1", "2"] },
      pathParameters: { id: "7" },
      body: "hi",
      isBase64Encoded: false,
      requestContext: { stage: "prod", authorizer: { tenant: "acme", principalId: "someone" } },
    });
    expect((await order({})).status).toBe(401);
    expect((await order({ headers: { authorization: "8" } })).status).toBe(403);
    expect((await fetch(`${stack.apis[1]?.url}/nowhere`)).status).toBe(403);
    expect((await fetch(`${url}/7/a/b`)).status).toBe(200);
  });

  it("answers preflight requests of a REST API, which the CDK makes a mock", async () => {
    const response = await fetch(stack.outputs.OrdersUrl as string, { method: "OPTIONS" });

    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://shop.example");
    expect(response.headers.get("access-control-allow-methods")).toBe("POST");
  });

  it("logs one line for each request: function, request, outcome and key", async () => {
    await fetch(`${stack.outputs.OrdersUrl}/7`, {
      method: "POST",
      headers: { authorization: "7", "idempotency-key": "order-0001" },
    });

    expect(
      lines.some((line) => /^Echo {2}POST \/prod\/orders\/7 {2}200 {2}order-0001 {2}\d+ ms$/.test(line)),
    ).toBe(true);
  });

  it("kills a function at its timeout and answers 500", async () => {
    const response = await fetch(`${stack.url}/slow`);

    expect(response.status).toBe(500);
    expect(lines.some((line) => line.includes("Task timed out after 1.00 seconds"))).toBe(true);
  });

  it("feeds a function from a queue, a stream and schedules", async () => {
    const credentials = { accessKeyId: "local", secretAccessKey: "local" };
    const sqs = new SQSClient({ endpoint: stack.endpoints.sqs, region: "us-east-1", credentials });
    const dynamodb = new DynamoDBClient({
      endpoint: stack.endpoints.dynamodb,
      region: "us-east-1",
      credentials,
    });
    const QueueUrl = stack.queues.Jobs?.url;

    await sqs.send(
      new SendMessageCommand({
        QueueUrl,
        MessageBody: "hi",
        MessageGroupId: "a",
        MessageDeduplicationId: "1",
      }),
    );
    await dynamodb.send(
      new PutItemCommand({ TableName: stack.tables.Table?.name, Item: { pk: { S: "a" } } }),
    );
    await stack.schedules.Hourly?.fire();
    await stack.schedules.Daily?.fire();
    sqs.destroy();
    dynamodb.destroy();

    for (const source of [
      "Jobs → Work: batch of 1 ok",
      "Table → Work: batch of 1 ok",
      "Hourly → Work: ok",
      "Daily → Work: ok",
    ]) {
      await until(() => lines.some((line) => line.startsWith(source)));
    }
    expect(stack.schedules.Hourly?.expression).toBe("rate(1 hour)");
  });

  it("names the bucket as not run", () => {
    expect(stack.notRun).toEqual([expect.stringMatching(/^AWS::S3::Bucket Bucket \(Bucket\w+\): point/)]);
  });

  it("resolves the address of its API in outputs", () => {
    expect(stack.outputs.ApiUrl).toBe(`${stack.url}/echo/hello`);
  });

  it("shows its last words when the app cannot be synthesized", async () => {
    const starting = startStack({ folder, context: { fail: "true" } });

    await expect(starting).rejects.toThrow(
      /cdk synth in .* failed with exit code 1. Its output:.*asked to fail/s,
    );
  });
});
