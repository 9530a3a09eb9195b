import { describe, expect, it } from "vitest";
import { corsHeaders, preflightResponse } from "../../../lib/stack/gateway/cors.ts";

const CORS = {
  AllowOrigins: ["https://shop.example"],
  AllowMethods: ["GET", "POST"],
  AllowHeaders: ["idempotency-key"],
  ExposeHeaders: ["idempotent-replayed"],
  MaxAge: 60,
};

describe("preflightResponse", () => {
  it("answers a preflight of an allowed origin", () => {
    const headers = { origin: "https://shop.example", "access-control-request-method": "POST" };

    expect(preflightResponse(CORS, "OPTIONS", headers)).toMatchObject({
      statusCode: 204,
      headers: {
        "access-control-allow-origin": "https://shop.example",
        "access-control-allow-methods": "GET,POST",
        "access-control-allow-headers": "idempotency-key",
        "access-control-max-age": "60",
      },
    });
  });

  it("allows nothing to another origin", () => {
    const headers = { origin: "https://other.example", "access-control-request-method": "POST" };

    expect(preflightResponse(CORS, "OPTIONS", headers)).toMatchObject({ statusCode: 204, headers: {} });
  });

  it("leaves other requests alone", () => {
    expect(preflightResponse(CORS, "POST", { origin: "https://shop.example" })).toBeUndefined();
    expect(preflightResponse(CORS, "OPTIONS", { origin: "https://shop.example" })).toBeUndefined();
  });
});

describe("corsHeaders", () => {
  it("names the origin, or * if all are allowed", () => {
    expect(corsHeaders(CORS, "https://shop.example")).toEqual({
      "access-control-allow-origin": "https://shop.example",
      "access-control-expose-headers": "idempotent-replayed",
    });
    expect(corsHeaders({ AllowOrigins: ["*"] }, "https://any.example")).toEqual({
      "access-control-allow-origin": "*",
    });
  });

  it("sets nothing for requests without an origin", () => {
    expect(corsHeaders(CORS, undefined)).toEqual({});
  });
});
