import {
  fingerprintFromJson,
  type HttpRequestEvent,
  httpIdempotent,
  idempotent,
  idempotentBatch,
  type JsonFingerprintOptions,
} from "onceonly";
import { describe, expect, it, vi } from "vitest";
import { fingerprintOf } from "../../lib/core/fingerprint.ts";
import { type Answer, given } from "./given.ts";
import { v1Event, v2Event } from "./http/given.ts";

const fingerprintWith = (options: JsonFingerprintOptions) => (payload: unknown) =>
  fingerprintOf(fingerprintFromJson(options)(payload));
const headers = { "Idempotency-Key": "k1" };
const post = (body: unknown) => v2Event({ headers, body: JSON.stringify(body) });

describe("fingerprintFromJson with `take`", () => {
  const fingerprint = fingerprintWith({ take: ["id", "data.amount", "lines.price"] });
  const payload = { id: 1, data: { amount: 5, sentAt: 1 }, lines: [{ price: 1, seen: 1 }, { price: 2 }] };

  it.each([
    ["a field that is not taken", { ...payload, attempt: 2 }],
    ["a field beside one that is taken", { ...payload, data: { amount: 5, sentAt: 2 } }],
    ["a field of an entry", { ...payload, lines: [{ price: 1, seen: 2 }, { price: 2 }] }],
    ["the order of names", { lines: payload.lines, data: payload.data, id: 1 }],
  ])("is the same with another value of %s", (_, changed) => {
    expect(fingerprint(changed)).toBe(fingerprint(payload));
  });

  it.each([
    ["a field that is taken", { ...payload, id: 2 }],
    ["a field below another", { ...payload, data: { amount: 6, sentAt: 1 } }],
    ["a field of an entry", { ...payload, lines: [{ price: 1 }, { price: 3 }] }],
    ["the order of entries", { ...payload, lines: [{ price: 2 }, { price: 1 }] }],
    ["the number of entries", { ...payload, lines: [{ price: 1 }, { price: 2 }, {}] }],
    ["a null", { ...payload, id: null }],
    ["an absence", { data: payload.data, lines: payload.lines }],
    ["an entry without it", { ...payload, lines: [{ price: 1 }, "none"] }],
  ])("is another one with another value of %s", (_, changed) => {
    expect(fingerprint(changed)).not.toBe(fingerprint(payload));
  });

  it("takes all of a field that is named whole and in part", () => {
    const both = fingerprintWith({ take: ["data.amount", "data"] });

    expect(both(payload)).not.toBe(both({ ...payload, data: { amount: 5, sentAt: 2 } }));
  });

  it("takes a field of the name of a prototype", () => {
    const proto = fingerprintWith({ take: ["__proto__.a", "id"] });

    expect(proto('{"__proto__":{"a":1},"id":1}')).not.toBe(proto('{"__proto__":{"a":2},"id":1}'));
  });

  it.each([{}, { other: 1 }, { data: { sentAt: 1 } }, { lines: [{ seen: 1 }] }, [], 7])(
    "refuses a payload without any of its fields: %j",
    (other) => {
      expect(() => fingerprint(other)).toThrow(
        "the payload has none of the fields that its fingerprint takes: id, data.amount, lines.price",
      );
    },
  );
});

describe("fingerprintFromJson with `leave`", () => {
  const fingerprint = fingerprintWith({ leave: ["sentAt", "data.attempt", "lines.seen"] });
  const payload = { id: 1, sentAt: 1, data: { amount: 5, attempt: 1 }, lines: [{ price: 1, seen: 1 }, 3] };

  it("counts all but these", () => {
    const later = { id: 1, sentAt: 2, data: { amount: 5, attempt: 2 }, lines: [{ price: 1 }, 3] };

    expect(fingerprint(later)).toBe(fingerprint(payload));
    expect(fingerprint({ ...later, id: 2 })).not.toBe(fingerprint(payload));
    expect(fingerprint({ ...later, data: null })).not.toBe(fingerprint(payload));
    expect(fingerprint({ ...later, more: 1 })).not.toBe(fingerprint(payload));
  });
});

describe("the payload of fingerprintFromJson", () => {
  const fingerprint = fingerprintWith({ take: ["id"] });

  it("is the body of an HTTP request: as text, in base64, and as a parser leaves it", () => {
    const events = [
      v1Event({ headers, body: '{"id":1,"at":1}' }),
      v2Event({ headers, body: '{"id":1,"at":2}' }),
      { ...v2Event({ headers }), body: Buffer.from('{"id":1}').toString("base64"), isBase64Encoded: true },
      { ...v2Event({ headers }), body: { id: 1, at: 3 } },
    ];

    expect(new Set(events.map(fingerprint)).size).toBe(1);
  });

  it("has method, route and query beside it, so that two routes are two requests", () => {
    const event = v2Event({ headers, body: '{"id":1}' });

    expect(fingerprint({ ...event, rawQueryString: "a=1" })).not.toBe(fingerprint(event));
    expect(fingerprint({ ...event, rawPath: "/refunds" })).not.toBe(fingerprint(event));
  });

  it("is the body of an SQS record, the event itself, or what `of` yields", () => {
    const record = { messageId: "m1", body: '{"id":1,"at":1}' };
    const ofDetail = fingerprintWith({ take: ["id"], of: (event) => (event as { detail: unknown }).detail });

    expect(fingerprint(record)).toBe(fingerprint({ id: 1, at: 2 }));
    expect(ofDetail({ id: 7, detail: { id: 1 } })).toBe(fingerprint({ id: 1 }));
    expect(ofDetail({ id: 7, detail: '{"id":1}' })).toBe(fingerprint({ id: 1 }));
  });

  it.each([
    ["no JSON", "secret=1", "the payload is not JSON: give `of`, which yields the part that is"],
    ["nothing", undefined, "it is empty"],
    ["nested too deep", `${"[".repeat(2000)}${"]".repeat(2000)}`, "nested deeper"],
  ])("is refused without a word of it where it is %s", (_, payload, message) => {
    expect(() => fingerprintFromJson({ leave: ["at"], of: () => payload })({})).toThrow(
      expect.objectContaining({ code: "PAYLOAD_INVALID", message: expect.stringContaining(message) }),
    );
  });
});

describe("the options of fingerprintFromJson", () => {
  it.each([
    [{}, "option `take` or `leave` must be given, and not both"],
    [{ take: ["a"], leave: ["b"] }, "option `take` or `leave` must be given, and not both"],
    [{ take: [] }, "option `take` must be a list of paths"],
    [{ take: "id" }, "option `take` must be a list of paths"],
    [{ leave: ["data..id"] }, "option `leave` must be a list of paths"],
    [{ keep: ["id"] }, "option `keep` is unknown"],
  ])("%j: %s", (options, message) => {
    expect(() => fingerprintFromJson(options as never)).toThrow(message);
  });
});

describe("a handler with fingerprintFromJson", () => {
  const fingerprint = fingerprintFromJson({ take: ["id", "data"] });

  it("answers a webhook that comes again with another timestamp from its record", async () => {
    const { options, context } = given();
    const work = vi.fn(() => ({ statusCode: 200, body: "done" }));
    const http = { ...options, scope: "public" as const, fingerprint };
    const handler = httpIdempotent<Answer, HttpRequestEvent>(work, http);
    const send = async (body: object) => (await handler(post(body), context())).statusCode;

    expect(await send({ id: 1, data: { cents: 5 }, sentAt: 1 })).toBe(200);
    expect(await send({ id: 1, data: { cents: 5 }, sentAt: 2 })).toBe(200);
    expect(await send({ id: 1, data: { cents: 6 }, sentAt: 3 })).toBe(422);
    expect(await send({ other: 1 })).toBe(400);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it("runs records of a batch and plain events once each", async () => {
    const { options, context } = given();
    const work = vi.fn((_: { readonly body: string }) => null);
    const batch = idempotentBatch(work, { ...options, key: () => "k1", fingerprint });
    const record = (messageId: string, body: object) =>
      ({ messageId, body: JSON.stringify(body), eventSource: "aws:sqs" }) as never;
    const plain = idempotent(() => 1, { ...options, operation: "plain", key: () => "k1", fingerprint });

    for (const id of ["m1", "m2"])
      expect(await batch({ Records: [record(id, { id: 1, sentAt: id })] }, context())).toEqual({
        batchItemFailures: [],
      });
    expect(await plain({ id: 1, at: 1 }, context())).toBe(await plain({ id: 1, at: 2 }, context()));
    expect(work).toHaveBeenCalledTimes(1);
  });
});
