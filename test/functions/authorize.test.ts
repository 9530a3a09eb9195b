import type { APIGatewayRequestAuthorizerEventV2 } from "aws-lambda";
import { beforeAll, describe, expect, it, test, vi } from "vitest";
import { tokenDigestsOf } from "../../bin/bearer-api.ts";
import { DEMO_TOKENS } from "../../bin/demo-tokens.ts";

let handler: typeof import("../../functions/authorize.ts").handler;

beforeAll(async () => {
  vi.stubEnv("TOKEN_DIGESTS", JSON.stringify(tokenDigestsOf(DEMO_TOKENS)));
  ({ handler } = await import("../../functions/authorize.ts"));
  vi.unstubAllEnvs();
});

const asking = (authorization?: string) =>
  handler({
    headers: authorization ? { authorization } : {},
  } as unknown as APIGatewayRequestAuthorizerEventV2);

describe("authorize", () => {
  it("names the tenant that owns the token", async () => {
    expect(await asking("Bearer acme-demo-token")).toEqual({
      isAuthorized: true,
      context: { tenant: "acme" },
    });
    expect(await asking("bearer globex-demo-token")).toEqual({
      isAuthorized: true,
      context: { tenant: "globex" },
    });
  });

  test.each([
    ["a token that nobody owns", "Bearer acme-demo-toke"],
    ["a digest instead of a token", `Bearer ${tokenDigestsOf(DEMO_TOKENS).acme}`],
    ["another scheme", "Basic acme-demo-token"],
    ["no token", "Bearer "],
    ["no header", undefined],
  ])("H21: refuses %s", async (_, authorization) => {
    expect(await asking(authorization)).toEqual({ isAuthorized: false });
  });
});
