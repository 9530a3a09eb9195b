import { describe, expect, it, test } from "vitest";
import type { InvokeResult } from "../../../lib/lambda/invoke-result.ts";
import { type AuthorizerOptions, createAuthorizer } from "../../../lib/stack/gateway/authorizer.ts";
import { factsOf, requestOf } from "./given.ts";

const ARN = "arn:aws:execute-api:us-east-1:123456789012:api-id/$default/GET/my/path";

function authorizerWith(answer: unknown, options: Partial<AuthorizerOptions> = {}) {
  const events: Record<string, unknown>[] = [];
  const clock = { now: 1_000_000 };
  const authorizer = createAuthorizer({
    invoke: async (payload): Promise<InvokeResult> => {
      events.push(JSON.parse(payload));
      return { outcome: "ok", requestId: "id", payload: JSON.stringify(answer) };
    },
    identitySources: ["$request.header.Authorization"],
    format: "2.0",
    simpleResponses: true,
    resultTtlSeconds: 0,
    now: () => clock.now,
    ...options,
  });
  return { authorizer, events, clock };
}

const withToken = (token: string) => requestOf({ headers: [["authorization", token]] });
const policyFor = (Resource: string) => ({
  principalId: "someone",
  policyDocument: { Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource }] },
});

describe("createAuthorizer", () => {
  it("allows what a simple response allows, and passes on its context", async () => {
    const { authorizer } = authorizerWith({ isAuthorized: true, context: { tenant: "acme", level: 3 } });

    const authorization = await authorizer.authorize(withToken("t"), factsOf(), ARN);

    expect(authorization).toEqual({ outcome: "allowed", context: { tenant: "acme", level: 3 } });
  });

  it("forbids what a simple response does not allow", async () => {
    const { authorizer } = authorizerWith({ isAuthorized: false });

    expect(await authorizer.authorize(withToken("t"), factsOf(), ARN)).toEqual({ outcome: "forbidden" });
  });

  it("decides by the policy of an IAM response", async () => {
    const allowing = authorizerWith(policyFor(ARN), { simpleResponses: false });
    const denying = authorizerWith(policyFor("arn:other"), { simpleResponses: false });

    expect(await allowing.authorizer.authorize(withToken("t"), factsOf(), ARN)).toMatchObject({
      outcome: "allowed",
    });
    expect(await denying.authorizer.authorize(withToken("t"), factsOf(), ARN)).toEqual({
      outcome: "forbidden",
    });
  });

  test.each([
    ["a header", "$request.header.X-Tenant"],
    ["a query parameter", "$request.querystring.tenant"],
    ["a stage variable", "$stageVariables.tenant"],
  ])("answers unauthorized without asking when %s is missing", async (_, source) => {
    const { authorizer, events } = authorizerWith({ isAuthorized: true }, { identitySources: [source] });

    expect(await authorizer.authorize(requestOf(), factsOf(), ARN)).toEqual({ outcome: "unauthorized" });
    expect(events).toHaveLength(0);
  });

  it("sends the documented event of format 2.0", async () => {
    const { authorizer, events } = authorizerWith(
      { isAuthorized: true },
      { identitySources: ["$request.header.User", "$request.querystring.id", "$context.routeKey"] },
    );

    await authorizer.authorize(requestOf({ headers: [["user", "user1"]], query: "id=123" }), factsOf(), ARN);

    expect(events[0]).toMatchObject({
      version: "2.0",
      type: "REQUEST",
      routeArn: ARN,
      identitySource: ["user1", "123", "$default"],
      routeKey: "$default",
      rawPath: "/my/path",
      rawQueryString: "id=123",
      headers: { user: "user1" },
      queryStringParameters: { id: "123" },
      requestContext: { http: { method: "GET", path: "/my/path" }, timeEpoch: 1583348638390 },
    });
  });

  it("sends the documented event of format 1.0", async () => {
    const { authorizer, events } = authorizerWith(policyFor("*"), {
      format: "1.0",
      simpleResponses: false,
      identitySources: ["$request.header.User", "$request.querystring.id"],
    });

    await authorizer.authorize(requestOf({ headers: [["user", "user1"]], query: "id=123" }), factsOf(), ARN);

    expect(events[0]).toMatchObject({
      version: "1.0",
      type: "REQUEST",
      methodArn: ARN,
      identitySource: "user1,123",
      authorizationToken: "user1,123",
      path: "/my/path",
      httpMethod: "GET",
      requestContext: { apiId: "api-id", stage: "$default" },
    });
  });

  it("remembers an answer for its time, per identity", async () => {
    const { authorizer, events, clock } = authorizerWith({ isAuthorized: true }, { resultTtlSeconds: 60 });
    const ask = (token: string) => authorizer.authorize(withToken(token), factsOf(), ARN);

    await ask("a");
    await ask("a");
    expect(events).toHaveLength(1);

    await ask("b");
    expect(events).toHaveLength(2);

    clock.now += 59_999;
    await ask("a");
    expect(events).toHaveLength(2);

    clock.now += 1;
    await ask("a");
    expect(events).toHaveLength(3);
  });

  it("evaluates a cached policy again for each route", async () => {
    const { authorizer, events } = authorizerWith(policyFor(ARN), {
      simpleResponses: false,
      resultTtlSeconds: 60,
    });

    await authorizer.authorize(withToken("t"), factsOf(), ARN);
    const other = await authorizer.authorize(withToken("t"), factsOf(), ARN.replace("GET", "PUT"));

    expect(other).toEqual({ outcome: "forbidden" });
    expect(events).toHaveLength(1);
  });

  it("remembers nothing without identity sources to remember it by", async () => {
    const { authorizer, events } = authorizerWith(
      { isAuthorized: true },
      { identitySources: [], resultTtlSeconds: 60 },
    );

    await authorizer.authorize(withToken("a"), factsOf(), ARN);
    await authorizer.authorize(withToken("b"), factsOf(), ARN);

    expect(events).toHaveLength(2);
  });

  it("asks every time without a time to remember", async () => {
    const { authorizer, events } = authorizerWith({ isAuthorized: true });

    await authorizer.authorize(withToken("t"), factsOf(), ARN);
    await authorizer.authorize(withToken("t"), factsOf(), ARN);

    expect(events).toHaveLength(2);
  });

  test.each([
    ["a simple authorizer that returns a policy", policyFor("*"), true],
    ["a policy authorizer that returns a boolean", { isAuthorized: true }, false],
    ["an authorizer that returns nothing", null, true],
  ])("fails for %s", async (_, answer, simpleResponses) => {
    const { authorizer } = authorizerWith(answer, { simpleResponses });

    expect(await authorizer.authorize(withToken("t"), factsOf(), ARN)).toMatchObject({ outcome: "failed" });
  });

  it("fails, and remembers nothing, when its function throws", async () => {
    let calls = 0;
    const { authorizer } = authorizerWith(undefined, {
      resultTtlSeconds: 60,
      invoke: async () => {
        calls++;
        return {
          outcome: "error",
          requestId: "id",
          errorType: "Error",
          errorMessage: "boom",
          payload: "{}",
          stackTrace: [],
        };
      },
    });

    const first = await authorizer.authorize(withToken("t"), factsOf(), ARN);
    await authorizer.authorize(withToken("t"), factsOf(), ARN);

    expect(first).toEqual({ outcome: "failed", reason: "error: boom" });
    expect(calls).toBe(2);
  });
});
