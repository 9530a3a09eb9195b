import { describe, expect, it } from "vitest";
import { isHttpResponse, isStatus } from "../../lib/core/http-result.ts";

describe("isStatus", () => {
  it.each([
    [200, true],
    ["404", true],
    [99, false],
    [600, false],
    ["1200", false],
    ["2000", false],
    [2000, false],
    [true, false],
  ])("%j: %j", (status, is) => {
    expect(isStatus(status)).toBe(is);
  });
});

describe("isHttpResponse", () => {
  it.each([
    [{ statusCode: 200 }, true],
    [{ statusCode: 200, body: "text", headers: {}, multiValueHeaders: {} }, true],
    [{ statusCode: 200, body: 1 }, false],
    [{ statusCode: 200, headers: [] }, false],
    [{ statusCode: 200, headers: "text" }, false],
    [{ statusCode: 200, headers: {}, multiValueHeaders: "text" }, false],
    [{ statusCode: 200, headers: "text", multiValueHeaders: {} }, false],
    [{ body: "text" }, false],
    [undefined, false],
  ])("%j: %j", (stored, is) => {
    expect(isHttpResponse(stored)).toBe(is);
  });
});
