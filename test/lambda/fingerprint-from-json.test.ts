import {
  fingerprintFromJson,
  type HttpRequestEvent,
  httpIdempotent,
  idempotent,
  idempotentBatch,
} from "onceonly";
import { describe, expect, it, vi } from "vitest";
import { fingerprintOf } from "../../lib/core/fingerprint.ts";
import { hashTuple } from "../../lib/core/identity.ts";
import type { JsonFingerprintOptions } from "../../lib/lambda/fingerprint-from-json.ts";
import { type Answer, given } from "./given.ts";
import { v1Event, v2Event } from "./http/given.ts";

const fingerprintWith = (options: JsonFingerprintOptions) => (payload: unknown) =>
  fingerprintOf(fingerprintFromJson(options)(payload));
const cycle: Record<string, unknown> = {};
cycle.self = cycle;
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

  it("covers the whole field if it is named both whole and in part", () => {
    const both = fingerprintWith({ take: ["data.amount", "data"] });

    expect(both(payload)).not.toBe(both({ ...payload, data: { amount: 5, sentAt: 2 } }));
  });

  it("accepts a field with the name of a prototype", () => {
    const proto = fingerprintWith({ take: ["__proto__.a", "id"] });

    expect(proto('{"__proto__":{"a":1},"id":1}')).not.toBe(proto('{"__proto__":{"a":2},"id":1}'));
  });

  it.each([{}, { other: 1 }, { data: { sentAt: 1 } }, { lines: [{ seen: 1 }] }, [], 7])(
    "rejects a payload without any of its fields: %j",
    (other) => {
      expect(() => fingerprint(other)).toThrow(
        "the payload has none of the fields that the fingerprint is made of: id, data.amount, lines.price",
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

  it("is the body of an HTTP request: as a string, in base64, and as a parser leaves it", () => {
    const events = [
      v1Event({ headers, body: '{"id":1,"at":1}' }),
      v2Event({ headers, body: '{"id":1,"at":2}' }),
      { ...v2Event({ headers }), body: Buffer.from('{"id":1}').toString("base64"), isBase64Encoded: true },
      { ...v2Event({ headers }), body: { id: 1, at: 3 } },
    ];

    expect(new Set(events.map(fingerprint)).size).toBe(1);
  });

  it("has method, route and query next to it, so two routes are two requests", () => {
    const event = v2Event({ headers, body: '{"id":1}' });

    expect(fingerprint({ ...event, rawQueryString: "a=1" })).not.toBe(fingerprint(event));
    expect(fingerprint({ ...event, rawPath: "/refunds" })).not.toBe(fingerprint(event));
  });

  it("is the body of an SQS record, the event itself, or the result of `of`", () => {
    const record = { messageId: "m1", body: '{"id":1,"at":1}' };
    const ofDetail = fingerprintWith({ take: ["id"], of: (event) => (event as { detail: unknown }).detail });

    expect(fingerprint(record)).toBe(fingerprint({ id: 1, at: 2 }));
    expect(ofDetail({ id: 7, detail: { id: 1 } })).toBe(fingerprint({ id: 1 }));
    expect(ofDetail({ id: 7, detail: '{"id":1}' })).toBe(fingerprint({ id: 1 }));
  });

  it.each([
    ["no JSON", "secret=1", "the payload isn't JSON: set `of` to a function that returns the part that is"],
    ["empty text", "", "the payload isn't JSON"],
    ["a number with a zero in front", '{"id":0123456789012345678}', "the payload isn't JSON"],
    ["bytes", Buffer.from('{"id":1}'), "$ is a Buffer: convert it first"],
    ["a Map", new Map([["id", 1]]), "$ is a Map: convert it first"],
    ["parsed, with a large integer", { id: 2 ** 53 }, "$.id is an integer beyond"],
    ["cyclic", cycle, "a reference to itself"],
    ["too deep to parse fields of", `${"[".repeat(90_000)}${"]".repeat(90_000)}`, "nested too deeply"],
    ["nothing", undefined, "it is empty"],
    ["nested too deeply", `${"[".repeat(2000)}${"]".repeat(2000)}`, "nested deeper"],
  ])("is rejected, without revealing it, if it is %s", (_, payload, message) => {
    expect(() => fingerprintFromJson({ leave: ["at"], of: () => payload })({})).toThrow(
      expect.objectContaining({ code: "PAYLOAD_INVALID", message: expect.stringContaining(message) }),
    );
  });
});

describe("A8: fingerprintFromJson looks at the selected members only", () => {
  const take = fingerprintWith({ take: ["id"], of: (text) => text });
  const leave = fingerprintWith({ leave: ["other"], of: (text) => text });

  it.each(['"\\ud800"', "9007199254740993", "1e400", "0.12345678901234567890123", "[[[[]]]]"])(
    "whatever another one holds: %s",
    (other) => {
      const text = `{"id":1,"other":${other}}`;

      expect(take(text)).toBe(take('{"id":1}'));
      expect(leave(text)).toBe(leave('{"id":1}'));
      expect(take(JSON.parse(text))).toBe(take('{"id":1}'));
      expect(leave(JSON.parse(text))).toBe(leave('{"id":1}'));
    },
  );

  it.each([
    "9007199254740993",
    "-9007199254740993",
    "12345678901234567890",
    "1e400",
    "1.2345678901234567890123",
  ])("and reads %s exactly from the string", (number) => {
    const others = [
      `${number}1`,
      `"${number}"`,
      `-${number}`.replace("--", ""),
      `[${number}]`,
      `${Number(number)}`,
    ];
    const all = [number, ...others.filter((each) => each !== "Infinity")].map((each) => `{"id":${each}}`);

    expect(new Set(all.map(take)).size).toBe(all.length);
    expect(new Set(all.map(leave)).size).toBe(all.length);
    expect(take(`{ "other" : "\\\\\\"9007199254740995", "id" : ${number} }`)).toBe(take(`{"id":${number}}`));
  });

  it("and treats all ways to write one number as the same", () => {
    const same = [
      "9007199254740993",
      "9007199254740993.0",
      "9007199254740993e0",
      "900719925474099300E-2",
      "9.007199254740993e+15",
    ];
    const small = ["5", "5.0", "0.5e1", "50e-1", "5.0000000000000000000000"];

    for (const all of [same, small]) expect(new Set(all.map((each) => take(`{"id":${each}}`))).size).toBe(1);
    expect(take('{"id":5.0000000000000000}')).toBe(take({ id: 5 }));
    expect(
      new Set(
        ["0", "-0", "0e99999999999999999999", "0.00000000000000000"].map((each) => take(`{"id":${each}}`)),
      ).size,
    ).toBe(1);
  });

  it("and refuses no text that looks like its own marks", () => {
    const text = '{"id":9007199254740993}';
    const marked = `{"id":"${hashTuple("onceonly/exact-json/1", text)}9007199254740993e0"}`;

    expect(take(marked)).not.toBe(take(text));
  });

  it("and rejects a lone surrogate next to a large integer", () => {
    expect(() =>
      fingerprintWith({ take: ["id", "name"], of: (text) => text })(
        '{"id":9007199254740993,"name":"\\ud800"}',
      ),
    ).toThrow("$.name is a string with a lone surrogate");
  });

  it("and stays fast for a million digits, or a million zeros", () => {
    const long = ["1".repeat(1_000_000), `1${"0".repeat(1_000_000)}1`, `1e${"9".repeat(1_000_000)}`];

    expect(new Set(long.map((each) => take(`{"id":${each}}`))).size).toBe(3);
  });

  it.each<[detail: string, body: string]>([
    ["the payload isn't JSON", "secret"],
    ["the payload has none of the fields id", '{"other":"secret"}'],
    [
      "the payload can't be compared with a retry: one of its values is a string with a lone surrogate",
      '{"id":"secret\\ud800"}',
    ],
  ])("and a rejection explains the payload's fault to the caller: %s", async (detail, body) => {
    const { options, context } = given();
    const http = { ...options, scope: "public" as const, fingerprint: fingerprintFromJson({ take: ["id"] }) };
    const handler = httpIdempotent<Answer, HttpRequestEvent>(() => ({ statusCode: 200, body: "done" }), http);
    const answer = await handler(v2Event({ headers, body }), context());

    expect(answer.statusCode).toBe(400);
    expect(JSON.parse(answer.body ?? "")).toMatchObject({ code: "PAYLOAD_INVALID", detail });
  });
});

describe("the options of fingerprintFromJson", () => {
  it.each([
    [{}, "`take` or `leave` is required, and only one of them"],
    [{ take: ["a"], leave: ["b"] }, "`take` or `leave` is required, and only one of them"],
    [{ take: [] }, "`take` must be an array of paths"],
    [{ take: "id" }, "`take` must be an array of paths"],
    [{ leave: ["data..id"] }, "`leave` must be an array of paths"],
    [{ keep: ["id"] }, "`keep` isn't an option"],
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
