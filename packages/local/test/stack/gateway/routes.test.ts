import { describe, expect, it, test } from "vitest";
import { matchRoute } from "../../../lib/stack/gateway/routes.ts";

describe("matchRoute", () => {
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html
  const routes = ["GET /pets/dog/1", "GET /pets/dog/{id}", "GET /pets/{proxy+}", "ANY /{proxy+}", "$default"];

  test.each([
    ["GET", "/pets/dog/1", "GET /pets/dog/1", undefined],
    ["GET", "/pets/dog/2", "GET /pets/dog/{id}", { id: "2" }],
    ["GET", "/pets/cat/1", "GET /pets/{proxy+}", { proxy: "cat/1" }],
    ["POST", "/test/5", "ANY /{proxy+}", { proxy: "test/5" }],
    ["POST", "/pets/dog/1", "ANY /{proxy+}", { proxy: "pets/dog/1" }],
    ["GET", "/", "$default", undefined],
  ])("%s %s goes to %s", (method, path, routeKey, pathParameters) => {
    expect(matchRoute(routes, method, path)).toEqual({ routeKey, pathParameters });
  });

  it("finds the most specific route whatever the order", () => {
    for (const order of [routes, [...routes].reverse()]) {
      expect(matchRoute(order, "GET", "/pets/dog/2")?.routeKey).toBe("GET /pets/dog/{id}");
    }
  });

  it("prefers a full match to a greedy one", () => {
    const match = matchRoute(["GET /pets/{proxy+}", "GET /{kind}/dog"], "GET", "/pets/dog");

    expect(match?.routeKey).toBe("GET /{kind}/dog");
  });

  it("prefers the method itself to ANY", () => {
    expect(matchRoute(["ANY /orders", "POST /orders"], "POST", "/orders")?.routeKey).toBe("POST /orders");
    expect(matchRoute(["ANY /orders", "POST /orders"], "PUT", "/orders")?.routeKey).toBe("ANY /orders");
  });

  it("decodes parameters after the path is split", () => {
    expect(matchRoute(["GET /orders/{id}"], "GET", "/orders/a%2Fb%20c")?.pathParameters).toEqual({
      id: "a/b c",
    });
  });

  it("keeps a malformed escape as it is", () => {
    expect(matchRoute(["GET /orders/{id}"], "GET", "/orders/100%")?.pathParameters).toEqual({ id: "100%" });
  });

  test.each([
    ["a longer path", "GET", "/orders/1/items"],
    ["a shorter path", "GET", "/orders"],
    ["an empty parameter", "GET", "/orders/"],
    ["another method", "POST", "/orders/1"],
  ])("does not match %s", (_, method, path) => {
    expect(matchRoute(["GET /orders/{id}"], method, path)).toBeUndefined();
  });
});
