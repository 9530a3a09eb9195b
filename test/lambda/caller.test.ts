import { callerFromAuthorizer, callerFromJwt, callerFromTenant, httpIdempotent, idempotent } from "onceonly";
import { describe, expect, it } from "vitest";
import { type Answer, bodyOf, given } from "./given.ts";
import { EVENT_FORMS, v1Event, v2Event } from "./http/given.ts";

const KEY = { "Idempotency-Key": '"k1"' };

describe("callerFromJwt", () => {
  it.each([
    ["payload v2", v2Event({ authorizer: { jwt: { claims: { sub: "ann", org: "acme" } } } })],
    ["payload v1", v1Event({ authorizer: { claims: { sub: "ann", org: "acme" } } })],
  ])("reads a claim of the verified token from %s", (_, event) => {
    expect(callerFromJwt()(event)).toBe("ann");
    expect(callerFromJwt("org")(event)).toBe("acme");
    expect(callerFromJwt("email")(event)).toBeUndefined();
  });

  it("yields nothing without an authorizer, and never a name that every object has", () => {
    const claims = v2Event({ authorizer: { jwt: { claims: {} } } });

    expect(callerFromJwt()(v2Event({ headers: { authorization: "Bearer sub" } }))).toBeUndefined();
    expect(callerFromJwt()(undefined as never)).toBeUndefined();
    expect(callerFromJwt("constructor")(claims)).toBeUndefined();
    expect(callerFromJwt("__proto__")(claims)).toBeUndefined();
  });
});

describe("callerFromAuthorizer", () => {
  it.each([
    ["payload v2", v2Event({ authorizer: { lambda: { tenant: "acme", number: 7 } } })],
    ["payload v1", v1Event({ authorizer: { tenant: "acme", number: "7", principalId: "ann" } })],
  ])("reads a field of the authorizer's context from %s", (_, event) => {
    expect(callerFromAuthorizer("tenant")(event)).toBe("acme");
    expect(callerFromAuthorizer("number")(event)).toBe("7");
    expect(callerFromAuthorizer("nothing")(event)).toBeUndefined();
  });

  it("yields nothing for a value that is neither a string nor a number", () => {
    const event = v2Event({ authorizer: { lambda: { tenant: { id: "acme" }, none: null } } });

    expect(callerFromAuthorizer("tenant")(event)).toBeUndefined();
    expect(callerFromAuthorizer("none")(event)).toBeUndefined();
  });

  it.each([2 ** 53, -(2 ** 53), 1e21, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "H76: yields nothing for the number %d, which another tenant's may have become",
    (tenant) => {
      expect(callerFromAuthorizer("tenant")(v2Event({ authorizer: { lambda: { tenant } } }))).toBeUndefined();
      expect(
        callerFromJwt("tenant")(v2Event({ authorizer: { jwt: { claims: { tenant } } } })),
      ).toBeUndefined();
    },
  );

  it.each([0, -7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])("reads the number %d", (tenant) => {
    const event = v2Event({ authorizer: { lambda: { tenant } } });

    expect(callerFromAuthorizer("tenant")(event)).toBe(`${tenant}`);
  });
});

describe("callerFromTenant", () => {
  const contextOf = (tenantId: unknown) => ({ ...given().context(), tenantId }) as never;

  it("reads the tenant of Lambda's tenant isolation mode, for HTTP and for other events", async () => {
    const { options, store } = given();
    const run = async () => ({ statusCode: 201, body: "" });
    const http = httpIdempotent(run, { ...options, scope: callerFromTenant() });
    const plain = idempotent(run, { ...options, key: () => "k1", scope: callerFromTenant() });

    await http(v1Event({ headers: KEY }), contextOf("blue"));
    await plain({ id: 1 }, contextOf("green"));

    expect([...store.records.keys()].map((key) => key.split("#")[1])).toEqual(["blue", "green"]);
  });

  it.each([undefined, null, "", 7, { id: "blue" }])("yields nothing for a tenant of %j", (tenantId) => {
    expect(callerFromTenant()({}, contextOf(tenantId))).toBeUndefined();
  });

  it("yields nothing without a context", () => {
    expect(callerFromTenant()({}, undefined as never)).toBeUndefined();
  });
});

describe("a missing caller", () => {
  const v2 = (requestContext: object) => {
    const event = v2Event({ headers: KEY });
    return { ...event, requestContext: { ...event.requestContext, ...requestContext } };
  };
  const v1 = (requestContext: object) => {
    const event = v1Event({ headers: KEY });
    return { ...event, requestContext: { ...event.requestContext, ...requestContext } };
  };
  const answerTo = async (event: object, scope = callerFromJwt("org")) => {
    const { options, context, store } = given();
    const handler = httpIdempotent(async () => "never", { ...options, scope });
    const answer = (await handler(event, context())) as unknown as Answer;
    expect(store.records.size).toBe(0);
    return answer;
  };

  it.each([
    ["payload v2 without an authorizer", v2({})],
    ["payload v1 without an authorizer", v1({})],
    ["payload v1 of an HTTP API without an authorizer", v1({ authorizer: { claims: null, scopes: null } })],
    ["payload v1 with an identity of nobody", v1({ identity: { userArn: null, sourceIp: "192.0.2.1" } })],
    ["an API key, which names no caller", v1({ identity: { apiKey: "k", apiKeyId: "i" } })],
    ["a token that nobody verified", v2Event({ headers: { ...KEY, authorization: "Bearer eyJ9" } })],
    ["no request context", { ...v1({}), requestContext: undefined }],
  ])("H76: gets 401 and a challenge with %s", async (_, event) => {
    const answer = await answerTo(event);

    expect(answer).toMatchObject({ statusCode: 401, headers: { "WWW-Authenticate": "Bearer" } });
    expect(bodyOf(answer)).toMatchObject({ status: 401, code: "SCOPE_MISSING" });
  });

  it.each([
    ["a JWT without the claim", v2({ authorizer: { jwt: { claims: { sub: "ann" } } } })],
    ["a Cognito token without the claim", v1({ authorizer: { claims: { sub: "ann" } } })],
    ["a Lambda authorizer without the field", v2({ authorizer: { lambda: { tenant: "acme" } } })],
    ["a Lambda authorizer without a context", v2({ authorizer: { lambda: null } })],
    ["a Lambda authorizer of payload v1", v1({ authorizer: { principalId: "ann", integrationLatency: 3 } })],
    ["IAM, payload v2", v2({ authorizer: { iam: { userArn: "arn:aws:iam::1:user/ann" } } })],
    ["IAM, payload v1", v1({ identity: { userArn: "arn:aws:iam::1:user/ann" } })],
    ["an identity pool", v1({ identity: { cognitoIdentityId: "eu-central-1:1" } })],
    ["mutual TLS, payload v2", v2({ authentication: { clientCert: { subjectDN: "CN=ann" } } })],
    ["mutual TLS, payload v1", v1({ identity: { clientCert: { subjectDN: "CN=ann" } } })],
    ["a claim that is the text of no value", v2({ authorizer: { jwt: { claims: { org: "undefined" } } } })],
  ])("H76: gets 403 with %s", async (_, event) => {
    const answer = await answerTo(event);

    expect(answer.statusCode).toBe(403);
    expect(answer.headers).not.toHaveProperty("WWW-Authenticate");
    expect(bodyOf(answer)).toMatchObject({ status: 403, code: "SCOPE_MISSING" });
  });

  it("H76: gets 403 if ALB has authenticated a user, and 401 if not", async () => {
    const forms = EVENT_FORMS.filter(([name]) => name.startsWith("ALB"));
    for (const [, form] of forms) {
      expect((await answerTo(form({ headers: { ...KEY, "X-Amzn-Oidc-Data": "eyJ9" } }))).statusCode).toBe(
        403,
      );
      expect((await answerTo(form({ headers: KEY }))).statusCode).toBe(401);
    }
    expect((await answerTo(v2Event({ headers: { ...KEY, "x-amzn-oidc-data": "eyJ9" } }))).statusCode).toBe(
      401,
    );
  });
});
