import { describe, expect, it, test } from "vitest";
import { readPaymentRequest } from "../../functions/payment-request.ts";

describe("readPaymentRequest", () => {
  it("reads what create-order sends", () => {
    const body = JSON.stringify({ tenant: "acme", orderId: "order-1" });

    expect(readPaymentRequest(body)).toEqual({ tenant: "acme", orderId: "order-1" });
  });

  test.each([
    ["no JSON", "order-1"],
    ["null", "null"],
    ["no tenant", '{"orderId":"order-1"}'],
    ["an empty order id", '{"tenant":"acme","orderId":""}'],
    ["an order id that isn't a string", '{"tenant":"acme","orderId":1}'],
  ])("H24: refuses %s for good, without repeating it", (_, body) => {
    expect(() => readPaymentRequest(body)).toThrow(
      expect.objectContaining({ code: "PERMANENT", message: expect.not.stringContaining("order-1") }),
    );
  });
});
