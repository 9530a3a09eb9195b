import { exactlyOnceMatchers, explore } from "onceonly-explorer";
import { expect, it, vi } from "vitest";

// The handler reads the names of its tables as it is loaded.
vi.stubEnv("ORDERS_TABLE", "orders");
vi.stubEnv("IDEMPOTENCY_TABLE", "idempotency");
const { handler } = await import("./handler.ts");

expect.extend(exactlyOnceMatchers);

it("creates one order, whatever crashes, gets lost or comes twice", async () => {
  const event = {
    version: "2.0",
    rawPath: "/orders",
    headers: { "idempotency-key": "key-1" },
    requestContext: {
      http: { method: "POST", path: "/orders" },
      authorizer: { jwt: { claims: { sub: "ann" } } },
    },
    body: JSON.stringify([{ sku: "tea", quantity: 2 }]),
    isBase64Encoded: false,
  };

  const report = await explore(handler, event, {
    tables: { orders: { partitionKey: "id" } },
    idempotencyTable: "idempotency",
    expectedStatus: 201,
  });

  expect(report).toBeExactlyOnce();
}, 60_000);
