import { readBody } from "onceonly";
import { describe, expect, it } from "vitest";

const inBase64 = (bytes: string | Uint8Array) => ({
  body: Buffer.from(bytes as string).toString("base64"),
  isBase64Encoded: true,
});

describe("readBody", () => {
  it.each([
    ["as it was sent", { body: "tea ☕" }, "tea ☕"],
    ["out of base64", inBase64("tea ☕"), "tea ☕"],
    ["with the mark of its byte order", inBase64("\uFEFF{}"), "\uFEFF{}"],
    ["as nothing where there is none", { body: null }, ""],
    ["as nothing where the field is absent", {}, ""],
  ])("reads a body %s", (_, event, text) => {
    expect(readBody(event)).toBe(text);
  });

  it("refuses bytes that are not UTF-8, and a body that a parser has been at", () => {
    expect(() => readBody(inBase64(Uint8Array.of(0xff, 0xfe)))).toThrow("the body is not UTF-8");
    expect(() => readBody({ body: { secret: 1 } as never })).toThrow("use onceonly before the body parser");
  });
});
