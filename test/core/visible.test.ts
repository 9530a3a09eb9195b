import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { visible } from "../../lib/core/visible.ts";

describe("visible", () => {
  it.each([
    ["an escape sequence", "\u001b[2J\u001b]0;title\u0007", "\\u001b[2J\\u001b]0;title\\u0007"],
    ["line ends", "a\r\nb\u2028c\u2029d\u0085e\u000bf", "a\\r\\nb\\u2028c\\u2029d\\u0085e\\u000bf"],
    ["a tab", "a\tb", "a\\tb"],
    ["a C1 control, which begins a sequence too", "\u009b31m", "\\u009b31m"],
    ["DEL", "\u007f", "\\u007f"],
    ["marks of direction", "a\u202eb\u2066c\u200f\u061c", "a\\u202eb\\u2066c\\u200f\\u061c"],
    [
      "characters without a width",
      "a\u200bb\u200d\ufeff\u00ad\u2060\u3164",
      "a\\u200bb\\u200d\\ufeff\\u00ad\\u2060\\u3164",
    ],
    ["tags and selectors", "a\u{e0041}b\ufe0f", "a\\udb40\\udc41b\\ufe0f"],
    ["half of a pair", "a\ud800b", "a\\ud800b"],
    ["letters of any script, and emoji", "Åsa 東京 مرحبا 😀", "Åsa 東京 مرحبا 😀"],
    ["what was escaped before", "\\u001b \\n", "\\u001b \\n"],
  ])("H93: R6: shows %s", (_, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it("H93: R6: a line of JSON stays the same JSON", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(JSON.parse(visible(JSON.stringify({ text })))).toEqual({ text });
      }),
    );
  });
});
