// Real providers' deliveries: signed as their own libraries sign them, or as their documentation shows.
import crypto, { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { httpIdempotent, keyFromWebhook, type WebhookProvider } from "onceonly";
import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import Stripe from "stripe";
import { describe, expect, it, vi } from "vitest";
import { EVENT_FORMS, type RequestParts, v2Event } from "./given.ts";

const clock = fakeClock();
const now = () => Math.floor(clock.now() / 1000);
const hmac = (secret: string | Buffer, content: string, encoding: "hex" | "base64") =>
  createHmac("sha256", secret).update(content).digest(encoding);

interface Delivered {
  readonly secret: string;
  readonly body?: string;
  readonly id?: string;
  /** Seconds. */
  readonly time?: number;
}
type Headers = Readonly<Record<string, string>>;

const WHSEC = `whsec_${Buffer.from("a secret of 24 bytes, ok").toString("base64")}`;
const OTHER_WHSEC = `whsec_${Buffer.from("a secret of 24 bytes, no").toString("base64")}`;

const stripeBody = (pending: number, id = "evt_1") =>
  JSON.stringify({ id, type: "invoice.paid", pending_webhooks: pending, data: { object: { id: "in_1" } } });

const SENT: Readonly<Record<WebhookProvider, (delivered: Delivered) => Headers>> = {
  stripe: ({ secret, body = stripeBody(1), time = now() }) => ({
    "Stripe-Signature": Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: time }),
  }),
  github: ({ secret, body = "{}", id = "72d3162e-cc78-11e3-81ab-4c9367dc0958" }) => ({
    "X-GitHub-Delivery": id,
    "X-Hub-Signature-256": `sha256=${hmac(secret, body, "hex")}`,
  }),
  shopify: ({ secret, body = "{}", id = "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043" }) => ({
    "X-Shopify-Topic": "orders/create",
    "X-Shopify-Event-Id": id,
    "X-Shopify-Hmac-Sha256": hmac(secret, body, "base64"),
  }),
  "standard-webhooks": ({ secret, body = "{}", id = "msg_1", time = now() }) => ({
    "webhook-id": id,
    "webhook-timestamp": `${time}`,
    "webhook-signature": `v1,${hmac(Buffer.from(secret.replace("whsec_", ""), "base64"), `${id}.${time}.${body}`, "base64")}`,
  }),
};

const PROVIDERS: readonly (readonly [
  provider: WebhookProvider,
  body: string,
  secret: string,
  other: string,
])[] = [
  ["stripe", stripeBody(1), "whsec_now", "whsec_next"],
  ["github", '{"action":"opened"}', "It's a Secret to Everybody", "another"],
  ["shopify", '{"id":820982911946154500}', "hush", "another"],
  ["standard-webhooks", '{"type":"contact.created"}', WHSEC, OTHER_WHSEC],
];

function receiver(provider: WebhookProvider, secret: string | readonly string[], more: object = {}) {
  const runs: string[] = [];
  const handler = httpIdempotent(
    async (event: { body?: string | null }, { idempotency }) => {
      runs.push(idempotency.key);
      return { statusCode: 200, body: `${runs.length} ${event.body?.length}` };
    },
    {
      operation: "webhook",
      store: new MemoryStore(),
      scope: "public",
      clock,
      key: keyFromWebhook(provider, { secret, clock, ...more }),
    },
  );
  const send = (event: object) =>
    handler(event, fakeLambdaContext({ clock })) as Promise<{
      statusCode: number;
      body: string;
      headers?: Headers;
      multiValueHeaders?: object;
    }>;
  return { runs, send };
}

const inBase64 = (parts: RequestParts): RequestParts => ({
  ...parts,
  body: Buffer.from(parts.body!).toString("base64"),
  isBase64Encoded: true,
});

describe.each(PROVIDERS)("keyFromWebhook: %s", (provider, body, secret, other) => {
  const headersBy = (by: string, more: object = {}) => SENT[provider]({ secret: by, body, ...more });
  const twice = (parts: RequestParts) => [parts, inBase64(parts)];

  it.each(EVENT_FORMS)(
    "R8: runs once for a delivery and its retry, as text and in base64: %s",
    async (_, eventOf) => {
      const { runs, send } = receiver(provider, secret);

      const answers = [];
      for (const parts of twice({ headers: headersBy(secret), body }))
        answers.push(await send(eventOf(parts)));

      expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
      expect(JSON.stringify(answers[1])).toMatch(/"Idempotent-Replayed":(\["true"\]|"true")/);
      expect(runs).toHaveLength(1);
    },
  );

  it("H88: R8: accepts either secret while they are rotated, and header names in any case", async () => {
    const { runs, send } = receiver(provider, [secret, other]);
    const upper = Object.fromEntries(
      Object.entries(headersBy(other)).map(([name, value]) => [name.toUpperCase(), value]),
    );

    const first = await send({ ...v2Event({ body }), headers: upper });
    const second = await send(v2Event({ headers: headersBy(secret), body }));

    expect([first.statusCode, second.statusCode, runs.length]).toEqual([200, 200, 1]);
  });

  it.each<[string, RequestParts]>([
    ["no header", { body }],
    ["another secret", { headers: headersBy("whsec_b3RoZXI="), body }],
    ["an empty secret", { headers: headersBy(""), body }],
    ["another body", { headers: headersBy(secret), body: `${body} ` }],
    ["no body", { headers: headersBy(secret), body: "" }],
  ])("R8: answers 401 to a request with %s, and runs nothing", async (_, parts) => {
    const { runs, send } = receiver(provider, secret);

    const answer = await send(v2Event(parts));

    expect(answer).toMatchObject({ statusCode: 401 });
    expect(answer.body).not.toContain(secret);
    expect(runs).toEqual([]);
  });

  it("R8: refuses a parsed body, and says what to do", async () => {
    const { send } = receiver(provider, secret);

    await expect(send({ ...v2Event({ headers: headersBy(secret) }), body: { id: 1 } })).rejects.toThrow(
      "`key` needs the body as it was sent: use onceonly before the body parser",
    );
  });

  it.each([
    ["undefined", undefined, "`secret` must be"],
    ["empty", "", "`secret` must be"],
    ["a list without any", [], "`secret` must have at least one"],
    ["a list that a trailing comma made", `${secret},`.split(","), "`secret[1]` must be"],
    ["a list with a space after a comma", [secret, ` ${other}`], "`secret[1]` must be"],
  ])("R8: throws when it is built with a secret that is %s, without showing any", (_, given, message) => {
    const build = () => keyFromWebhook(provider, { secret: given });

    expect(build).toThrow(message);
    expect(build).not.toThrow(secret);
  });
});

describe("keyFromWebhook", () => {
  it.each([
    ["stripe", "whsec_x", stripeBody(1)],
    ["standard-webhooks", WHSEC, "{}"],
  ] as const)(
    "R8: %s: the signed time may be 300 seconds off, either way",
    async (provider, secret, body) => {
      const statuses = [];
      for (const seconds of [-301, -300, 300, 301, Number.NaN]) {
        const { send } = receiver(provider, secret);
        const headers = SENT[provider]({ secret, body, time: now() + seconds });
        statuses.push((await send(v2Event({ headers, body }))).statusCode);
      }

      expect(statuses).toEqual([401, 200, 200, 401, 401]);
    },
  );

  it("R8: takes another tolerance", async () => {
    const { send } = receiver("stripe", "whsec_x", { toleranceSeconds: 86_400 });
    const body = stripeBody(1);
    const headers = SENT.stripe({ secret: "whsec_x", body, time: now() - 80_000 });

    expect(await send(v2Event({ headers, body }))).toMatchObject({ statusCode: 200 });
  });

  it("H88: R8: Stripe's retry has another body, time and signature, days later, and is a replay", async () => {
    const { runs, send } = receiver("stripe", "whsec_x");
    const deliver = (pending: number, id?: string) => {
      const body = stripeBody(pending, id);
      return send(v2Event({ headers: SENT.stripe({ secret: "whsec_x", body }), body }));
    };

    await deliver(2);
    await clock.advance(3 * 86_400_000);
    const retried = await deliver(1);
    await deliver(1, "evt_2");

    expect(retried).toMatchObject({ statusCode: 200, headers: { "Idempotent-Replayed": "true" } });
    expect(runs).toEqual(["evt_1", "evt_2"]);
  });

  it("R8: reads a thin event of Stripe, and refuses a signed body without an id", async () => {
    const { runs, send } = receiver("stripe", "whsec_x");
    const deliver = (body: string) =>
      send(v2Event({ headers: SENT.stripe({ secret: "whsec_x", body }), body }));
    const thin = { object: "v2.core.event", id: "evt_test_65R", type: "v1.paid", related_object: null };

    expect(await deliver(JSON.stringify(thin))).toMatchObject({ statusCode: 200 });
    expect(await deliver('{"id":7}')).toMatchObject({ statusCode: 400 });
    expect(await deliver("id=evt_1")).toMatchObject({ statusCode: 400 });
    expect(runs).toEqual(["evt_test_65R"]);
  });

  it.each<[string, (t: number, v1: string) => string, number]>([
    ["a signature by an unknown secret first", (t, v1) => `t=${t},v1=${"0".repeat(64)},v1=${v1}`, 200],
    ["a `v0` first, and spaces", (t, v1) => `v0=${v1}, t=${t}, v1=${v1}`, 200],
    ["only a `v0`", (t, v1) => `t=${t},v0=${v1}`, 401],
    ["two times", (t, v1) => `t=${t},t=${t + 1},v1=${v1}`, 401],
    ["no time", (_, v1) => `v1=${v1}`, 401],
    ["a shorter signature", (t, v1) => `t=${t},v1=${v1.slice(0, 32)}`, 401],
  ])("H88: R8: Stripe's header with %s", async (_, headerOf, statusCode) => {
    const { send } = receiver("stripe", "whsec_x");
    const body = stripeBody(1);
    const header = headerOf(now(), hmac("whsec_x", `${now()}.${body}`, "hex"));

    expect(await send(v2Event({ headers: { "stripe-signature": header }, body }))).toMatchObject({
      statusCode,
    });
  });

  it("R8: verifies the example in GitHub's documentation", () => {
    const key = keyFromWebhook("github", { secret: "It's a Secret to Everybody" });
    const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    const headers = { "x-hub-signature-256": signature, "x-github-delivery": "d1" };

    expect(key(v2Event({ headers, body: "Hello, World!" }))).toBe("d1");
  });

  it("R8: signs a byte that isn't UTF-8 as it is", () => {
    const body = Buffer.from([0xff, 0x00, 0xfe]);
    const signature = createHmac("sha256", "s").update(body).digest("base64");
    const headers = {
      "x-shopify-hmac-sha256": signature,
      "x-shopify-topic": "t",
      "x-shopify-event-id": "w1",
    };
    const event = v2Event({ headers, body: body.toString("base64"), isBase64Encoded: true });

    expect(keyFromWebhook("shopify", { secret: "s" })(event)).toBe("t/w1");
  });

  it("R8: runs for each topic of a Shopify event, and once for two subscriptions to one topic", async () => {
    const { runs, send } = receiver("shopify", "s");
    const deliver = (topic: string, webhook: string) => {
      const headers = {
        ...SENT.shopify({ secret: "s" }),
        "X-Shopify-Topic": topic,
        "X-Shopify-Webhook-Id": webhook,
      };
      return send(v2Event({ headers, body: "{}" }));
    };

    for (const [topic, webhook] of [
      ["orders/create", "1"],
      ["orders/paid", "2"],
      ["orders/create", "3"],
    ] as const)
      expect(await deliver(topic, webhook)).toMatchObject({ statusCode: 200 });

    expect(runs).toHaveLength(2);
  });

  it.each<[WebhookProvider, string, (signature: string) => Headers]>([
    ["stripe", "s", (one) => ({ "stripe-signature": `t=${now()}${`,v1=${one}`.repeat(9000)}` })],
    [
      "standard-webhooks",
      WHSEC,
      (one) => ({
        "webhook-id": "i",
        "webhook-timestamp": `${now()}`,
        "webhook-signature": `v1,${Buffer.from(one, "hex").toString("base64")} `.repeat(9000),
      }),
    ],
  ])("R8: compares at most 16 signatures of one request: %s", async (provider, secret, headersOf) => {
    const compare = vi.spyOn(crypto, "timingSafeEqual");
    syncBuiltinESMExports();
    const key = keyFromWebhook(provider, {
      secret: [secret, provider === "stripe" ? "t" : OTHER_WHSEC],
      clock,
    });

    for (const [one, count] of [
      ["ab".repeat(32), 32],
      ["ab".repeat(31), 0],
    ] as const) {
      compare.mockClear();
      expect(() => key(v2Event({ headers: headersOf(one), body: stripeBody(1) }))).toThrow("has no");
      expect(compare).toHaveBeenCalledTimes(count);
    }
    compare.mockRestore();
    syncBuiltinESMExports();
  });

  it("R8: answers 400 to a signed delivery without its id, and 422 to an id with another body", async () => {
    const { send } = receiver("github", "s");
    const deliver = (id: string, body: string) =>
      send(v2Event({ headers: SENT.github({ secret: "s", id, body }), body }));

    expect(await deliver("", "{}")).toMatchObject({ statusCode: 400 });
    expect(await deliver("d1", "{}")).toMatchObject({ statusCode: 200 });
    expect(await deliver("d1", "[]")).toMatchObject({ statusCode: 422 });
  });

  describe("Standard Webhooks", () => {
    const body = '{"test": 2432232314}';
    const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const time = 1_614_265_330;
    const vector = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    const keyAt = (secret: string) =>
      keyFromWebhook("standard-webhooks", { secret, clock: { now: () => time * 1000 } });
    const read = (secret: string, signature: string, name = "webhook", sentId = id) =>
      keyAt(secret)(
        v2Event({
          headers: {
            [`${name}-id`]: sentId,
            [`${name}-timestamp`]: `${time}`,
            [`${name}-signature`]: signature,
          },
          body,
        }),
      );
    const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    it.each([
      ["with its prefix", SECRET, vector, "webhook"],
      ["without its prefix", SECRET.slice(6), vector, "webhook"],
      ["under Svix's names", SECRET, vector, "svix"],
      ["after another signature", SECRET, `v1,${Buffer.alloc(32).toString("base64")} ${vector}`, "webhook"],
      [
        "on two lines that a gateway joined",
        SECRET,
        `v1,${Buffer.alloc(32).toString("base64")},${vector}`,
        "webhook",
      ],
    ])("R8: accepts the libraries' example %s", (_, secret, signature, name) => {
      expect(read(secret, signature, name)).toBe(id);
    });

    it("R8: accepts ed25519 signatures by the sender's key only", () => {
      const keys = [1, 2].map(() => generateKeyPairSync("ed25519"));
      const publicOf = (key: KeyObject) =>
        `whpk_${Buffer.from(key.export({ format: "jwk" }).x!, "base64url").toString("base64")}`;
      const signature = `v1a,${sign(null, Buffer.from(`${id}.${time}.${body}`), keys[0]!.privateKey).toString("base64")}`;

      expect(read(publicOf(keys[0]!.publicKey), signature)).toBe(id);
      expect(() => read(publicOf(keys[1]!.publicKey), signature)).toThrow("no standard-webhooks signature");
      expect(() => read(publicOf(keys[0]!.publicKey), vector)).toThrow("no standard-webhooks signature");
    });

    it("R8: refuses an id with a dot, which could be a part of the body", () => {
      const dotted = "msg_1.1";
      const key = Buffer.from(SECRET.slice(6), "base64");
      const signature = `v1,${hmac(key, `${dotted}.${time}.${body}`, "base64")}`;

      expect(() => read(SECRET, signature, "webhook", dotted)).toThrow("no standard-webhooks signature");
    });

    it.each([
      "whsec_",
      "whsec_c2hvcnQ=",
      "not base64!",
      "whpk_c2hvcnQ=",
      "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ])("R8: throws when it is built with %s", (secret) => {
      expect(() => keyAt(secret)).toThrow("`secret` must be a secret (`whsec_`");
    });
  });

  it.each([
    [() => keyFromWebhook("Stripe" as never, { secret: "s" }), 'did you mean "stripe"?'],
    [() => keyFromWebhook("github", { secret: "s", toleranceSeconds: 60 }), "because github signs no time"],
    [() => keyFromWebhook("stripe", { secret: "s", toleranceSeconds: 0 }), "`toleranceSeconds` must be"],
    [() => keyFromWebhook("stripe", { secrets: "s" } as never), "did you mean `secret`?"],
    [() => keyFromWebhook("stripe", undefined as never), "`options` must be an object"],
  ])("R8: refuses wrong options when it is built: %#", (build, message) => {
    expect(build).toThrow(message);
  });
});
