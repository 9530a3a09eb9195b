import { describe, expect, it } from "vitest";
import { runOnce } from "../../lib/core/run-once.ts";
import { counting, newWorld } from "./world.ts";

describe("keyFormat", () => {
  const given = (keyFormat: "uuid" | RegExp | undefined) => {
    const world = newWorld();
    const { requests, store } = counting(world);
    const options = { operation: "pay", store, leaseSeconds: 30, keyFormat };
    let runs = 0;
    return { requests, runs: () => runs, call: (key: string) => runOnce(options, key, {}, () => ++runs) };
  };

  it.each([
    "018bcfe5-6800-7000-8000-000000000000",
    "6FA459EA-EE8A-3CA4-894E-DB77E160355E",
    "9b2f2a34-5f0a-4f5c-9f63-0c5e6a1d9e11",
  ])('"uuid" accepts %s', async (key) => {
    expect(await given("uuid").call(key)).toBe(1);
  });

  it.each([
    "order-7",
    "00000000-0000-0000-0000-000000000000",
    "018bcfe5680070008000000000000000",
    "{018bcfe5-6800-7000-8000-000000000000}",
    "urn:uuid:018bcfe5-6800-7000-8000-000000000000",
    "018bcfe5-6800-7000-8000-000000000000 ",
    "018bcfe5-6800-7000-8000-000000000000\u2028x",
    "018bcfe5-6800-7000-c000-000000000000",
    "018bcfe5-6800-9000-8000-000000000000",
    "018bcfe5-6800-7000-8000-00000000000g",
  ])('"uuid" refuses %j before any request, and does not repeat it', async (key) => {
    const { call, requests, runs } = given("uuid");

    const refused = await call(key).catch((error: unknown) => error);

    expect(refused).toMatchObject({
      code: "IDEMPOTENCY_KEY_INVALID",
      message: "the idempotency key doesn't have the format that this operation requires",
    });
    expect(requests).toEqual([]);
    expect(runs()).toBe(0);
  });

  it.each([/order-\d+/, /^order-\d+$/, /order-\d+/g, /order-\d+/y, /^order-\d+$/m, /x|order-\d+/u])(
    "the pattern %s applies to the whole key, and gives the same result each time",
    async (pattern) => {
      const { call, runs } = given(pattern);

      for (let time = 0; time < 3; time++) expect(await call("order-7")).toBe(1);
      for (const key of ["order-", "a order-7", "order-7b", "order-7\u2028b", "a\u2029order-7"])
        await expect(call(key)).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_INVALID" });
      expect(runs()).toBe(1);
      expect(pattern.lastIndex).toBe(0);
    },
  );

  it("accepts every key if it is not set", async () => {
    expect(await given(undefined).call("anything at all")).toBe(1);
  });

  it("is checked after the length, so a pattern never sees more than 255 characters", async () => {
    const slow = /(a+)+b/;

    await expect(given(slow).call("a".repeat(100_000))).rejects.toThrow("1 to 255 characters");
  });
});
