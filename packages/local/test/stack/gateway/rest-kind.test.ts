import { describe, expect, it } from "vitest";
import { restKind } from "../../../lib/stack/gateway/rest-kind.ts";
import { factsOf, requestOf } from "./given.ts";

const { event, response, message } = restKind([]);
const answer = (result: unknown, kind = restKind([])) => kind.response(JSON.stringify(result));

describe("the event of a REST API", () => {
  const facts = factsOf({
    api: { ...factsOf().api, stage: "prod" },
    route: { routeKey: "GET /orders/{id}", pathParameters: { id: "7" } },
  });

  it("has null for what an HTTP API leaves out", () => {
    expect(event(requestOf({ path: "/prod/orders/7" }), facts, undefined)).toMatchObject({
      resource: "/orders/{id}",
      path: "/orders/7",
      headers: null,
      multiValueHeaders: null,
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
      requestContext: { path: "/prod/orders/7", resourcePath: "/orders/{id}", stage: "prod" },
    });
  });

  it("keeps the spelling of headers, all their values, and the last of them", () => {
    const headers = [
      ["Idempotency-Key", "a"],
      ["idempotency-key", "b"],
    ] as const;
    expect(event(requestOf({ headers }), facts, undefined)).toMatchObject({
      headers: { "Idempotency-Key": "b" },
      multiValueHeaders: { "Idempotency-Key": ["a", "b"] },
    });
  });

  it("carries bodies of the binary media types in base64, and all others as text", () => {
    const request = requestOf({ headers: [["content-type", "image/png"]], body: Buffer.from("hi") });

    expect(event(request, facts, undefined)).toMatchObject({ body: "hi", isBase64Encoded: false });
    for (const types of [["image/png"], ["*/*"]]) {
      const { body, isBase64Encoded } = restKind(types).event(request, facts, undefined) as {
        body: string;
        isBase64Encoded: boolean;
      };
      expect([body, isBase64Encoded]).toEqual(["aGk=", true]);
    }
  });
});

describe("the answer of a REST API", () => {
  it("joins both maps of headers", () => {
    expect(
      answer({
        statusCode: 201,
        headers: { Location: "/orders/1", A: "1" },
        multiValueHeaders: { a: ["1", "2"], "Set-Cookie": ["x=1", "y=2"] },
        body: "{}",
      }),
    ).toEqual({
      statusCode: 201,
      headers: { "content-type": "application/json", location: ["/orders/1"], a: ["1", "2"] },
      cookies: ["x=1", "y=2"],
      body: Buffer.from("{}"),
    });
  });

  it("decodes base64 only if the API has binary media types", () => {
    const result = { statusCode: 200, body: "aGk=", isBase64Encoded: true };
    expect(answer(result)).toMatchObject({ body: Buffer.from("aGk=") });
    expect(answer(result, restKind(["*/*"]))).toMatchObject({ body: Buffer.from("hi") });
  });

  it.each([
    ["text", "an object with statusCode"],
    [{ message: "no status" }, "statusCode must be"],
    [{ statusCode: 200, body: { id: 1 } }, "body must be a string, got object"],
    [{ statusCode: 200, headers: ["a"] }, "headers must be an object"],
    [{ statusCode: 200, multiValueHeaders: "a" }, "multiValueHeaders must be an object"],
  ])("is a problem for %j, for which an HTTP API may guess", (result, problem) => {
    expect(answer(result)).toMatchObject({ problem: expect.stringContaining(problem) });
  });

  it("is a problem if the function's response isn't JSON", () => {
    expect(response("")).toEqual({ problem: "the function's response isn't JSON" });
  });

  it("has the gateway's own words", () => {
    expect(message("notFound")).toMatchObject({ statusCode: 403 });
    expect(String(message("notFound").body)).toBe('{"message":"Missing Authentication Token"}');
    expect(message("functionFailed").statusCode).toBe(502);
    expect(message("timedOut").statusCode).toBe(504);
  });
});
