import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, test, vi } from "vitest";
import { newOrder } from "../../functions/order.ts";

let server: Server;
let charge: typeof import("../../functions/payment-gateway.ts").charge;
let desk: typeof import("../../functions/shipping-desk.ts");
/** What the gateway answers next, and what it was asked last. Without an answer it is silent. */
let answer: { status: number; body: object } | undefined;
let asked: { headers: IncomingMessage["headers"]; body: unknown; path: string } | undefined;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    asked = {
      headers: request.headers,
      body: JSON.parse(await text(request)),
      path: `${request.method} ${request.url}`,
    };
    if (answer) response.writeHead(answer.status).end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("GATEWAY_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv("GATEWAY_TOKEN", "secret");
  ({ charge } = await import("../../functions/payment-gateway.ts"));
  desk = await import("../../functions/shipping-desk.ts");
  vi.unstubAllEnvs();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const ORDER = newOrder({ sku: "tea", quantity: 2, card: "card_ok" }, "acme", "k");
const never = new AbortController().signal;

describe("charge", () => {
  it("asks for the order's total under the key it is given", async () => {
    answer = { status: 201, body: { chargeId: "charge-1" } };

    const verdict = await charge(ORDER, "key-1", never);

    expect(verdict).toEqual({ state: "paid", chargeId: "charge-1" });
    expect(asked).toMatchObject({
      path: "POST /charges",
      headers: { authorization: "Bearer secret", "idempotency-key": "key-1" },
      body: { orderId: ORDER.id, amountCents: 500, card: "card_ok" },
    });
  });

  it("takes a refusal of the card for a verdict", async () => {
    answer = { status: 402, body: { reason: "insufficient funds" } };

    expect(await charge(ORDER, "key-1", never)).toEqual({ state: "declined", reason: "insufficient funds" });
  });

  test.each([500, 503, 504, 401, 409, 422, 429, 200])(
    "takes status %i for no verdict at all",
    async (status) => {
      answer = { status, body: {} };

      await expect(charge(ORDER, "key-1", never)).rejects.toThrow(`the payment gateway answered ${status}`);
    },
  );

  it("H88: A7: takes 201 with an error for no verdict", async () => {
    answer = { status: 201, body: { error: "processing_error" } };

    await expect(charge(ORDER, "key-1", never)).rejects.toThrow("answered 201 without a charge");
  });

  it.each(["refund", "ship"] as const)("H88: A7: takes 201 with an error for no %s", async (name) => {
    answer = { status: 201, body: { error: "processing_error" } };

    const asking =
      name === "ship" ? desk.ship(ORDER, "key-1", never) : desk.refund("charge-1", "key-1", never);
    await expect(asking).rejects.toThrow("answered 201, but not");
    answer = { status: 201, body: { refunded: true, shipped: true } };
    await (name === "ship" ? desk.ship(ORDER, "key-1", never) : desk.refund("charge-1", "key-1", never));
  });

  it("stops waiting when its attempt is over", async () => {
    answer = undefined;
    const attempt = new AbortController();
    const charging = charge(ORDER, "key-1", attempt.signal);

    attempt.abort();

    await expect(charging).rejects.toMatchObject({ name: "AbortError" });
  });
});
