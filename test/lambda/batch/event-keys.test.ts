import type { EventBridgeEvent, S3Event, SNSEvent } from "aws-lambda";
import {
  fingerprintFromEventBridge,
  fingerprintFromS3,
  fingerprintFromSns,
  idempotent,
  keyFromEventBridge,
  keyFromS3,
  keyFromSns,
} from "onceonly";
import { describe, expect, it, vi } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../../lib/contract.ts";
import { envelopeContent } from "../../../lib/core/messages/prepare-message.ts";
import { writeEnvelope } from "../../../lib/messaging/sqs-and-sns.ts";
import { given } from "../given.ts";

const BUS = "arn:aws:events:eu-central-1:123456789012:event-bus/shop";

const snsEvent = (envelope?: string, MessageId = "m1", Message = "order") =>
  ({
    Records: [
      {
        EventSource: "aws:sns",
        Sns: {
          MessageId,
          Message,
          Timestamp: `time of ${MessageId}`,
          MessageAttributes: envelope ? { [ENVELOPE_ATTRIBUTE]: { Type: "String", Value: envelope } } : {},
        },
      },
    ],
  }) as unknown as SNSEvent;

interface S3Change {
  readonly bucket?: string;
  readonly key?: string;
  readonly versionId?: string;
  readonly sequencer?: string | undefined;
  readonly eventName?: string;
  readonly eTag?: string;
  readonly size?: number;
}

function s3Event(change: S3Change = {}): S3Event {
  const { bucket = "orders", key = "a.json", eventName = "ObjectCreated:Put", ...object } = change;
  const s3 = { bucket: { name: bucket }, object: { key, sequencer: "0A1B", ...object } };
  return { Records: [{ eventSource: "aws:s3", eventName, s3 }] } as unknown as S3Event;
}

const bridgeEvent = (id: string, detail: object = {}) =>
  ({ id, source: "shop", "detail-type": "paid", time: `time of ${id}`, detail }) as EventBridgeEvent<
    "paid",
    object
  >;
const sent = (key: string, more: object = {}) => ({
  [ENVELOPE_ATTRIBUTE]: envelopeContent({ key }),
  ...more,
});

describe("keyFromSns", () => {
  const key = keyFromSns();

  it("is the envelope's key, whatever message carries it", () => {
    const text = writeEnvelope({ key: "order-1" })[ENVELOPE_ATTRIBUTE]?.StringValue;

    expect(key(snsEvent(text, "m1"))).toBe("order-1");
    expect(key(snsEvent(text, "m2"))).toBe("order-1");
  });

  it("is the message id without an envelope", () => {
    expect(key(snsEvent())).toBe("m1");
  });

  it("refuses an envelope that cannot be read", () => {
    expect(() => key(snsEvent("{"))).toThrow("envelope");
  });
});

describe("keyFromSns for a bus's publication", () => {
  const inMessage = JSON.stringify({ source: "shop", "detail-type": "paid", detail: sent("order-1") });

  it("H74: believes an envelope inside the message with `trustedForwarders` only, and never passes it over", () => {
    expect(keyFromSns({ trustedForwarders: [BUS] })(snsEvent(undefined, "m1", inMessage))).toBe("order-1");
    expect(() => keyFromSns()(snsEvent(undefined, "m1", inMessage))).toThrow("`trustedForwarders`");
  });
});

describe("fingerprintFromSns", () => {
  it.each([{ Subject: "refund" }, { MessageAttributes: { type: { Value: "refund" } } }, { extra: 1 }])(
    "H74: covers all that the handler reads: %j",
    (change) => {
      const fingerprint = fingerprintFromSns();
      const other = snsEvent();
      Object.assign(other.Records[0]!.Sns, change);

      expect(fingerprint(other)).not.toEqual(fingerprint(snsEvent()));
    },
  );

  it("replays a message that is published twice, and refuses another one under its key", async () => {
    const { options, context } = given();
    const run = vi.fn(() => null);
    const handler = idempotent(run, { ...options, key: keyFromSns(), fingerprint: fingerprintFromSns() });
    const text = writeEnvelope({ key: "order-1" })[ENVELOPE_ATTRIBUTE]?.StringValue;
    for (const id of ["m1", "m2"]) await handler(snsEvent(text, id), context());

    await expect(handler(snsEvent(text, "m3", "refund"), context())).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
    expect(run).toHaveBeenCalledTimes(1);
  });
});

describe("keyFromS3", () => {
  const key = keyFromS3();

  it("is the same for the same change", () => {
    expect(key(s3Event())).toBe(key(s3Event()));
  });

  it.each<S3Change>([
    { bucket: "refunds" },
    { key: "b.json" },
    { versionId: "v2" },
    { sequencer: "0A1C" },
    { eventName: "ObjectRemoved:Delete" },
  ])("is another one for another change: %j", (change) => {
    expect(key(s3Event(change))).not.toBe(key(s3Event()));
  });

  it("yields nothing without a sequencer, and the event is refused", async () => {
    const { options, context } = given();
    const handler = idempotent(() => 1, { ...options, key: keyFromS3() });

    expect(key(s3Event({ sequencer: undefined }))).toBeUndefined();
    await expect(handler(s3Event({ sequencer: undefined }), context())).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_MISSING",
    });
  });

  it("refuses an event with several records, and one without", () => {
    const Records = Array(2).fill(s3Event().Records[0]);

    expect(() => key({ Records })).toThrow("2 records");
    expect(() => key({ Records: [] })).toThrow("isn't an S3 notification");
  });
});

describe("fingerprintFromS3", () => {
  const fingerprint = fingerprintFromS3();

  it("is the same for two notifications of one change", () => {
    const again = s3Event();
    Object.assign(again.Records[0]!, { eventTime: "later", responseElements: { "x-amz-request-id": "2" } });
    Object.assign(again.Records[0]!.s3, { configurationId: "another" });

    expect(fingerprint(again)).toEqual(fingerprint(s3Event()));
    expect(fingerprint(s3Event({ sequencer: "0A1C" }))).toEqual(fingerprint(s3Event()));
  });

  it.each<S3Change>([
    { bucket: "refunds" },
    { key: "b.json" },
    { versionId: "v2" },
    { eTag: "d41d8" },
    { size: 7 },
    { eventName: "ObjectRemoved:Delete" },
  ])("is another one for another object: %j", (change) => {
    expect(fingerprint(s3Event(change))).not.toEqual(fingerprint(s3Event()));
  });

  it("refuses other content under a key of the user's own, and replays the same content", async () => {
    const { options, context } = given();
    const run = vi.fn(() => null);
    const key = (event: S3Event) => event.Records[0]!.s3.object.key;
    const handler = idempotent(run, { ...options, key, fingerprint: fingerprintFromS3() });
    for (const sequencer of ["1", "2"]) await handler(s3Event({ sequencer, eTag: "a" }), context());

    await expect(handler(s3Event({ sequencer: "3", eTag: "b" }), context())).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("handles several records one after the other, each as its own operation", async () => {
    const { options, context } = given();
    const keys: string[] = [];
    const one = idempotent(
      (event: S3Event) => {
        keys.push(event.Records[0]!.s3.object.key);
        if (keys.length === 2) throw new Error("died between two records");
        return null;
      },
      { ...options, key: keyFromS3(), fingerprint: fingerprintFromS3() },
    );
    const Records = ["a", "b"].flatMap((key) => s3Event({ key }).Records);
    const all = async () => {
      for (const record of Records) await one({ Records: [record] }, context());
    };

    await expect(all()).rejects.toThrow("died");
    await all();

    expect(keys).toEqual(["a", "b", "b"]);
  });
});

describe("keyFromEventBridge", () => {
  it("is the event's id: a repeated delivery runs once, another event again", async () => {
    const { options, context } = given();
    const run = vi.fn(() => null);
    const handler = idempotent(run, { ...options, key: keyFromEventBridge() });
    for (const id of ["e1", "e1", "e2"]) await handler(bridgeEvent(id), context());

    expect(run).toHaveBeenCalledTimes(2);
  });
});

describe("keyFromEventBridge with an envelope", () => {
  const key = keyFromEventBridge({ trustedForwarders: [BUS] });

  it("H74: is rejected without `trustedForwarders`: a detail that contains user input can hold one", () => {
    for (const detail of [
      sent("order-1"),
      { comment: sent("order-1") },
      { comment: JSON.stringify(sent("a")) },
    ]) {
      expect(() => keyFromEventBridge()(bridgeEvent("e1", detail))).toThrow("`trustedForwarders`");
    }
  });

  it("treats what its sender got from others, deeper in the detail, as text", () => {
    expect(key(bridgeEvent("e1", sent("order-1", { comment: sent("of an attacker") })))).toBe("order-1");
  });

  it("refuses an option that it does not know", () => {
    expect(() => keyFromEventBridge({ forwardedby: [BUS] } as object)).toThrow(
      "`forwardedby` isn't an option",
    );
    expect(() => keyFromSns({ trustedForwarders: ["arn:aws:sqs:eu-central-1:123456789012:q"] })).toThrow(
      "`trustedForwarders`",
    );
  });

  it("is the envelope's key, whatever event carries it", () => {
    expect(key(bridgeEvent("e1", sent("order-1")))).toBe("order-1");
    expect(key(bridgeEvent("e2", sent("order-1")))).toBe("order-1");
  });

  it.each([{ v: 2, key: "a" }, { v: 1 }, "text"])(
    "refuses an envelope that cannot be read (%j)",
    (content) => {
      expect(() => key(bridgeEvent("e1", { [ENVELOPE_ATTRIBUTE]: content }))).toThrow("envelope");
    },
  );

  it("is the event's id if there is no detail to look into", () => {
    expect(key({ id: "e1" })).toBe("e1");
    expect(key({ id: "e1", detail: null })).toBe("e1");
  });
});

describe("fingerprintFromEventBridge", () => {
  const fingerprint = fingerprintFromEventBridge();

  it.each([
    { TopicArn: "a", Message: "b", Timestamp: 1 },
    { source: "a", "detail-type": "b", id: 1 },
    { eventSource: "aws:sqs", body: "a", attributes: 1 },
    { order: { TopicArn: "a", Message: "b", Signature: 1 } },
  ])("H85: A5: counts all of a detail that looks like a forwarder's: %j", (detail) => {
    const other = JSON.parse(JSON.stringify(detail).replace(/1\}/, "2}"));

    expect(fingerprint(bridgeEvent("e1", detail))).not.toEqual(fingerprint(bridgeEvent("e1", other)));
    expect(fingerprint(bridgeEvent("e1", detail))).toEqual(fingerprint(bridgeEvent("e2", detail)));
  });

  it("replays an event that is put twice, and refuses another one under its key", async () => {
    const { options, context } = given();
    const run = vi.fn(() => null);
    const handler = idempotent(run, {
      ...options,
      key: keyFromEventBridge({ trustedForwarders: [BUS] }),
      fingerprint,
    });
    for (const id of ["e1", "e2"]) await handler(bridgeEvent(id, sent("order-1", { total: 7 })), context());

    await expect(handler(bridgeEvent("e3", sent("order-1", { total: 8 })), context())).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
    expect(run).toHaveBeenCalledTimes(1);
  });

  it.each([{ account: "1" }, { resources: ["arn"] }, { extra: 1 }, { source: "shop-2" }])(
    "H74: covers all that the handler reads: %j",
    (change) => {
      const event = bridgeEvent("e1", sent("order-1"));

      expect(fingerprint({ ...event, ...change })).not.toEqual(fingerprint(event));
    },
  );

  it("leaves too deeply nested values for the fingerprint to reject", async () => {
    const { options, context } = given();
    const handler = idempotent(() => 1, { ...options, key: keyFromEventBridge(), fingerprint });
    let detail: object = {};
    for (let depth = 0; depth < 600; depth++) detail = { detail };

    await expect(handler(bridgeEvent("e1", detail), context())).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
    });
  });
});
