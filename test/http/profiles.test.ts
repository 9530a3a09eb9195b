// Profiles on real servers, and under Stripe's own client.
import { acpProfile, stripeProfile } from "onceonly";
import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import { post, SERVERS } from "./given.ts";

describe.each(Object.entries(SERVERS))("profiles on %s", (_, start) => {
  it("R9: acpProfile repeats the key in every response, and its errors are flat", async () => {
    const site = await start({ profile: acpProfile }, () => ({ status: 201, body: "made" }));

    const answers = [];
    for (const sent of [{}, {}, { body: "other" }, { key: null }]) answers.push(await post(site, sent));

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 422, 400]);
    expect(answers.map(({ headers }) => headers.get("idempotency-key"))).toEqual([
      "key-1",
      "key-1",
      "key-1",
      null,
    ]);
    expect(JSON.parse(answers[2]!.text)).toEqual({
      type: "invalid_request",
      code: "idempotency_conflict",
      message: expect.stringContaining("different payload"),
    });
    expect(JSON.parse(answers[3]!.text)).toMatchObject({ code: "idempotency_key_required" });
  });
});

it("R9: Stripe's client reads a conflict as its StripeIdempotencyError", async () => {
  const site = await SERVERS["the Fetch API"]({ profile: stripeProfile }, (_, text) => ({
    body: JSON.stringify({ id: "cus_1", object: "customer", text }),
  }));
  const { hostname, port } = new URL(site.url);
  const stripe = new Stripe("sk_test_1", { host: hostname, port, protocol: "http", maxNetworkRetries: 0 });
  const create = (email: string) => stripe.customers.create({ email }, { idempotencyKey: "k1" });

  const [first, again] = [await create("a@example.com"), await create("a@example.com")];
  const conflict = await create("b@example.com").catch((error: unknown) => error);

  expect([first.id, again.id]).toEqual(["cus_1", "cus_1"]);
  expect(again.lastResponse.headers["idempotent-replayed"]).toBe("true");
  expect(conflict).toMatchObject({ type: "StripeIdempotencyError", statusCode: 400 });
});
