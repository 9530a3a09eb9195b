import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { describe, expect, it, test } from "vitest";
import { newOrder, orderView, readOrderRequest } from "../../functions/order.ts";

const eventWith = (body: string | undefined, isBase64Encoded = false) =>
  ({ body, isBase64Encoded }) as APIGatewayProxyEventV2;

describe("readOrderRequest", () => {
  it("reads sku, quantity and card, and nothing else", () => {
    const body = JSON.stringify({
      sku: "tea",
      quantity: 2,
      card: "card_slow",
      tenant: "globex",
      state: "paid",
    });

    expect(readOrderRequest(eventWith(body))).toEqual({ sku: "tea", quantity: 2, card: "card_slow" });
  });

  it("uses a card that works if none is named", () => {
    expect(readOrderRequest(eventWith('{"sku":"tea","quantity":2}'))).toMatchObject({ card: "card_ok" });
  });

  it("reads a base64 body", () => {
    const body = Buffer.from('{"sku":"tea","quantity":2}').toString("base64");

    expect(readOrderRequest(eventWith(body, true))).toMatchObject({ sku: "tea", quantity: 2 });
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
    ["a card's number", '{"sku":"tea","quantity":1,"card":"4242424242424242"}', "card must be"],
    ["no card", '{"sku":"tea","quantity":1,"card":null}', "card must be"],
  ])("explains what is wrong with %s", (_, body, problem) => {
    expect(readOrderRequest(eventWith(body))).toEqual({ problem: expect.stringContaining(problem) });
  });
});

const REQUEST = { sku: "tea", quantity: 2, card: "card_ok" };

describe("newOrder", () => {
  it("creates two orders from two runs", () => {
    expect(newOrder(REQUEST, "acme", "k").id).not.toBe(newOrder(REQUEST, "acme", "k").id);
  });

  it("begins unpaid, with its total in cents", () => {
    expect(newOrder(REQUEST, "acme", "k")).toMatchObject({ ...REQUEST, state: "created", totalCents: 500 });
  });
});

describe("orderView", () => {
  it("shows neither tenant, card nor idempotency key", () => {
    const order = newOrder(REQUEST, "acme", "k");
    const { id, createdAt } = order;

    expect(orderView(order)).toEqual({
      id,
      sku: "tea",
      quantity: 2,
      totalCents: 500,
      state: "created",
      createdAt,
    });
  });
});
