// What can be sent of a message that comes from a database, and what travels with it.
import { describe, expect, it } from "vitest";
import { envelopeContent, faultOf, prepareMessage } from "../../../lib/core/messages/prepare-message.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
const TOPIC = "arn:aws:sns:eu-central-1:123456789012:orders";
const TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OTHER_TRACE = TRACE.replace(/01$/, "00");

const queued = { queue: QUEUE, key: "k", body: "text" };
const event = { bus: "shop", source: "orders", detailType: "paid", key: "k", body: '{"cents":5}' };

describe("faultOf", () => {
  it.each([
    [queued, undefined],
    [{ ...queued, delaySeconds: 0 }, undefined],
    [{ ...queued, group: "g", traceparent: TRACE, attributes: { kind: "paid" } }, undefined],
    [event, undefined],
    [{ ...queued, later: undefined }, undefined],
    [{ ...queued, later: 1 }, "MessageUnknown"],
    [{ ...event, later: 1 }, "MessageUnknown"],
    [{ ...queued, body: undefined }, "MessageInvalid"],
    [{ ...queued, body: { cents: 5 } }, "MessageInvalid"],
    [{ ...queued, queue: "nowhere" }, "MessageInvalid"],
    [{ ...queued, later: 1, key: "" }, "MessageInvalid"],
    [{ ...event, body: "text" }, "MessageInvalid"],
    [undefined, "MessageInvalid"],
    ["text", "MessageInvalid"],
  ])("of %j is %s", (stored, fault) => {
    expect(faultOf(stored)).toBe(fault);
  });
});

describe("prepareMessage", () => {
  it("passes on the trace of the call, unless the message has its own", () => {
    expect(prepareMessage("a", queued, TRACE).traceparent).toBe(TRACE);
    expect(prepareMessage("a", { ...queued, traceparent: OTHER_TRACE }, TRACE).traceparent).toBe(OTHER_TRACE);
    expect(prepareMessage("a", queued).traceparent).toBeUndefined();
  });

  it("accepts the smallest delay", () => {
    expect(prepareMessage("a", { ...queued, delaySeconds: 0 })).toMatchObject({ delaySeconds: 0 });
  });

  it("names a topic's setting only if a topic refuses the size", () => {
    const body = "x".repeat(2_000_000);
    const { queue: _, ...rest } = { ...queued, body };

    expect(() => prepareMessage("a", { ...queued, body })).toThrow(
      /^a: the body is 2000000 bytes, which is more than the \d+ allowed: store it in a bucket with S3ClaimCheck, or send a link to it$/,
    );
    expect(() => prepareMessage("a", { ...rest, topic: TOPIC })).toThrow(
      /allowed: pass the topic's `maximumMessageSize` if it is larger, store it/,
    );
  });
});

it("envelopeContent names version, key, time and trace", () => {
  const sent = { key: "k", committedAt: 5, traceparent: TRACE };

  expect(envelopeContent(sent)).toEqual({ v: 1, key: "k", at: 5, traceparent: TRACE });
  expect(envelopeContent({ ...sent, traceparent: "odd" })).toEqual({
    v: 1,
    key: "k",
    at: 5,
    traceparent: undefined,
  });
});
