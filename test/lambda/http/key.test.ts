import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseKeyHeader } from "../../../lib/lambda/http/adapter.ts";

describe("parseKeyHeader", () => {
  it.each([
    ["a string", ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'], "8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ["a bare value", ["8e03978e-40d5-43dd-bc93-6894a57f9324"], "8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ["escapes in a string", ['"a\\"b\\\\c"'], 'a"b\\c'],
    ["a string with commas and semicolons", ['"a,b;c"'], "a,b;c"],
    ["a string with parameters", ['"a";v=1; w="x,y";z'], "a"],
    ["space around the value", ['  "a"  '], "a"],
    ["an empty string, which the rule for keys refuses", ['""'], ""],
    ["the same key on two lines", ['"a"', "a"], "a"],
    ["the same key on two joined lines", ['"a", a'], "a"],
    ["no line", [], undefined],
  ])("reads %s", (_, lines, key) => {
    expect(parseKeyHeader(lines, false)).toBe(key);
  });

  it.each([
    ["an open string", ['"a']],
    ["text after a string", ['"a"b']],
    ["a space in a bare value", ["a b"]],
    ["a quote in a bare value", ['a"b']],
    ["a bare value with parameters", ["a;v=1"]],
    ["an unknown escape", ['"a\\b"']],
    ["text beyond ASCII", ["é"]],
    ["a parameter without a name", ['"a";=1']],
    ["a comma at the end", ['"a",']],
    ["an empty line", [""]],
    ["two different keys", ['"a"', '"b"']],
    ["two different keys on joined lines", ["a, b"]],
  ])("refuses %s", (_, lines) => {
    expect(() => parseKeyHeader(lines, false)).toThrow(
      expect.objectContaining({ code: "IDEMPOTENCY_KEY_INVALID" }),
    );
  });

  it("refuses bare values when it is strict", () => {
    expect(parseKeyHeader(['"a"'], true)).toBe("a");
    expect(() => parseKeyHeader(["a"], true)).toThrow(
      "malformed idempotency key: send a string in double quotes",
    );
  });

  it("reads back every key that can be written as a string", () => {
    const visible = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)),
    });

    fc.assert(
      fc.property(visible, (key) => {
        const written = `"${key.replace(/["\\]/g, "\\$&")}"`;
        expect(parseKeyHeader([written], true)).toBe(key);
      }),
    );
  });

  it("never throws any other error, and needs linear time", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 40 }), { maxLength: 3 }), (lines) => {
        try {
          parseKeyHeader(lines, false);
        } catch (error) {
          expect(error).toMatchObject({ code: "IDEMPOTENCY_KEY_INVALID" });
        }
      }),
    );
    const startedAt = performance.now();
    for (const line of [
      `"${"\\\\".repeat(50_000)}`,
      `"a"${"; ".repeat(50_000)}`,
      `${"a,".repeat(50_000)}"`,
    ]) {
      expect(() => parseKeyHeader([line], false)).toThrow();
    }
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});
