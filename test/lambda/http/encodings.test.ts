// An answer that a handler compressed, replayed to callers who may not read its encoding.
import { brotliCompressSync, deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { httpIdempotent } from "onceonly";
import { describe, expect, it } from "vitest";
import { type Answer, given } from "../given.ts";
import { EVENT_FORMS, v1Event } from "./given.ts";

const text = '{"items":"tea ☕"}';

async function twice(response: object, eventOf: (parts: object) => object = v1Event) {
  const { options, context } = given();
  const handler = httpIdempotent(async () => response, { ...options, scope: "public" });
  const event = eventOf({ headers: { "idempotency-key": "k1" } }) as never;
  return [await handler(event, context()), await handler(event, context())] as unknown as [Answer, Answer];
}
const compressed = (encoding: string, bytes: Buffer, more: object = {}) => ({
  statusCode: 200,
  headers: {
    "Content-Encoding": encoding,
    "content-type": "application/json",
    "Content-Length": "9",
    "Content-Digest": "sha-256=:x:",
    "Repr-Digest": "sha-256=:x:",
  },
  body: bytes.toString("base64"),
  isBase64Encoded: true,
  ...more,
});
const bytesOf = ({ body }: Answer) => Buffer.from(body, "base64");

describe("a compressed answer", () => {
  it.each(EVENT_FORMS)(
    "R11: reaches the first caller as it is, and a replay without its encoding: %s",
    async (_, eventOf) => {
      const [first, replay] = await twice(compressed("gzip", gzipSync(text)), eventOf);

      expect(gunzipSync(bytesOf(first)).toString()).toBe(text);
      expect(first.headers).toMatchObject({ "Content-Encoding": "gzip" });
      expect(bytesOf(replay).toString()).toBe(text);
      const headers = JSON.stringify({ ...replay.headers, ...replay.multiValueHeaders });
      expect(headers).toContain("application/json");
      expect(headers).not.toMatch(/content-(encoding|length)|digest/i);
    },
  );

  it.each([
    ["br", brotliCompressSync(text)],
    ["deflate", deflateSync(text)],
    ["GZIP", gzipSync(text)],
  ])("R11: is decoded from %s", async (encoding, bytes) => {
    const lists = { headers: undefined, multiValueHeaders: { "content-encoding": [encoding] } };

    for (const more of [{}, lists]) {
      const [, replay] = await twice(compressed(encoding, bytes, more));
      expect(bytesOf(replay).toString()).toBe(text);
    }
  });

  it.each([
    ["an unknown encoding", compressed("zstd", Buffer.from("x"))],
    ["the name of a method of objects", compressed("constructor", gzipSync(text))],
    ["two encodings", compressed("gzip, br", gzipSync(text))],
    ["bytes of another encoding", compressed("br", gzipSync(text))],
    ["more than Lambda can send", compressed("gzip", gzipSync(Buffer.alloc(4_500_001)))],
    ["no base64", { statusCode: 200, headers: { "content-encoding": "gzip" }, body: text }],
    ["no encoding", { statusCode: 200, body: text }],
  ])("R11: stays as it is with %s", async (_, response) => {
    const [first, replay] = await twice(response);

    expect(replay.body).toBe(first.body);
    expect(replay.headers?.["Content-Encoding"]).toBe(first.headers?.["Content-Encoding"]);
  });
});
