// Events as AWS documents them:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-mapping-template-reference.html
// https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-working-with-lambda-triggers.html
// https://docs.aws.amazon.com/iot/latest/developerguide/iot-sql-functions.html

import middy from "@middy/core";
import type { PostConfirmationTriggerEvent, PostConfirmationTriggerHandler } from "aws-lambda";
import { callerFromAuthorizer, idempotency, idempotent, keyFromEvent } from "onceonly";
import { describe, expect, it } from "vitest";
import { given } from "./given.ts";

const message = (body: string, delivery = 1, more: object = {}) => ({
  requestContext: {
    routeKey: "createOrder",
    messageId: `m${delivery}`,
    eventType: "MESSAGE",
    extendedRequestId: `e${delivery}`,
    requestTime: "28/Nov/2026:08:00:00 +0000",
    messageDirection: "IN",
    stage: "prod",
    connectedAt: 1_700_000_000_000 + delivery,
    requestTimeEpoch: 1_700_000_000_000 + delivery,
    identity: { userAgent: "ws", sourceIp: "192.0.2.1" },
    requestId: `r${delivery}`,
    domainName: "a1.execute-api.eu-central-1.amazonaws.com",
    connectionId: `c${delivery}=`,
    apiId: "a1",
    authorizer: { userId: "ann", principalId: "ann", integrationLatency: delivery },
    ...more,
  },
  body,
  isBase64Encoded: false,
});

const rule = { requestId: "f1", litres: 5, device: "tank-7" };

describe("keyFromEvent for a WebSocket API", () => {
  const key = keyFromEvent();

  it("R5: runs a message once, though the client sends it again over another connection", async () => {
    const { options, context } = given();
    let runs = 0;
    const handler = idempotent(
      async (_: ReturnType<typeof message>, { idempotency: { scope } }) => ({
        statusCode: 200,
        body: `${scope} ${++runs}`,
      }),
      { ...options, key, scope: callerFromAuthorizer("userId") },
    );
    const order = '{"action":"createOrder","requestId":"o1","sku":"tea"}';

    for (const delivery of [1, 2])
      expect(await handler(message(order, delivery), context())).toEqual({ statusCode: 200, body: "ann 1" });
    await expect(handler(message(order.replace("tea", "milk"), 4), context())).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
    expect(runs).toBe(1);
  });

  it("R5: reads a binary frame, and another field", () => {
    const sent = Buffer.from('{"id":"o1"}').toString("base64");

    expect(keyFromEvent({ field: "id" })({ ...message(sent), isBase64Encoded: true })).toBe("o1");
  });

  it.each([
    ["{}", "the WebSocket message must have `requestId` (got none)"],
    ['{"requestId":""}', "must have `requestId`"],
    ['{"requestId":7}', "must have `requestId` (got number)"],
    ["[]", "must have `requestId`"],
    ["null", "must have `requestId`"],
    ["ping", "the WebSocket message isn't JSON"],
    ["", "the WebSocket message isn't JSON"],
  ])("R5: refuses a message without an id, and names the field: %s", (body, text) => {
    expect(() => key(message(body))).toThrow(text);
  });

  it("R5: connects and disconnects once for each connection", () => {
    const of = (eventType: string, delivery: number) => key(message("", delivery, { eventType }));
    const keys = [of("CONNECT", 1), of("CONNECT", 2), of("DISCONNECT", 1)];

    expect(of("DISCONNECT", 1)).toBe(keys[2]);
    expect(new Set(keys).size).toBe(3);
  });
});

describe("keyFromEvent for an IoT rule and other events", () => {
  it("R5: reads the field that the device sends, and refuses an event without it", () => {
    expect(keyFromEvent()(rule)).toBe("f1");
    expect(() => keyFromEvent()({ ...rule, requestId: undefined })).toThrow(
      "the event must have `requestId` (got none)",
    );
    expect(() => keyFromEvent()(null)).toThrow("the event must have `requestId`");
  });

  it.each([
    { Records: [{ eventSource: "aws:s3" }] },
    { records: {} },
    { "detail-type": "paid", id: "1" },
    { eventSource: "aws:mq", messages: [] },
    { requestContext: { http: { method: "POST" } } },
  ])("R5: refuses events that other functions read: %j", (event) => {
    expect(() => keyFromEvent()({ requestId: "r", ...event })).toThrow("use keyFromSns()");
  });

  it.each([{ field: "" }, { field: 7 }, { fields: "id" }])("R5: refuses the options %j", (options) => {
    expect(() => keyFromEvent(options as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});

function confirmation(more: object = {}, request: object = {}): PostConfirmationTriggerEvent {
  return {
    version: "1",
    region: "eu-central-1",
    userPoolId: "eu-central-1_a1",
    userName: "ann",
    triggerSource: "PostConfirmation_ConfirmSignUp",
    callerContext: { awsSdkVersion: "aws-sdk-js-3", clientId: "client" },
    request: {
      userAttributes: { sub: "5b1c", email: "ann@example.com", "cognito:user_status": "CONFIRMED" },
      clientMetadata: { invitation: "s3cret" },
      ...request,
    },
    response: {},
    ...more,
  } as never;
}

describe("keyFromEvent for a Cognito trigger", () => {
  const key = keyFromEvent();
  const greet = async (event: PostConfirmationTriggerEvent) => {
    Object.assign(event.response, { greeted: true });
    return event;
  };

  it("R5: returns the event to Cognito's retries, and stores its response only", async () => {
    const { options, context, store } = given();
    let runs = 0;
    const handler: PostConfirmationTriggerHandler = idempotent(
      async (event: PostConfirmationTriggerEvent) => {
        runs++;
        return greet(event);
      },
      { ...options, key },
    );
    const call = (event: PostConfirmationTriggerEvent) =>
      Reflect.apply(handler, undefined, [event, context()]);

    const first = await call(confirmation());
    const again = await call(confirmation({}, { clientMetadata: { invitation: "another" } }));

    expect(first).toEqual(confirmation({ response: { greeted: true } }));
    expect(again).toEqual({
      ...confirmation({}, { clientMetadata: { invitation: "another" } }),
      response: { greeted: true },
    });
    expect(runs).toBe(1);
    const stored = JSON.stringify([...store.records.values()]);
    for (const secret of ["s3cret", "ann@example.com"]) expect(stored).not.toContain(secret);
  });

  it("R5: does the same for a committed event, for Middy and with `returns`", async () => {
    const { options, context, store } = given();
    const run = async (
      event: PostConfirmationTriggerEvent,
      { idempotency: own }: { idempotency: { commit(result: unknown, effects: object): Promise<unknown> } },
    ) => own.commit(await greet(event), { writes: [] }) as Promise<PostConfirmationTriggerEvent>;
    const answered = confirmation({ response: { greeted: true } });
    const committing = idempotent(run as typeof greet, { ...options, operation: "a", key });
    const stack = middy(greet).use(idempotency({ ...options, operation: "b", key }));
    const outcome = idempotent(greet, { ...options, operation: "c", key, returns: "outcome" });

    for (const replayed of [false, true]) {
      expect(await committing(confirmation(), context())).toEqual(answered);
      expect(await stack(confirmation(), context() as never)).toEqual(answered);
      expect(await outcome(confirmation(), context())).toEqual({ result: answered, replayed });
    }
    expect(JSON.stringify([...store.records.values()])).not.toContain("s3cret");
  });

  it("R5: passes on errors, and results that aren't the event", async () => {
    const { options, context } = given();
    const failing = idempotent(
      async (_: PostConfirmationTriggerEvent) => {
        throw new Error("no");
      },
      { ...options, key },
    );
    const other = idempotent(async (_: PostConfirmationTriggerEvent) => null, {
      ...options,
      operation: "other",
      key,
    });

    await expect(failing(confirmation(), context())).rejects.toThrow("no");
    expect(await other(confirmation(), context())).toBeNull();
    expect(await other(confirmation(), context())).toBeNull();
  });

  it("R5: no password, code or metadata is part of the default fingerprint", async () => {
    const fingerprints = new Set<string>();
    for (const password of ["a", "b"]) {
      const { options, context, store } = given();
      const handler = idempotent(greet, { ...options, key: () => "k1" });
      const event = confirmation(
        {},
        { password, code: password, validationData: { password }, clientMetadata: { password } },
      );
      await handler(event, context());
      for (const record of store.records.values()) fingerprints.add(record.fingerprint);
    }

    expect(fingerprints.size).toBe(1);
  });

  it("R5: distinguishes pools, users and the codes of a custom sender", () => {
    const sender = (code: string) =>
      confirmation({ triggerSource: "CustomEmailSender_ForgotPassword" }, { code });
    const events = [
      confirmation(),
      confirmation({ userPoolId: "eu-central-1_b2" }),
      confirmation({}, { userAttributes: { sub: "6c2d" } }),
      confirmation({ userName: "bob" }, { userAttributes: {} }),
      sender("AYAD1"),
      sender("AYAD2"),
    ];

    expect(new Set(events.map((event) => key(event))).size).toBe(events.length);
    expect(key(sender("AYAD1"))).toBe(key(sender("AYAD1")));
    expect(key(confirmation({ userName: "ann@example.com" }))).toBe(key(confirmation()));
  });

  it.each([
    "PreSignUp_SignUp",
    "PostConfirmation_ConfirmForgotPassword",
    "PreAuthentication_Authentication",
    "PostAuthentication_Authentication",
    "TokenGeneration_Authentication",
    "UserMigration_Authentication",
    "CustomMessage_SignUp",
    "CreateAuthChallenge_Authentication",
    "CustomSMSSender_SignUp",
  ])("R5: refuses %s, whose event doesn't say which one it is", (triggerSource) => {
    expect(() => key(confirmation({ triggerSource }))).toThrow(
      expect.objectContaining({
        code: "IDEMPOTENCY_KEY_MISSING",
        message: expect.stringContaining(triggerSource),
      }),
    );
  });

  it("R5: shows no trigger source that isn't a name", () => {
    expect(() => key(confirmation({ triggerSource: "secret of\na caller" }))).toThrow(/which trigger it is/);
  });
});
