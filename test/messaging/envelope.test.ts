import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../lib/contract.ts";
import { keyFault } from "../../lib/core/identity.ts";
import { ENVELOPE_FAULTS, readEnvelope } from "../../lib/messaging/envelope.ts";
import { writeEnvelope } from "../../lib/messaging/sqs-and-sns.ts";
import { checkAttributes } from "../../packages/explorer/lib/aws/sqs/message-checks.ts";
import { arnOf, newFifo, receive } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { withDeadLetters } from "../../packages/explorer/test/aws/sqs/cases/dead-letter-given.ts";
import { newWorld } from "./given.ts";

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const anyKey = fc
  .string({ unit: "binary", minLength: 1, maxLength: 60 })
  .filter((key) => keyFault(key) === undefined);

const holding = (stringValue: unknown) => ({ [ENVELOPE_ATTRIBUTE]: { dataType: "String", stringValue } });

describe("readEnvelope", () => {
  it("reads any written key, in characters that SQS accepts", () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const attributes = writeEnvelope({ key });

        checkAttributes(attributes);
        expect(readEnvelope(attributes)).toEqual({ found: true, envelope: { key } });
      }),
    );
  });

  it("reads the noncharacters that SQS refuses", () => {
    const attributes = writeEnvelope({ key: "a\uFFFEb\uFFFF" });

    checkAttributes(attributes);
    expect(readEnvelope(attributes)).toEqual({ found: true, envelope: { key: "a\uFFFEb\uFFFF" } });
  });

  it("reads the attributes of a Lambda event and of the SDK alike", () => {
    const { StringValue } = writeEnvelope({ key: "order-7", traceparent: TRACE })[ENVELOPE_ATTRIBUTE]!;
    const envelope = { key: "order-7", traceparent: TRACE };

    expect(readEnvelope(holding(StringValue))).toEqual({ found: true, envelope });
    expect(readEnvelope({ [ENVELOPE_ATTRIBUTE]: { StringValue } })).toEqual({ found: true, envelope });
  });

  it.each([
    "",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
    `${TRACE}-more`,
    TRACE.toUpperCase(),
    `ff${TRACE.slice(2)}`,
    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    7 as unknown as string,
  ])("leaves a malformed traceparent out (%j)", (traceparent) => {
    const written = writeEnvelope({ key: "a", traceparent });

    expect(written[ENVELOPE_ATTRIBUTE]!.StringValue).toBe('{"v":1,"key":"a"}');
    expect(readEnvelope(holding(JSON.stringify({ v: 1, key: "a", traceparent })))).toStrictEqual({
      found: true,
      envelope: { key: "a" },
    });
  });

  it("passes over fields that a later writer of this version adds", () => {
    expect(readEnvelope(holding('{"v":1,"key":"a","tenant":"b"}'))).toEqual({
      found: true,
      envelope: { key: "a" },
    });
  });

  it.each([
    [undefined, "absent"],
    [null, "absent"],
    ["text", "absent"],
    [{}, "absent"],
    [{ other: { stringValue: "a" } }, "absent"],
    [{ [ENVELOPE_ATTRIBUTE]: null }, "absent"],
    [{ [ENVELOPE_ATTRIBUTE]: {} }, "malformed"],
    [{ [ENVELOPE_ATTRIBUTE]: { binaryValue: "e30=" } }, "malformed"],
    [holding(""), "malformed"],
    [holding("order-7"), "malformed"],
    [holding("null"), "malformed"],
    [holding("[]"), "malformed"],
    [holding('{"key":"a"}'), "malformed"],
    [holding('{"v":"1","key":"a"}'), "malformed"],
    [holding('{"v":1}'), "malformed"],
    [holding('{"v":1,"key":""}'), "malformed"],
    [holding('{"v":1,"key":7}'), "malformed"],
    [holding('{"v":1,"key":"a\\u0000"}'), "malformed"],
    [holding(JSON.stringify({ v: 1, key: "k".repeat(256) })), "malformed"],
    [holding('{"v":2,"key":"a"}'), "unknown-version"],
    [holding('{"v":0,"key":7}'), "unknown-version"],
  ] as const)("reads %j as %s", (attributes, reason) => {
    expect(ENVELOPE_FAULTS).toContain(reason);
    expect(readEnvelope(attributes)).toEqual({ found: false, reason });
  });

  it("answers whatever it is given", () => {
    const throwing = Object.defineProperty({}, ENVELOPE_ATTRIBUTE, {
      get() {
        throw new Error("a getter");
      },
    });

    expect(readEnvelope(throwing)).toEqual({ found: false, reason: "malformed" });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.anything().map(holding), fc.json().map(holding)), (given) => {
        const reading = readEnvelope(given);

        expect(reading.found || ENVELOPE_FAULTS.includes(reading.reason)).toBe(true);
      }),
    );
  });

  it("H28: reads the same key after a redrive, which changes the ids of SQS", async () => {
    const world = await newWorld();
    const { subject, clock } = world;
    const { queue, deadLetters } = await withDeadLetters(subject, newFifo, 1);
    await world.newProducer({ queueUrl: queue }).send({ key: "order-7", group: "7", body: { id: 7 } });
    const [first] = await receive(subject, queue, { VisibilityTimeout: 0 });
    await receive(subject, queue);

    await subject.call("StartMessageMoveTask", { SourceArn: await arnOf(subject, deadLetters) });
    await clock.advance(60_000);
    const [again] = await receive(subject, queue);
    await world.stop();

    expect(again?.Attributes?.MessageDeduplicationId).not.toBe(first?.Attributes?.MessageDeduplicationId);
    expect(again?.MessageId).not.toBe(first?.MessageId);
    for (const message of [first, again]) {
      expect(readEnvelope(message?.MessageAttributes)).toEqual({ found: true, envelope: { key: "order-7" } });
    }
  });
});
