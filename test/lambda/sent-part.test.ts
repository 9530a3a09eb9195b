// A caller that sends the same again gets another event from its gateway: the default fingerprint of `idempotent` is of what was sent.
import { idempotent } from "onceonly";
import { describe, expect, it, vi } from "vitest";
import { given } from "./given.ts";

/** As https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-integration-requests.html has it. */
const webSocket = (delivery: number, body: object) => ({
  requestContext: {
    routeKey: "pay",
    messageId: `message-${delivery}`,
    eventType: "MESSAGE",
    extendedRequestId: `extended-${delivery}`,
    requestTime: `27/Nov/2026:12:00:0${delivery} +0000`,
    messageDirection: "IN",
    stage: "prod",
    connectedAt: 1_795_780_800_000 + delivery,
    requestTimeEpoch: 1_795_780_800_000 + delivery,
    identity: { sourceIp: `192.0.2.${delivery}` },
    requestId: `request-${delivery}`,
    domainName: "api.example.com",
    connectionId: `connection-${delivery}`,
    apiId: "a1",
    authorizer: { principalId: "caller", integrationLatency: delivery },
  },
  body: JSON.stringify(body),
  isBase64Encoded: false,
});

const httpApi = (delivery: number, body: object) => ({
  version: "2.0",
  routeKey: "POST /pay",
  rawPath: "/pay",
  rawQueryString: "",
  cookies: [`session=${delivery}`],
  headers: { "x-amzn-trace-id": `Root=${delivery}`, "content-type": "application/json" },
  requestContext: {
    accountId: "123456789012",
    apiId: "a1",
    http: { method: "POST", path: "/pay", protocol: "HTTP/1.1", sourceIp: `192.0.2.${delivery}` },
    requestId: `request-${delivery}`,
    time: `27/Nov/2026:12:00:0${delivery} +0000`,
    timeEpoch: delivery,
  },
  body: JSON.stringify(body),
});

const loadBalancer = (delivery: number, body: object) => ({
  requestContext: { elb: { targetGroupArn: "arn" } },
  httpMethod: "POST",
  path: "/pay",
  multiValueHeaders: { "x-amzn-trace-id": [`Root=${delivery}`] },
  body: JSON.stringify(body),
});

const appSync = (delivery: number, body: object) => ({
  arguments: body,
  identity: { sub: "caller", sourceIp: [`192.0.2.${delivery}`], claims: { iat: delivery } },
  source: null,
  request: { headers: { "x-amzn-trace-id": `Root=${delivery}` }, domainName: null },
  info: { fieldName: "pay", parentTypeName: "Mutation", variables: {} },
});

const FORMS = { webSocket, httpApi, loadBalancer, appSync } as const;

describe.each(Object.entries(FORMS))("A11: the default fingerprint of an event: %s", (_, form) => {
  const order = { id: "k1", cents: 5 };

  async function codesOf(...events: object[]) {
    const { options, context } = given();
    const work = vi.fn(() => "done");
    const handler = idempotent(work, { ...options, key: () => "k1" });
    const answers = [];
    for (const event of events)
      answers.push(await handler(event, context()).catch((error: { code: string }) => error.code));
    return { answers, runs: work.mock.calls.length };
  }

  it("is the same for a retry over another connection, at another time", async () => {
    expect(await codesOf(form(1, order), form(2, order))).toEqual({ answers: ["done", "done"], runs: 1 });
  });

  it("is another one for another payload, route and caller", async () => {
    const event = form(1, order);
    const others = [
      form(1, { ...order, cents: 6 }),
      ...("rawPath" in event ? [{ ...event, rawPath: "/refund" }] : []),
      ...("path" in event ? [{ ...event, path: "/refund" }] : []),
      ...("info" in event ? [{ ...event, info: { ...event.info, fieldName: "refund" } }] : []),
      ...("identity" in event ? [{ ...event, identity: { ...event.identity, sub: "another" } }] : []),
      ...("rawPath" in event
        ? [{ ...event, requestContext: { ...event.requestContext, http: { method: "PUT" } } }]
        : []),
      ...("isBase64Encoded" in event
        ? [
            { ...event, requestContext: { ...event.requestContext, routeKey: "refund" } },
            { ...event, requestContext: { ...event.requestContext, authorizer: { principalId: "another" } } },
          ]
        : []),
    ];
    const { answers, runs } = await codesOf(event, ...others);

    expect(answers).toEqual(["done", ...others.map(() => "FINGERPRINT_MISMATCH")]);
    expect(runs).toBe(1);
  });
});

describe("A11: the default fingerprint of any other event", () => {
  it.each([
    [{ requestContext: { requestId: "r", note: 1 } }, { requestContext: { requestId: "r", note: 2 } }],
    [{ requestContext: "a" }, { requestContext: "b" }],
    [
      { info: { fieldName: "pay" }, request: 1 },
      { info: { fieldName: "pay" }, request: 2 },
    ],
    [{ headers: { a: 1 } }, { headers: { a: 2 } }],
    ["one", "other"],
    [null, undefined],
  ])("is of the whole event: %j and %j are two", async (one, other) => {
    const { options, context } = given();
    const handler = idempotent(() => "done", { ...options, key: () => "k1" });

    expect(await handler(one, context())).toBe("done");
    await expect(handler(other, context())).rejects.toMatchObject({ code: "FINGERPRINT_MISMATCH" });
  });
});

describe("A10: `idempotent` with a whole batch", () => {
  it.each([
    ["aws:sqs", { Records: [{ eventSource: "aws:sqs" }, {}] }],
    ["aws:sqs", [{ eventSource: "aws:sqs" }, {}]],
    ["aws:kafka", { eventSource: "aws:kafka", records: { "a-0": [{}], "b-0": [{}] } }],
    ["SelfManagedKafka", { eventSource: "SelfManagedKafka", records: { "a-0": [{}, {}] } }],
  ])("warns that records of %s come again in other batches", async (source, event) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { options, context } = given();
    const handler = idempotent(() => "done", { ...options, key: () => "k1" });
    await handler(event as object, context());
    await handler(event as object, context());

    expect(warn.mock.calls.map(String)).toEqual([
      expect.stringContaining(`treats 2 records from ${source} as one operation`),
    ]);
    warn.mockRestore();
  });

  it.each([
    { records: "text" },
    { records: null },
    { records: [1, 2] },
    { eventSource: "aws:kafka", records: { a: [{}] } },
  ])("and not of %j", async (event) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { options, context } = given();
    await idempotent(() => "done", { ...options, key: () => "k1" })(event as object, context());

    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});
