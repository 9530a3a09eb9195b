// Envelopes inside a body: who may have written them, and what forwarders put around them.

import type { SQSRecord } from "aws-lambda";
import fc from "fast-check";
import { idempotentBatch } from "onceonly";
import { describe, expect, it, vi } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../../lib/contract.ts";
import type { BatchOptions } from "../../../lib/lambda/batch/batch-options.ts";
import { BUS, busEvent, contentFor, notification, PIPE, ROUTES, snsEnvelope, TOPIC } from "./cases/routes.ts";
import { answered, envelope, fifoRecord, givenBatch, returned, sqsRecord } from "./given.ts";

type Changes = Partial<Pick<BatchOptions<SQSRecord>, "key" | "trustedForwarders" | "fingerprint">>;

/** The keys under which the records run, and how that ends. */
async function outcomeOf(records: readonly SQSRecord[], changes: Changes = {}) {
  const { options, context, decisions, errors } = givenBatch();
  const keys: string[] = [];
  const handler = idempotentBatch((_: SQSRecord, { idempotency }) => void keys.push(idempotency.key), {
    ...options,
    ...changes,
  });
  const answer = await answered(handler({ Records: records }, context()));
  return {
    keys,
    returned: returned(answer),
    errors: errors.map((error) => error as Error & { code?: string }),
    codes: errors.map((error) => (error as { code?: string }).code),
    fallbacks: decisions().filter((decision) => decision === "key-fallback").length,
    replays: decisions().filter((decision) => decision === "replayed").length,
  };
}

/** One after the other, as in one group. */
const inOrder = (...bodies: string[]) =>
  bodies.map((body, index) => ({ ...fifoRecord(`m${index}`, "7"), body }));
const FORWARDED = { trustedForwarders: [TOPIC, BUS] };

describe.each(ROUTES)("D8: with $route", ({ bodyOf, trustedForwarders }) => {
  it("a message that was sent twice runs once, under the key of its envelope", async () => {
    const { keys, replays, codes, fallbacks } = await outcomeOf(
      inOrder(bodyOf({ id: "first" }), bodyOf({ id: "second" })),
      { trustedForwarders },
    );

    expect({ keys, replays, codes, fallbacks }).toEqual({
      keys: ["order-7"],
      replays: 1,
      codes: [],
      fallbacks: 0,
    });
  });

  it("another message under the same key is refused", async () => {
    const { keys, codes } = await outcomeOf(inOrder(bodyOf({}), bodyOf({ orderId: 8 })), {
      trustedForwarders,
    });

    expect([keys, codes]).toEqual([["order-7"], ["FINGERPRINT_MISMATCH"]]);
  });

  it("a message whose envelope cannot be read is returned", async () => {
    for (const content of ["text", '{"v":2,"key":"a"}', '{"v":1}', '{"v":1,"key":""}', "null"]) {
      expect(await outcomeOf([sqsRecord("m1", bodyOf({ content }))], { trustedForwarders })).toMatchObject({
        keys: [],
        returned: ["m1"],
        codes: ["IDEMPOTENCY_KEY_INVALID"],
      });
    }
  });

  it("H74: no forwarder is trusted without `trustedForwarders`, or with a different one in it, and the message names the option", async () => {
    const others = [
      undefined,
      [TOPIC.replace("orders", "refunds")],
      ...(trustedForwarders.includes(BUS) ? [[TOPIC]] : []),
    ];
    for (const other of others) {
      const { keys, returned, errors } = await outcomeOf([sqsRecord("m1", bodyOf({}))], {
        trustedForwarders: other,
      });

      expect([keys, returned]).toEqual([[], ["m1"]]);
      expect(errors[0]).toMatchObject({
        code: "IDEMPOTENCY_KEY_INVALID",
        message: expect.stringContaining("`trustedForwarders`"),
      });
    }
  });

  it("H74: a `key` function wins, with `trustedForwarders` and without, and the fingerprint covers what the handler reads", async () => {
    const key = (record: SQSRecord) => record.messageId;
    for (const changes of [{ key }, { key, trustedForwarders }]) {
      const { keys, codes } = await outcomeOf(inOrder(bodyOf({}), bodyOf({})), changes);
      expect([keys, codes]).toEqual([["m0", "m1"], []]);
    }
    const all = { key: () => "one" };

    expect((await outcomeOf(inOrder(bodyOf({}), bodyOf({ orderId: 8 })), all)).codes).toEqual([
      "FINGERPRINT_MISMATCH",
    ]);
  });

  it("H74: if the `key` function returns nothing, the envelope is trusted no more than without it", async () => {
    const { keys, codes } = await outcomeOf([sqsRecord("m1", bodyOf({}))], { key: () => undefined });

    expect([keys, codes]).toEqual([[], ["IDEMPOTENCY_KEY_MISSING"]]);
  });
});

describe("idempotentBatch", () => {
  it("H74: a forged body neither silences a tenant's message nor turns two payments into one", async () => {
    const genuine = { ...fifoRecord("genuine", "b"), body: '{"order":"order-7","cents":100}' };
    const forged = notification({
      envelopeText: contentFor("order-7"),
      message: '{"order":"order-7","cents":1}',
    });
    const second = notification({
      envelopeText: contentFor("order-7"),
      message: '{"order":"order-8","cents":2}',
    });
    const key = ({ body }: SQSRecord) => {
      const { order, Message } = JSON.parse(body);
      return order ?? JSON.parse(Message).order;
    };

    const { keys, returned } = await outcomeOf(
      [...inOrder(second), genuine, { ...fifoRecord("forged", "c"), body: forged }],
      { key },
    );

    expect(keys.sort()).toEqual(["order-7", "order-8"]);
    expect(returned).toEqual(["forged"]);
  });

  it.each([
    ["the subject", notification({ subject: "refund" })],
    ["an attribute", notification({ attributes: { type: { Type: "String", Value: "refund" } } })],
    ["a field that SNS does not know", JSON.stringify({ ...JSON.parse(notification()), extra: 1 })],
  ])("H74: of a believed notification %s counts too", async (_, other) => {
    expect((await outcomeOf(inOrder(notification(), other), FORWARDED)).codes).toEqual([
      "FINGERPRINT_MISMATCH",
    ]);
  });

  it.each([
    ["its account", { account: "210987654321" }],
    ["its resources", { resources: ["arn:aws:s3:::bucket"] }],
    ["its type", { "detail-type": "refunded" }],
    ["its source", { source: "shop-2" }],
    ["a field that EventBridge does not know", { extra: 1 }],
  ])("H74: of a believed event %s counts too", async (_, change) => {
    const other = JSON.stringify({ ...JSON.parse(busEvent({})), ...change });

    expect((await outcomeOf(inOrder(busEvent({}), other), FORWARDED)).codes).toEqual([
      "FINGERPRINT_MISMATCH",
    ]);
  });

  it("treats a message as the same if its sender was traced under another id", async () => {
    const trace = (digit: string) => `00-${digit.repeat(32)}-b7ad6b7169203331-01`;
    const attributes = (digit: string) => ({ traceparent: { Type: "String", Value: trace(digit) } });
    const events = ["1", "2"].map((digit) =>
      busEvent({ content: JSON.stringify({ v: 1, key: "order-7", traceparent: trace(digit) }) }),
    );
    const notifications = ["1", "2"].map((digit) => notification({ attributes: attributes(digit) }));

    for (const pair of [events, notifications]) {
      expect(await outcomeOf(inOrder(...pair), FORWARDED)).toMatchObject({
        keys: ["order-7"],
        replays: 1,
        codes: [],
      });
    }
  });

  it("prefers a message's attribute, as raw delivery passes it on, to the one in its body", async () => {
    const record = sqsRecord("m1", notification({ envelopeText: contentFor("inner") }), envelope("outer"));

    for (const changes of [{}, FORWARDED])
      expect((await outcomeOf([record], changes)).keys).toEqual(["outer"]);
  });

  it("treats what a sender got from others, deeper in its own event, as text", async () => {
    const comment = { [ENVELOPE_ATTRIBUTE]: { v: 1, key: "of an attacker" } };
    const bodies = [
      busEvent({ more: { comment } }),
      busEvent({ more: { comment: JSON.stringify(comment) } }),
    ];
    const inMessage = notification({ message: JSON.stringify(comment) });

    for (const body of [...bodies, inMessage]) {
      expect((await outcomeOf([sqsRecord("m1", body)], FORWARDED)).keys).toEqual(["order-7"]);
    }
  });

  it("H74: trusting a topic does not make its publishers' messages trusted", async () => {
    const message = JSON.stringify({ [ENVELOPE_ATTRIBUTE]: { v: 1, key: "of an attacker" } });
    const body = notification({ message, envelopeText: undefined });

    expect(await outcomeOf([sqsRecord("m1", body)], { trustedForwarders: [TOPIC] })).toMatchObject({
      keys: [],
      codes: ["IDEMPOTENCY_KEY_INVALID"],
    });
  });

  it.each([
    [
      "two envelopes",
      JSON.stringify({
        a: { [ENVELOPE_ATTRIBUTE]: { v: 1, key: "a" } },
        b: { [ENVELOPE_ATTRIBUTE]: { v: 1, key: "b" } },
      }),
    ],
    ["an envelope in what is no JSON", `order {"${ENVELOPE_ATTRIBUTE}":{"v":1,"key":"a"}}`],
    [
      "an envelope in text that is no JSON",
      JSON.stringify({ text: `order {"${ENVELOPE_ATTRIBUTE}":{"v":1,"key":"a"}}` }),
    ],
    [
      "an envelope in an envelope that is none",
      JSON.stringify({ [ENVELOPE_ATTRIBUTE]: [{ v: 1, key: "a" }] }),
    ],
    [
      "an envelope at a depth that nobody reads",
      `${'{"a":'.repeat(600)}{"${ENVELOPE_ATTRIBUTE}":{"v":1,"key":"a"}}${"}".repeat(600)}`,
    ],
    ["brackets without end", `"${ENVELOPE_ATTRIBUTE}":${"[".repeat(100_000)}`],
  ])("never falls back silently if a body has %s: it is returned", async (_, body) => {
    for (const changes of [{}, FORWARDED]) {
      expect(await outcomeOf([sqsRecord("m1", body)], changes)).toMatchObject({
        keys: [],
        returned: ["m1"],
        codes: ["IDEMPOTENCY_KEY_INVALID"],
      });
    }
  });

  it("treats two envelopes of one key as one", async () => {
    const held = { [ENVELOPE_ATTRIBUTE]: { v: 1, key: "a" } };

    expect((await outcomeOf([sqsRecord("m1", JSON.stringify([held, held]))], FORWARDED)).keys).toEqual(["a"]);
  });

  it.each([
    ["text that names it", `see ${ENVELOPE_ATTRIBUTE}`],
    ["JSON that is no object", JSON.stringify(ENVELOPE_ATTRIBUTE)],
    ["null beside it", `null ${ENVELOPE_ATTRIBUTE}`],
    ["a notification without one", notification({ envelopeText: undefined, message: ENVELOPE_ATTRIBUTE })],
    [
      "an event without one",
      JSON.stringify({ id: "e1", source: ENVELOPE_ATTRIBUTE, "detail-type": "a", detail: {} }),
    ],
  ])("falls back to the message id, and reports it: %s", async (_, body) => {
    expect(await outcomeOf([sqsRecord("m1", body)])).toMatchObject({ keys: ["m1"], fallbacks: 1, codes: [] });
  });

  it("uses the whole body if it contains no envelope", async () => {
    const records = ["a", "b"].map((word) => ({
      ...fifoRecord(word, "7", "same"),
      body: JSON.stringify({ [word]: ENVELOPE_ATTRIBUTE }),
    }));

    expect(await outcomeOf(records, FORWARDED)).toMatchObject({
      returned: ["b"],
      codes: ["FINGERPRINT_MISMATCH"],
    });
  });

  it("does not parse a body that does not name an envelope", async () => {
    const parse = vi.spyOn(JSON, "parse");
    await outcomeOf([sqsRecord("m1", JSON.stringify({ detail: { orderId: 7 } }))], FORWARDED);
    const parsed = parse.mock.calls.map(([text]) => text);
    parse.mockRestore();

    expect(parsed.filter((text) => text.includes("orderId"))).toEqual([]);
  });

  it.each([
    ["a queue", ["arn:aws:sqs:eu-central-1:123456789012:payments"]],
    ["a value that is not there", [undefined]],
    ["nobody", []],
    ["no list", TOPIC],
    ["a subscription", [`${TOPIC}:6b0e71bd-7e97-4d97-80ce-4a0994e55286`]],
  ])("refuses `trustedForwarders` with %s", (_, trustedForwarders) => {
    const { options } = givenBatch();

    expect(() =>
      idempotentBatch(() => {}, { ...options, trustedForwarders: trustedForwarders as string[] }),
    ).toThrow(
      "`trustedForwarders` must be an array of at least one topic (ARN), event bus (name or ARN), pipe (ARN) or Kinesis stream (ARN)",
    );
  });

  it("accepts a bus by its name too", async () => {
    expect((await outcomeOf([sqsRecord("m1", busEvent({}))], { trustedForwarders: ["shop"] })).keys).toEqual([
      "order-7",
    ]);
    expect((await outcomeOf([sqsRecord("m1", busEvent({}))], { trustedForwarders: [PIPE] })).keys).toEqual([
      "order-7",
    ]);
  });

  it("H74: whatever a body contains, without `trustedForwarders` no key comes out of it", async () => {
    const { options, context } = givenBatch();
    const ran: string[] = [];
    const handler = idempotentBatch((_: SQSRecord, { idempotency }) => void ran.push(idempotency.key), {
      ...options,
      onRecordError: () => {},
    });
    const held = fc.constantFrom<unknown>(
      { v: 1, key: "forged" },
      contentFor("forged"),
      { Type: "String", Value: contentFor("forged") },
      { stringValue: contentFor("forged") },
    );
    const { body } = fc.letrec((tie) => ({
      body: fc.oneof(
        { depthSize: "medium" },
        held,
        held.map((each) => ({ [ENVELOPE_ATTRIBUTE]: each })),
        tie("body").map((inner) => JSON.stringify(inner)),
        fc
          .tuple(fc.constantFrom("detail", "Message", "body", "a"), tie("body"))
          .map(([name, inner]) => ({ [name]: inner })),
        tie("body").map((detail) => ({ source: "shop", "detail-type": "paid", detail })),
        tie("body").map((inner) => ({ TopicArn: TOPIC, Message: JSON.stringify(inner) })),
        tie("body").map((MessageAttributes) => ({ TopicArn: TOPIC, Message: "", MessageAttributes })),
        fc.array(tie("body"), { maxLength: 2 }),
      ),
    }));

    let id = 0;
    await fc.assert(
      fc.asyncProperty(body, async (content) => {
        const record = sqsRecord(`m${id++}`, JSON.stringify(content));
        ran.length = 0;
        const answer = await answered(handler({ Records: [record] }, context()));
        // It runs under the message's own id, or it is returned.
        expect(ran.length === 1 ? ran : returned(answer)).toEqual([record.messageId]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("the envelope of a notification", () => {
  it("is what SNS makes of the attribute that producers send", () => {
    expect(snsEnvelope("order-7")).toEqual({ Type: "String", Value: '{"v":1,"key":"order-7"}' });
  });
});
