import { describe, expect, it, test } from "vitest";
import { functionPayload } from "../../../lib/stack/gateway/payload.ts";
import { factsOf, requestOf } from "./given.ts";

describe("functionPayload", () => {
  it("is the documented example of payload format 2.0", () => {
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
    const request = requestOf({
      method: "POST",
      query: "parameter1=value1&parameter1=value2&parameter2=value",
      headers: [
        ["Cookie", "cookie1"],
        ["Cookie", "cookie2"],
        ["Header1", "value1"],
        ["Header2", "value1"],
        ["HEADER2", "value2"],
        ["User-Agent", "agent"],
        ["Content-Type", "text/plain"],
      ],
      body: Buffer.from("Hello from Lambda"),
    });
    const facts = factsOf({
      api: { ...factsOf().api, stageVariables: { stageVariable1: "value1", stageVariable2: "value2" } },
      route: { routeKey: "$default", pathParameters: { parameter1: "value1" } },
    });

    const event = functionPayload(request, facts, { exampleKey1: "exampleValue1" });

    expect(event).toEqual({
      version: "2.0",
      routeKey: "$default",
      rawPath: "/my/path",
      rawQueryString: "parameter1=value1&parameter1=value2&parameter2=value",
      cookies: ["cookie1", "cookie2"],
      headers: {
        header1: "value1",
        header2: "value1,value2",
        "user-agent": "agent",
        "content-type": "text/plain",
      },
      queryStringParameters: { parameter1: "value1,value2", parameter2: "value" },
      requestContext: {
        accountId: "123456789012",
        apiId: "api-id",
        authorizer: { lambda: { exampleKey1: "exampleValue1" } },
        domainName: "id.execute-api.us-east-1.amazonaws.com",
        domainPrefix: "id",
        http: {
          method: "POST",
          path: "/my/path",
          protocol: "HTTP/1.1",
          sourceIp: "192.0.2.1",
          userAgent: "agent",
        },
        requestId: "id",
        routeKey: "$default",
        stage: "$default",
        time: "04/Mar/2020:19:03:58 +0000",
        timeEpoch: 1583348638390,
      },
      body: "Hello from Lambda",
      pathParameters: { parameter1: "value1" },
      isBase64Encoded: false,
      stageVariables: { stageVariable1: "value1", stageVariable2: "value2" },
    });
  });

  it("leaves out what a request does not have", () => {
    const event = JSON.parse(JSON.stringify(functionPayload(requestOf(), factsOf(), undefined)));

    for (const absent of ["cookies", "queryStringParameters", "pathParameters", "body", "stageVariables"]) {
      expect(event).not.toHaveProperty(absent);
    }
    expect(event).toMatchObject({ rawQueryString: "", isBase64Encoded: false });
    expect(event.requestContext).not.toHaveProperty("authorizer");
  });

  it("hands on the path decoded and the query as it was sent", () => {
    const event = functionPayload(requestOf({ path: "/a%20b", query: "q=a%20b+c" }), factsOf(), undefined);

    expect(event.rawPath).toBe("/a b");
    expect(event.rawQueryString).toBe("q=a%20b+c");
    expect(event.queryStringParameters).toEqual({ q: "a b c" });
  });

  it("splits one cookie header with several cookies", () => {
    const event = functionPayload(requestOf({ headers: [["cookie", "a=1; b=2"]] }), factsOf(), undefined);

    expect(event.cookies).toEqual(["a=1", "b=2"]);
    expect(event.headers).toEqual({});
  });

  test.each([
    ["application/json", Buffer.from("{}"), false],
    ["application/json; charset=utf-8", Buffer.from("{}"), false],
    ["application/problem+json", Buffer.from("{}"), false],
    ["text/csv", Buffer.from("a,b"), false],
    ["application/xml", Buffer.from("<a/>"), false],
    [undefined, Buffer.from("plain"), false],
    ["application/x-www-form-urlencoded", Buffer.from("a=b"), true],
    ["application/octet-stream", Buffer.from("abc"), true],
    ["application/json", Buffer.from([0xff, 0xfe]), true],
  ])("content type %s with %o is base64: %s", (contentType, body, base64) => {
    const headers = contentType === undefined ? [] : [["Content-Type", contentType] as const];

    const event = functionPayload(requestOf({ headers, body }), factsOf(), undefined);

    expect(event.isBase64Encoded).toBe(base64);
    expect(Buffer.from(event.body ?? "", base64 ? "base64" : "utf8")).toEqual(body);
  });
});
