import { describe, expect, it } from "vitest";
import { fingerprintOf } from "../../../lib/core/fingerprint.ts";
import { readHttpEvent } from "../../../lib/lambda/http/event.ts";
import { httpFingerprint } from "../../../lib/lambda/http/fingerprint.ts";
import { EVENT_FORMS, functionUrlEvent, type RequestParts, v1Event, v2Event } from "./given.ts";

const fingerprint = (event: object) => fingerprintOf(httpFingerprint(event));

describe.each(EVENT_FORMS)("readHttpEvent of %s", (_, form) => {
  it("reads method and headers in any case", () => {
    const event = readHttpEvent(form({ method: "POST", path: "/a", headers: { "iDeMpOtEnCy-KeY": '"k"' } }));

    expect(event).toMatchObject({ method: "POST" });
    expect(event.headers("Idempotency-Key")).toEqual(['"k"']);
    expect(event.headers("X-Other")).toEqual([]);
  });

  it("has one fingerprint for the same bytes, in base64 or not", () => {
    const body = "Grüße";
    const base64 = Buffer.from(body).toString("base64");

    expect(fingerprint(form({ body }))).toBe(fingerprint(form({ body: base64, isBase64Encoded: true })));
    expect(fingerprint(form({ body }))).not.toBe(fingerprint(form({ body: base64 })));
  });

  it("distinguishes requests by method, path, query and every byte of the body", () => {
    const requests: RequestParts[] = [
      {},
      { method: "PATCH" },
      { path: "/other" },
      { query: { dryRun: "1" } },
      { query: { dryRun: "2" } },
      { body: '{ "item":"book"}' },
      { body: '{"item":"book"}\n' },
      { body: "" },
      { path: "/order", body: 's{"item":"book"}' },
    ];

    expect(new Set(requests.map((parts) => fingerprint(form(parts)))).size).toBe(requests.length);
  });

  it("refuses to fingerprint a body that a parser has been at", () => {
    const parsed = { ...form(), body: { item: "book" } };

    expect(() => httpFingerprint(parsed)).toThrow("put onceonly before the parser");
  });
});

describe("readHttpEvent", () => {
  it("finds every line of a header that comes more than once", () => {
    const lines = { "Idempotency-Key": ['"a"', '"b"'] };

    expect(readHttpEvent(v1Event({ headers: lines })).headers("idempotency-key")).toEqual(['"a"', '"b"']);
    expect(readHttpEvent(v2Event({ headers: lines })).headers("idempotency-key")).toEqual(['"a","b"']);
  });

  it.each([{}, null, undefined, { "X-Other": ["1"] }])(
    "reads `headers` next to lists that do not have the header: %j",
    (multiValueHeaders) => {
      const event = { ...v1Event({ headers: { "Idempotency-Key": '"k"' } }), multiValueHeaders };
      const behindAlb = { ...event, requestContext: { elb: { targetGroupArn: "arn" } } };

      expect(readHttpEvent(event).headers("idempotency-key")).toEqual(['"k"']);
      expect(readHttpEvent(behindAlb).headers("idempotency-key")).toEqual(['"k"']);
      expect(readHttpEvent(behindAlb).isMultiValue).toBe(Boolean(multiValueHeaders?.["X-Other"]));
      expect(readHttpEvent(behindAlb).readsLists).toBe(Boolean(multiValueHeaders?.["X-Other"]));
    },
  );

  it.each([{}, null, undefined])(
    "reads `queryStringParameters` next to lists that are empty: %j",
    (multiValueQueryStringParameters) => {
      const of = (query: Record<string, string>) =>
        fingerprint({ ...v1Event({ query }), multiValueQueryStringParameters });

      expect(of({ a: "1" })).toBe(fingerprint(v1Event({ query: { a: "1" } })));
      expect(of({ a: "1" })).not.toBe(of({ a: "2" }));
    },
  );

  it("does not depend on the order of query parameters if the gateway has parsed them", () => {
    const fingerprints = [
      { a: "1", b: "2" },
      { b: "2", a: "1" },
    ].map((query) => fingerprint(v1Event({ query })));

    expect(fingerprints[0]).toBe(fingerprints[1]);
  });

  it("knows when the gateway stops waiting, and that a function URL does not", () => {
    expect(readHttpEvent(v1Event({ startedAt: 1000 })).gatewayEndsAt).toBe(29_000);
    expect(readHttpEvent(v2Event({ startedAt: 1000 })).gatewayEndsAt).toBe(29_000);
    expect(readHttpEvent(functionUrlEvent({ startedAt: 1000 })).gatewayEndsAt).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    ["a scheduled event", { source: "aws.events", detail: {} }],
    ["a queue's batch", { Records: [] }],
    ["nothing", undefined],
  ])("refuses %s", (_, event) => {
    expect(() => readHttpEvent(event)).toThrow("the event isn't an HTTP request");
  });

  it("refuses to fingerprint a string that is ambiguous in UTF-8", () => {
    expect(() => httpFingerprint(v2Event({ body: "\ud800" }))).toThrow(
      expect.objectContaining({ code: "PAYLOAD_INVALID" }),
    );
  });
});
