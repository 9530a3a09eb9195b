import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { InvokeResult } from "../../../lib/lambda/invoke-result.ts";
import type { Authorization } from "../../../lib/stack/gateway/authorizer.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../../../lib/stack/gateway/gateway.ts";
import { httpKind } from "../../../lib/stack/gateway/http-kind.ts";
import { MAX_PAYLOAD_BYTES } from "../../../lib/stack/gateway/request.ts";

const apis: Gateway[] = [];
afterEach(async () => {
  for (const api of apis.splice(0)) await api.close();
});

async function start(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const api = await startGateway({
    kind: httpKind,
    apiId: "api-id",
    accountId: "123456789012",
    region: "us-east-1",
    cors: undefined,
    port: 0,
    now: Date.now,
    log: () => undefined,
    ...options,
  });
  apis.push(api);
  return api;
}

const returning = (result: unknown) => async (): Promise<InvokeResult> => ({
  outcome: "ok",
  requestId: "id",
  payload: JSON.stringify(result),
});

const failing = async (): Promise<InvokeResult> => ({
  outcome: "crashed",
  requestId: "id",
  errorType: "Runtime.ExitError",
  errorMessage: "signal: killed",
  payload: "{}",
});

const routeTo = (invoke: (payload: string) => Promise<InvokeResult>, timeoutMs = 30_000) => ({
  invoke,
  timeoutMs,
  authorizer: undefined,
});

const authorizing = (authorization: Authorization) => ({ authorize: async () => authorization });

describe("startGateway", () => {
  it("passes a request to its route's function and responds with the function's result", async () => {
    const events: { body: string; routeKey: string; headers: Record<string, string> }[] = [];
    const api = await start();
    api.setRoute(
      "POST /orders",
      routeTo(async (payload) => {
        events.push(JSON.parse(payload));
        return returning({ statusCode: 201, headers: { location: "/orders/1" }, cookies: ["a=1", "b=2"] })();
      }),
    );

    const response = await fetch(`${api.url}/orders`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": "k" },
      body: '{"sku":"tea"}',
    });

    expect(response.status).toBe(201);
    expect(response.headers.get("location")).toBe("/orders/1");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("apigw-requestid")).toBeTruthy();
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      routeKey: "POST /orders",
      body: '{"sku":"tea"}',
      headers: { "idempotency-key": "k" },
    });
  });

  it("answers 404 if no route matches the request", async () => {
    const api = await start();
    api.setRoute("POST /orders", routeTo(returning("x")));

    const response = await fetch(`${api.url}/orders`);

    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ message: "Not Found" });
  });

  it("answers 500 when the function fails, and logs why", async () => {
    const lines: string[] = [];
    const api = await start({ log: (line) => lines.push(line) });
    api.setRoute("GET /", routeTo(failing));

    const response = await fetch(api.url);

    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ message: "Internal Server Error" });
    expect(lines).toContain("GET /: crashed: signal: killed");
  });

  it("answers 500 when the function's answer cannot be a response", async () => {
    const api = await start();
    api.setRoute("GET /", routeTo(returning({ statusCode: 200, body: {} })));

    expect((await fetch(api.url)).status).toBe(500);
  });

  it("H48: answers 503 when the function runs longer than the gateway waits, and lets it run on", async () => {
    const api = await start();
    let finish: ((result: InvokeResult) => void) | undefined;
    const running = new Promise<InvokeResult>((resolve) => {
      finish = resolve;
    });
    api.setRoute(
      "GET /",
      routeTo(() => running, 20),
    );

    const response = await fetch(api.url);

    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ message: "Service Unavailable" });
    finish?.(await returning("done")());
    expect(await running).toMatchObject({ outcome: "ok" });
  });

  it.each([
    ["unauthorized", { outcome: "unauthorized" }, 401, "Unauthorized"],
    ["forbidden", { outcome: "forbidden" }, 403, "Forbidden"],
    ["failed", { outcome: "failed", reason: "boom" }, 500, "Internal Server Error"],
  ] as const)(
    "does not invoke the function when the authorizer returns %s",
    async (_, authorization, status, message) => {
      const api = await start();
      let invoked = false;
      const invoke = () => {
        invoked = true;
        return returning("x")();
      };
      api.setRoute("GET /", { ...routeTo(invoke), authorizer: authorizing(authorization) });

      const response = await fetch(api.url);

      expect(response.status).toBe(status);
      expect(await response.json()).toEqual({ message });
      expect(invoked).toBe(false);
    },
  );

  it("puts the authorizer's context into the event", async () => {
    const api = await start();
    const echo = async (payload: string) => returning(JSON.parse(payload).requestContext.authorizer)();
    const authorizer = authorizing({ outcome: "allowed", context: { tenant: "acme" } });
    api.setRoute("GET /", { ...routeTo(echo), authorizer });

    expect(await (await fetch(api.url)).json()).toEqual({ lambda: { tenant: "acme" } });
  });

  it("serves a named stage under its name, and includes it in the event", async () => {
    const api = await start();
    const echo = async (payload: string) => returning(JSON.parse(payload))();
    api.setRoute("GET /orders", routeTo(echo));
    api.setStage("dev", { color: "blue" });

    const event = await (await fetch(`${api.url}/dev/orders`)).json();

    expect(event).toMatchObject({
      rawPath: "/dev/orders",
      routeKey: "GET /orders",
      requestContext: { stage: "dev" },
      stageVariables: { color: "blue" },
    });
    expect((await fetch(`${api.url}/orders`)).status).toBe(404);
  });

  it("serves the root of a named stage", async () => {
    const api = await start();
    api.setRoute("GET /", routeTo(returning("root")));
    api.setStage("dev", undefined);

    expect(await (await fetch(`${api.url}/dev`)).text()).toBe("root");
    expect(await (await fetch(`${api.url}/dev/`)).text()).toBe("root");
    expect((await fetch(`${api.url}/development`)).status).toBe(404);
  });

  it("answers 413 to a body over the gateway's limit", async () => {
    const api = await start();
    api.setRoute("POST /", routeTo(returning("x")));

    const response = await fetch(api.url, { method: "POST", body: Buffer.alloc(MAX_PAYLOAD_BYTES + 1) });

    expect(response.status).toBe(413);
  });

  it("answers 500 on a route that cannot be run, and logs why", async () => {
    const lines: string[] = [];
    const api = await start({ log: (line) => lines.push(line) });
    api.setRoute("GET /", { problem: "a JWT authorizer isn't supported locally" });

    expect((await fetch(api.url)).status).toBe(500);
    expect(lines).toContain("GET /: a JWT authorizer isn't supported locally");
  });

  it("sets CORS headers and answers preflights itself", async () => {
    const api = await start({ cors: { AllowOrigins: ["*"], AllowMethods: ["POST"] } });
    api.setRoute("POST /", routeTo(returning("x")));

    const preflight = await fetch(api.url, {
      method: "OPTIONS",
      headers: { origin: "https://a.example", "access-control-request-method": "POST" },
    });
    const response = await fetch(api.url, { method: "POST", headers: { origin: "https://a.example" } });

    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toBe("POST");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });

  it("says what to do when the port is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;

    await expect(start({ port })).rejects.toThrow(
      `port ${port} is already in use: stop the process that listens on it, or choose another port (0 picks a free one)`,
    );
    other.close();
  });
});
