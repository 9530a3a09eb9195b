import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { describe, expect, it, test } from "vitest";
import { newOrder, readOrderRequest } from "../../functions/order.ts";

const eventWith = (body: string | undefined, isBase64Encoded = false) =>
  ({ body, isBase64Encoded }) as APIGatewayProxyEventV2;

describe("readOrderRequest", () => {
  it("reads sku and quantity, and nothing else", () => {
    const body = JSON.stringify({ sku: "tea", quantity: 2, tenant: "globex" });

    expect(readOrderRequest(eventWith(body))).toEqual({ sku: "tea", quantity: 2 });
  });

  it("reads a base64 body", () => {
    const body = Buffer.from('{"sku":"tea","quantity":2}').toString("base64");

    expect(readOrderRequest(eventWith(body, true))).toEqual({ sku: "tea", quantity: 2 });
  });

  test.each([
    ["no body", undefined, "the body must be a JSON object"],
    ["no JSON", "sku=tea", "the body must be a JSON object"],
    ["null", "null", "the body must be a JSON object"],
    ["a missing sku", '{"quantity":1}', "sku must be"],
    ["an empty sku", '{"sku":"","quantity":1}', "sku must be"],
    ["a quantity as text", '{"sku":"tea","quantity":"1"}', "quantity must be"],
    ["half a piece", '{"sku":"tea","quantity":1.5}', "quantity must be"],
    ["none", '{"sku":"tea","quantity":0}', "quantity must be"],
    ["too many", '{"sku":"tea","quantity":1001}', "quantity must be"],
  ])("says what is wrong with %s", (_, body, problem) => {
    expect(readOrderRequest(eventWith(body))).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe("newOrder", () => {
  it("makes two orders of two runs", () => {
    const request = { sku: "tea", quantity: 2 };

    expect(newOrder(request, "acme", "k").id).not.toBe(newOrder(request, "acme", "k").id);
  });
});
