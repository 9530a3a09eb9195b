// Functions called as Lambda calls them: by its Invoke API and by function URLs.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inlineFunction, type StackUnderTest, startTemplate, until } from "./world.ts";

const cleanups: (() => Promise<void>)[] = [];
const url = (TargetFunctionArn: unknown, more: object = {}) => ({
  Type: "AWS::Lambda::Url",
  Properties: { TargetFunctionArn, AuthType: "NONE", ...more },
});
const arnOf = (name: string) => ({ "Fn::GetAtt": [name, "Arn"] });

let stack: StackUnderTest;
beforeAll(async () => {
  stack = await startTemplate(
    {
      Echo: inlineFunction("print(event); return { event };", { FunctionName: "echo" }),
      Fail: inlineFunction('throw new TypeError("no such order");'),
      Die: inlineFunction("process.exit(1);"),
      Ended: { Type: "AWS::SQS::Queue" },
      Dead: { Type: "AWS::SQS::Queue" },
      Bad: inlineFunction('if (event.bad) throw new Error("bad"); return { done: event };', {
        DeadLetterConfig: { TargetArn: arnOf("Dead") },
      }),
      Config: {
        Type: "AWS::Lambda::EventInvokeConfig",
        Properties: {
          FunctionName: { Ref: "Bad" },
          Qualifier: "$LATEST",
          MaximumRetryAttempts: 0,
          DestinationConfig: {
            OnSuccess: { Destination: arnOf("Ended") },
            OnFailure: { Destination: arnOf("Ended") },
          },
        },
      },
      Page: inlineFunction(
        'return { statusCode: 418, headers: { "x-a": "b" }, cookies: ["c=d"], body: JSON.stringify(event) };',
      ),
      Url: url(arnOf("Page"), { Cors: { AllowOrigins: ["https://shop.example"] } }),
      FailUrl: url(arnOf("Fail"), { AuthType: "AWS_IAM", InvokeMode: "RESPONSE_STREAM" }),
      LostUrl: url("arn:aws:lambda:us-east-1:000000000000:function:gone"),
    },
    cleanups,
    { outputs: { Url: { "Fn::GetAtt": ["Url", "FunctionUrl"] } } },
  );
});
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function invoke(name: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  const path = `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`;
  return fetch(stack.endpoints.aws + path, { method: "POST", body, headers });
}

/** What is in a queue, `undefined` where there is nothing. */
async function taken(path: string): Promise<unknown[] | undefined> {
  const response = await fetch(stack.endpoints.sqs, {
    method: "POST",
    headers: { "x-amz-target": "AmazonSQS.ReceiveMessage", "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify({ QueueUrl: stack.queues[path]?.url }),
  });
  const { Messages } = (await response.json()) as { Messages?: { Body: string }[] };
  return Messages?.map(({ Body }) => JSON.parse(Body));
}

describe("Lambda's Invoke API", () => {
  it.each([
    ["its name", "echo"],
    ["its name with an alias", "echo:live"],
    ["its ARN", "arn:aws:lambda:us-east-1:000000000000:function:echo"],
    ["a part of its ARN", "000000000000:function:echo"],
    ["its construct path", "Echo"],
  ])("responds with a function's result, called by %s", async (_, name) => {
    const response = await invoke(name, '{"n":1}');

    expect(response.status).toBe(200);
    expect(response.headers.get("x-amz-executed-version")).toBe("$LATEST");
    expect(response.headers.get("x-amzn-requestid")).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.has("x-amz-function-error")).toBe(false);
    expect(await response.json()).toEqual({ event: { n: 1 } });
  });

  it("marks an error of the handler, and a process that ended, in a header of a 200", async () => {
    const thrown = await invoke("Fail", "{}");
    const ended = await invoke("Die", "");

    expect([thrown.status, ended.status]).toEqual([200, 200]);
    expect(thrown.headers.get("x-amz-function-error")).toBe("Unhandled");
    expect(await thrown.json()).toMatchObject({ errorType: "TypeError", errorMessage: "no such order" });
    expect(ended.headers.get("x-amz-function-error")).toBe("Unhandled");
    expect(await ended.json()).toMatchObject({ errorType: "Runtime.ExitError" });
  });

  it("accepts an event immediately and runs it later, and runs nothing for a dry run", async () => {
    const dry = await invoke("echo", '{"dry":true}', { "x-amz-invocation-type": "DryRun" });
    const event = await invoke("echo", '{"later":true}', { "x-amz-invocation-type": "Event" });

    expect([dry.status, event.status]).toEqual([204, 202]);
    expect(await event.text()).toBe("");
    await until(() => stack.lines.some((line) => line.startsWith("Invoke → Echo: ok")));
    expect(stack.printed()).toContainEqual({ later: true });
    expect(stack.printed()).not.toContainEqual({ dry: true });
  });

  it("reports an event's end to destinations, and keeps a failed event in the dead-letter queue", async () => {
    const later = { "x-amz-invocation-type": "Event" };
    const good = await invoke("Bad", '{"n":1}', later);
    const [success] = await until(() => taken("Ended"));
    const bad = await invoke("Bad", '{"bad":true}', later);
    const [failure] = await until(() => taken("Ended"));

    const ended = (response: Response, more: object) => ({
      version: "1.0",
      timestamp: expect.stringMatching(/^2.*Z$/),
      requestContext: {
        requestId: response.headers.get("x-amzn-requestid"),
        functionArn: `${stack.functions.Bad?.arn}:$LATEST`,
        approximateInvokeCount: 1,
        ...more,
      },
    });
    const responseContext = { statusCode: 200, executedVersion: "$LATEST" };
    expect(success).toEqual({
      ...ended(good, { condition: "Success" }),
      requestPayload: { n: 1 },
      responseContext,
      responsePayload: { done: { n: 1 } },
    });
    expect(failure).toEqual({
      ...ended(bad, { condition: "RetriesExhausted" }),
      requestPayload: { bad: true },
      responseContext: { ...responseContext, functionError: "Unhandled" },
      responsePayload: expect.objectContaining({ errorType: "Error", errorMessage: "bad" }),
    });
    expect(await until(() => taken("Dead"))).toEqual([{ bad: true }]);
  });

  it.each([
    ["a function that does not run here", "gone", "{}", {}, 404, "ResourceNotFoundException"],
    ["what is not JSON", "echo", "{", {}, 400, "InvalidRequestContentException"],
    [
      "another type",
      "echo",
      "{}",
      { "x-amz-invocation-type": "Sometime" },
      400,
      "InvalidParameterValueException",
    ],
    [
      "an event of more than 1 MiB",
      "echo",
      JSON.stringify("x".repeat(1_048_576)),
      { "x-amz-invocation-type": "Event" },
      413,
      "RequestTooLargeException",
    ],
  ])("refuses %s", async (_, name, body, headers, status, type) => {
    const response = await invoke(name, body, headers);

    expect(response.status).toBe(status);
    expect(response.headers.get("x-amzn-errortype")).toBe(type);
    expect(await response.json()).toMatchObject({ Type: "User" });
  });

  it("is where functions find Lambda, SNS and EventBridge, and no other service", async () => {
    const response = await fetch(`${stack.endpoints.aws}/2021-10-31/functions`);

    expect(response.status).toBe(404);
    expect(response.headers.get("x-amzn-errortype")).toBe("UnknownOperationException");
  });
});

describe("AWS::Lambda::Url", () => {
  it("hands over events of payload format 2.0 without a route, and answers with the function's answer", async () => {
    const response = await fetch(`${stack.functionUrls.Url}a%20b/c?x=1&x=2`, {
      method: "PUT",
      headers: { cookie: "e=f", origin: "https://shop.example", "content-type": "text/plain" },
      body: "hi",
    });

    expect(stack.outputs.Url).toBe(stack.functionUrls.Url);
    expect(response.status).toBe(418);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-a")).toBe("b");
    expect(response.headers.getSetCookie()).toEqual(["c=d"]);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://shop.example");
    const event = await response.json();
    expect(event).toMatchObject({
      version: "2.0",
      routeKey: "$default",
      rawPath: "/a%20b/c",
      rawQueryString: "x=1&x=2",
      cookies: ["e=f"],
      queryStringParameters: { x: "1,2" },
      requestContext: {
        accountId: "anonymous",
        domainName: expect.stringMatching(/^[0-9a-f]{32}\.lambda-url\.us-east-1\.on\.aws$/),
        http: { method: "PUT", path: "/a b/c" },
        routeKey: "$default",
        stage: "$default",
      },
      body: "hi",
      isBase64Encoded: false,
    });
  });

  it("answers 502 if the function fails", async () => {
    const response = await fetch(stack.functionUrls.FailUrl!);

    expect(response.status).toBe(502);
    expect(await response.text()).toBe("Internal Server Error");
  });

  it("reports what it does not do", () => {
    expect(stack.notRun).toEqual([
      "AWS::Lambda::Url FailUrl (FailUrl): signatures aren't required",
      "AWS::Lambda::Url FailUrl (FailUrl): responses are sent whole, not streamed",
      "AWS::Lambda::Url LostUrl (LostUrl): arn:aws:lambda:us-east-1:000000000000:function:gone isn't a function of this run",
    ]);
  });
});
