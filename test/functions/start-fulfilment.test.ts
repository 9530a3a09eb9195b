// The sample's dispatcher, with a Lambda that keeps the names of executions: the client's requests, over HTTP.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { fakeLambdaContext } from "../../lib/testing/index.ts";

const FUNCTION = "arn:aws:lambda:eu-central-1:111122223333:function:FulfilOrder";

let lambda: Server;
let handler: typeof import("../../functions/start-fulfilment.ts").handler;
/** The payload of each execution, by its name. */
const started = new Map<string, string>();

beforeAll(async () => {
  lambda = createServer(async (request, response) => {
    const name = `${request.headers["x-amz-durable-execution-name"]}`;
    const payload = await text(request);
    expect(decodeURIComponent(`${request.url}`)).toBe(`/2015-03-31/functions/${FUNCTION}:live/invocations`);
    if (!started.has(name)) started.set(name, payload);
    if (started.get(name) !== payload) throw new Error("another payload");
    const arn = `${FUNCTION}:1/durable-execution/${name}/7d2f`;
    response.writeHead(202, { "x-amz-durable-execution-arn": arn }).end();
  });
  await new Promise<void>((resolve) => lambda.listen(0, "127.0.0.1", resolve));
  const environment = {
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${(lambda.address() as AddressInfo).port}`,
    DURABLE_FUNCTION: `${FUNCTION}:live`,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  ({ handler } = await import("../../functions/start-fulfilment.ts"));
});
afterAll(() => {
  vi.unstubAllEnvs();
  lambda.close();
});

const order = (key: string | undefined, body: object, tenant = "acme") =>
  handler(
    {
      version: "2.0",
      headers: { ...(key !== undefined && { "idempotency-key": key }) },
      requestContext: { http: { method: "POST" }, authorizer: { lambda: { tenant } } },
      body: JSON.stringify(body),
      isBase64Encoded: false,
    } as never,
    fakeLambdaContext() as never,
  ) as Promise<{ readonly statusCode: number; readonly body: string }>;

it("starts one execution per tenant and key, with the order as its input, and answers 202 with its name", async () => {
  const tea = { sku: "tea", quantity: 2 };
  const answers = [
    await order("k1", tea),
    // The same key in quotes, as the standard has it.
    await order('"k1"', { quantity: 2, sku: "tea" }),
    await order("k1", tea, "globex"),
  ];

  const [first, again, other] = answers.map(({ body }) => JSON.parse(body).execution as string);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 202, 202]);
  expect([first, first, other]).toEqual([
    again,
    expect.stringMatching(/^fulfil-order-/),
    expect.not.stringMatching(`${first}`),
  ]);
  expect(JSON.parse(started.get(`${first}`) as string)).toEqual({
    tenant: "acme",
    key: "k1",
    request: { ...tea, card: "card_ok" },
  });
  expect(started.size).toBe(2);
});

it("refuses an order that can't be read, and one without a key, and starts nothing", async () => {
  const before = started.size;

  expect(await order("k2", { sku: "tea" })).toMatchObject({ statusCode: 400 });
  expect(await order(undefined, { sku: "tea", quantity: 1 })).toMatchObject({ statusCode: 400 });
  expect(started.size).toBe(before);
});
