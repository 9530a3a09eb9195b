// Signed webhooks on real servers: the key is read from the body's bytes, which a server reads before its key.
import { keyFromWebhook } from "onceonly";
import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import { post, SERVERS } from "./given.ts";

const SECRET = "whsec_now";
const bodyOf = (pending: number) => JSON.stringify({ id: "evt_1", pending_webhooks: pending });
const signed = (payload: string, secret = SECRET) => ({
  key: null,
  body: payload,
  headers: { "Stripe-Signature": Stripe.webhooks.generateTestHeaderString({ payload, secret }) },
});

describe.each(Object.entries(SERVERS))("keyFromWebhook on %s", (_, start) => {
  const key = keyFromWebhook("stripe", { secret: [SECRET, "whsec_next"] });

  it("R8: runs once for an event and its retry with another body, and the handler reads each body", async () => {
    const keys: string[] = [];
    const site = await start({ key, scope: () => "stripe" }, (execution, text) => {
      keys.push(execution.key);
      return { status: 200, body: text };
    });

    const first = await post(site, signed(bodyOf(2)));
    const retried = await post(site, signed(bodyOf(1), "whsec_next"));

    expect([first.status, first.text, first.replayed]).toEqual([200, bodyOf(2), null]);
    expect([retried.status, retried.text, retried.replayed]).toEqual([200, bodyOf(2), "true"]);
    expect(keys).toEqual(["evt_1"]);
  });

  it("R8: answers 401 to a forged event, and runs nothing", async () => {
    let runs = 0;
    const site = await start({ key, scope: () => "stripe" }, () => ({ status: ++runs }));

    const forged = await post(site, signed(bodyOf(1), "whsec_guessed"));
    const unsigned = await post(site, { key: null, body: bodyOf(1) });

    expect([forged.status, unsigned.status, runs]).toEqual([401, 401, 0]);
  });
});

it.each(["the Fetch API", "Hono"] as const)(
  "R8: %s answers 413 to a body that is too large to verify",
  async (name) => {
    const key = keyFromWebhook("stripe", { secret: SECRET });
    const site = await SERVERS[name]({ key, maxRequestBytes: 10 } as never, () => ({}));

    expect(await post(site, signed(bodyOf(1)))).toMatchObject({ status: 413 });
  },
);
