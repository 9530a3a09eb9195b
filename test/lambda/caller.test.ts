import { callerFromAuthorizer, callerFromJwt } from "onceonly";
import { describe, expect, it } from "vitest";
import { v1Event, v2Event } from "./http-events.ts";

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

  it("yields nothing for what is neither text nor a number", () => {
    const event = v2Event({ authorizer: { lambda: { tenant: { id: "acme" }, none: null } } });

    expect(callerFromAuthorizer("tenant")(event)).toBeUndefined();
    expect(callerFromAuthorizer("none")(event)).toBeUndefined();
  });
});
