// What SNS (without raw delivery) and EventBridge put around a message that they forward to a queue.
import type { SQSRecord } from "aws-lambda";
import { idempotentBatch } from "onceonly";
import { describe, expect, it, vi } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../../lib/contract.ts";
import { envelopeContent, writeEnvelope } from "../../../lib/messaging/envelope.ts";
import { envelope, fifoRecord, givenBatch, returned, sqsRecord } from "./sqs-records.ts";

const textOf = (key: string) => writeEnvelope({ key })[ENVELOPE_ATTRIBUTE]?.StringValue;

/** https://docs.aws.amazon.com/sns/latest/dg/sns-large-payload-raw-message-delivery.html */
const notification = (id: string, envelopeText = textOf("order-7"), Message = "paid") =>
  JSON.stringify({
    Type: "Notification",
    MessageId: id,
    TopicArn: "arn:aws:sns:eu-central-1:123456789012:orders",
    Message,
    Timestamp: `2026-01-01T00:00:0${id.length}.000Z`,
    Signature: `signature of ${id}`,
    MessageAttributes: { [ENVELOPE_ATTRIBUTE]: { Type: "String", Value: envelopeText } },
  });

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html */
const busEvent = (id: string, content: unknown = envelopeContent({ key: "order-7" }), orderId = 7) =>
  JSON.stringify({
    version: "0",
    id,
    "detail-type": "paid",
    source: "shop",
    time: `2026-01-01T00:00:0${id.length}Z`,
    detail: { orderId, [ENVELOPE_ATTRIBUTE]: content },
  });

/** The keys under which the records run, and how that ends. */
async function outcomeOf(...records: SQSRecord[]) {
  const { options, context, decisions, errors } = givenBatch();
  const keys: string[] = [];
  const handler = idempotentBatch(
    (_: SQSRecord, { idempotency }) => void keys.push(idempotency.key),
    options,
  );
  const answer = await handler({ Records: records }, context());
  return {
    keys,
    returned: returned(answer),
    codes: errors.map((error) => (error as { code?: string }).code),
    fallbacks: decisions().filter((decision) => decision === "key-fallback").length,
    replays: decisions().filter((decision) => decision === "replayed").length,
  };
}

describe.each([
  ["SNS without raw delivery", notification, ["", "no JSON", '{"v":2,"key":"a"}', '{"v":1}']],
  ["EventBridge", busEvent as typeof notification, ["text", {}, { v: 2, key: "a" }, { v: 1, key: "" }]],
] as const)("idempotentBatch behind %s", (_, bodyOf, unreadable) => {
  it("runs a message that was sent twice once, under the key of its envelope", async () => {
    const records = ["m1", "m2"].map((id) => ({
      ...fifoRecord(id, "7"),
      body: bodyOf(`id-${id.repeat(2)}`),
    }));
    records[1]!.body = bodyOf("other");

    expect(await outcomeOf(...records)).toEqual({
      keys: ["order-7"],
      returned: [],
      codes: [],
      fallbacks: 0,
      replays: 1,
    });
  });

  it.each(unreadable)(
    "returns a message whose envelope cannot be read, and tells it (%j)",
    async (content) => {
      expect(await outcomeOf(sqsRecord("m1", bodyOf("id", content as never)))).toMatchObject({
        keys: [],
        returned: ["m1"],
        codes: ["IDEMPOTENCY_KEY_INVALID"],
      });
    },
  );
});

describe("idempotentBatch", () => {
  it("refuses another message under the key of a forwarded one", async () => {
    const other = notification("n2", textOf("order-7"), "refunded");

    expect(
      await outcomeOf(
        { ...fifoRecord("m1", "7"), body: notification("n1") },
        { ...fifoRecord("m2", "7"), body: other },
      ),
    ).toMatchObject({ keys: ["order-7"], codes: ["FINGERPRINT_MISMATCH"] });
    expect(
      await outcomeOf(
        { ...fifoRecord("m1", "7"), body: busEvent("e1") },
        { ...fifoRecord("m2", "7"), body: busEvent("e2", envelopeContent({ key: "order-7" }), 8) },
      ),
    ).toMatchObject({ keys: ["order-7"], codes: ["FINGERPRINT_MISMATCH"] });
  });

  it("takes an event for the same whose sender was traced under another id", async () => {
    const trace = (digit: string) => `00-${digit.repeat(32)}-b7ad6b7169203331-01`;
    const records = ["1", "2"].map((digit) => ({
      ...fifoRecord(`m${digit}`, "7"),
      body: busEvent("e1", envelopeContent({ key: "order-7", traceparent: trace(digit) })),
    }));

    expect(await outcomeOf(...records)).toMatchObject({ keys: ["order-7"], replays: 1, codes: [] });
  });

  it("takes the attribute of a message, as raw delivery passes it on, before what is in its body", async () => {
    const record = sqsRecord("m1", notification("n1", textOf("inner")), envelope("outer"));

    expect((await outcomeOf(record)).keys).toEqual(["outer"]);
  });

  it.each([
    ["text that names it", `see ${ENVELOPE_ATTRIBUTE}`],
    ["JSON that is no object", JSON.stringify(ENVELOPE_ATTRIBUTE)],
    ["null beside it", `null ${ENVELOPE_ATTRIBUTE}`],
    ["an object with it elsewhere", JSON.stringify({ [ENVELOPE_ATTRIBUTE]: { v: 1, key: "a" } })],
    [
      "a notification with it elsewhere",
      notification("n1", undefined, ENVELOPE_ATTRIBUTE).replace(/"MessageAttributes.*/, '"Subject":""}'),
    ],
    ["an event without it", JSON.stringify({ id: "e1", source: ENVELOPE_ATTRIBUTE, detail: {} })],
    [
      "attributes that are no notification's",
      JSON.stringify({ MessageAttributes: { [ENVELOPE_ATTRIBUTE]: { Value: textOf("a") } } }),
    ],
  ])("falls back to the message id, and tells it: %s", async (_, body) => {
    expect(await outcomeOf(sqsRecord("m1", body))).toMatchObject({ keys: ["m1"], fallbacks: 1, codes: [] });
  });

  it("goes by the whole body where it finds no envelope in it", async () => {
    const records = ["a", "b"].map((word) => ({
      ...fifoRecord(word, "7", "same"),
      body: JSON.stringify({ [word]: ENVELOPE_ATTRIBUTE }),
    }));

    expect(await outcomeOf(...records)).toMatchObject({ returned: ["b"], codes: ["FINGERPRINT_MISMATCH"] });
  });

  it("does not parse a body that does not name the envelope", async () => {
    const { detail } = JSON.parse(busEvent("e1"));
    const parse = vi.spyOn(JSON, "parse");
    await outcomeOf(sqsRecord("m1", JSON.stringify({ detail: { orderId: detail.orderId } })));
    const parsed = parse.mock.calls.map(([text]) => text);
    parse.mockRestore();

    expect(parsed.filter((text) => text.includes("orderId"))).toEqual([]);
  });
});
