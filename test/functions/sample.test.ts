// The sample, as `npm start` runs it: its own stack on local engines, asked over HTTP.

import { randomUUID } from "node:crypto";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { DEMO_TOKENS } from "../../bin/demo-tokens.ts";
import { type RunningStack, startStack } from "../../packages/local/lib/index.ts";
import { sampleAssembly } from "../kit/sample-assembly.ts";

const ACME = DEMO_TOKENS.acme;
const GLOBEX = DEMO_TOKENS.globex;
const TEA = { sku: "tea", quantity: 2 };

let stack: RunningStack;
let client: DynamoDBClient;

beforeAll(async () => {
  stack = await startStack({
    folder: await sampleAssembly(),
    dynamodbEndpoint: inject("dynamodbEngines")[0]?.endpoint,
  });
  client = new DynamoDBClient({
    endpoint: stack.endpoints.dynamodb,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
});
afterAll(async () => {
  client?.destroy();
  await stack?.stop();
});

interface Answer {
  readonly status: number;
  readonly replayed: string | null;
  readonly location: string | null;
  readonly body: Record<string, unknown>;
}

async function ask(path: string, token: string | undefined, init: RequestInit = {}): Promise<Answer> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  const response = await fetch(`${stack.url}${path}`, { ...init, headers });
  return {
    status: response.status,
    replayed: response.headers.get("idempotent-replayed"),
    location: response.headers.get("location"),
    body: (await response.json()) as Record<string, unknown>,
  };
}

function order(
  key: string | undefined,
  body: unknown = TEA,
  token: string | undefined = ACME,
): Promise<Answer> {
  const headers = { "content-type": "application/json", ...(key && { "idempotency-key": key }) };
  return ask("/orders", token, { method: "POST", headers, body: JSON.stringify(body) });
}

/** The rows of the orders table that one key made. */
async function ordersOf(key: string): Promise<Record<string, unknown>[]> {
  const { Items = [] } = await client.send(
    new ScanCommand({
      TableName: stack.tables.Orders?.name,
      FilterExpression: "idempotencyKey = :key",
      ExpressionAttributeValues: { ":key": { S: key } },
      ConsistentRead: true,
    }),
  );
  return Items.map((item) => unmarshall(item));
}

describe("the sample", () => {
  it("runs with all that its template has, except its durable function", () => {
    expect(stack.notRun).toEqual([
      expect.stringMatching(/^AWS::Lambda::Function FulfilOrder .*durable executions/),
    ]);
  });
});

describe("POST /orders", () => {
  it("creates one order for two requests with one key, and answers both the same", async () => {
    const key = randomUUID();

    const first = await order(key);
    const second = await order(key);

    expect(first).toMatchObject({
      status: 201,
      replayed: null,
      body: { ...TEA, totalCents: 500, state: "created" },
    });
    expect(second).toEqual({ ...first, replayed: "true" });
    expect(await ordersOf(key)).toEqual([
      // Its payment may be settled by now.
      { ...first.body, state: expect.any(String), card: "card_ok", tenant: "acme", idempotencyKey: key },
    ]);
  });

  it("creates one order for requests at the same time", async () => {
    const key = randomUUID();

    const answers = await Promise.all(Array.from({ length: 6 }, () => order(key)));

    const rows = await ordersOf(key);
    expect(rows).toHaveLength(1);
    expect(answers.filter(({ status, replayed }) => status === 201 && replayed === null)).toHaveLength(1);
    for (const answer of answers) {
      expect([201, 409]).toContain(answer.status);
      if (answer.status === 201) expect(answer.body.id).toBe(rows[0]?.id);
    }
  });

  it("creates an order for each key", async () => {
    const [first, second] = await Promise.all([order(randomUUID()), order(randomUUID())]);

    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.id).not.toBe(second.body.id);
  });

  it("H21: keeps the keys of two tenants apart", async () => {
    const key = randomUUID();

    const acme = await order(key, TEA, ACME);
    const globex = await order(key, { sku: "coffee", quantity: 1 }, GLOBEX);

    expect(globex).toMatchObject({ status: 201, replayed: null, body: { sku: "coffee" } });
    expect(globex.body.id).not.toBe(acme.body.id);
    expect((await ordersOf(key)).map(({ tenant }) => tenant).sort()).toEqual(["acme", "globex"]);
  });

  it("refuses another body under a key that was used", async () => {
    const key = randomUUID();
    await order(key);

    const answer = await order(key, { sku: "coffee", quantity: 1 });

    expect(answer.status).toBe(422);
    expect(await ordersOf(key)).toHaveLength(1);
  });

  it("refuses a request without a key", async () => {
    expect((await order(undefined)).status).toBe(400);
  });

  it("lets a client correct a rejected request under the same key", async () => {
    const key = randomUUID();

    const refused = await order(key, { sku: "tea", quantity: 0 });
    const mended = await order(key);

    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining("quantity") } });
    expect(mended.status).toBe(201);
    expect(await ordersOf(key)).toHaveLength(1);
  });

  it("rejects callers without a token, or with an unknown one", async () => {
    expect((await ask("/orders", undefined, { method: "POST" })).status).toBe(401);
    expect((await ask("/orders", "other", { method: "POST" })).status).toBe(403);
  });
});

describe("GET /orders/{id}", () => {
  it("gives an order to its tenant only", async () => {
    const { body, location } = await order(randomUUID());

    expect(location).toBe(`/orders/${body.id}`);
    expect(await ask(`${location}`, ACME)).toMatchObject({
      status: 200,
      body: { ...body, state: expect.any(String) },
    });
    expect((await ask(`${location}`, GLOBEX)).status).toBe(404);
  });

  it("finds nothing under an id that no order has", async () => {
    expect((await ask(`/orders/${randomUUID()}`, ACME)).status).toBe(404);
  });
});
