import { describe, expect, it, test } from "vitest";
import { functionResponse, gatewayMessage } from "../../../lib/stack/gateway/response.ts";

function responseTo(result: unknown) {
  const response = functionResponse(JSON.stringify(result));
  if ("problem" in response) throw new Error(response.problem);
  return { ...response, body: response.body.toString() };
}

describe("functionResponse", () => {
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
  test.each([
    ["a string", "Hello from Lambda!", "Hello from Lambda!"],
    ["an object without statusCode", { message: "Hello from Lambda!" }, '{"message":"Hello from Lambda!"}'],
    ["a list", [1, 2], "[1,2]"],
    ["null", null, "null"],
  ])("treats %s as a JSON body with status 200", (_, result, body) => {
    expect(responseTo(result)).toEqual({
      statusCode: 200,
      headers: { "content-type": "application/json" },
      cookies: [],
      body,
    });
  });

  it("uses status, headers, cookies and body of a structured response", () => {
    const response = responseTo({
      statusCode: 201,
      headers: { "Content-Type": "application/problem+json", "X-Number": 1 },
      cookies: ["a=1", "b=2"],
      body: "Hello",
    });

    expect(response).toEqual({
      statusCode: 201,
      headers: { "content-type": "application/problem+json", "x-number": "1" },
      cookies: ["a=1", "b=2"],
      body: "Hello",
    });
  });

  it("decodes a base64 body", () => {
    const body = Buffer.from([0, 255]).toString("base64");

    const response = functionResponse(JSON.stringify({ statusCode: 200, isBase64Encoded: true, body }));

    expect(response).toMatchObject({ body: Buffer.from([0, 255]) });
  });

  it("calls a body without a content type plain text", () => {
    expect(responseTo({ statusCode: 200, body: "x" }).headers).toEqual({
      "content-type": "text/plain;charset=UTF-8",
    });
  });

  test.each([
    ["a body that is no string", { statusCode: 200, body: { a: 1 } }, "body must be a string"],
    ["a status that is no number", { statusCode: "OK" }, "statusCode must be"],
    ["a status out of range", { statusCode: 99 }, "statusCode must be"],
    ["headers that are no object", { statusCode: 200, headers: ["a"] }, "headers must be an object"],
    ["cookies that are no list", { statusCode: 200, cookies: "a=1" }, "cookies must be an array"],
  ])("finds a problem in %s", (_, result, problem) => {
    expect(functionResponse(JSON.stringify(result))).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe("gatewayMessage", () => {
  it("answers in the words of API Gateway", () => {
    const { statusCode, body } = gatewayMessage("timedOut");

    expect(statusCode).toBe(503);
    expect(body.toString()).toBe('{"message":"Service Unavailable"}');
  });
});
