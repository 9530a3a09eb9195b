import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PayloadInvalidError } from "../../lib/core/errors.ts";
import { checkFaithful, Fingerprint, fingerprintOf, fingerprintsOf } from "../../lib/core/fingerprint.ts";

const parsed = (text: string) => fingerprintOf(JSON.parse(text));

/** Groups of JSON texts: equal within a group, different between groups. */
const CORPUS = [
  ['{"a":1,"b":2}', '{"b":2,"a":1}', '{ "a" : 1.0, "b" : 2e0 }', '{"\\u0061":1,"b":2}'],
  ['{"a":1}', '{"a":1.0}', '{"a":10e-1}', '{"a":1,"a":1}'],
  ['{"a":2}', '{"a":1,"a":2}'],
  ['{"a":0}', '{"a":-0}', '{"a":-0.0}', '{"a":0e5}'],
  ['{"a":0.3}', '{"a":0.30}', '{"a":3e-1}'],
  ['{"a":0.30000000000000004}'],
  ['{"a":9007199254740991}', '{"a":9007199254740991.0}'],
  ['{"a":-9007199254740991}'],
  ['{"a":5e-324}', '{"a":4.9406564584124654e-324}'],
  ['{"a":"1"}'],
  ['{"a":true}'],
  ['{"a":null}'],
  ["{}"],
  ["[]"],
  ["[[]]"],
  ["[null]"],
  ["null"],
  ["1", "1.0"],
  ["true"],
  ["false"],
  ["[1,2]"],
  ["[2,1]"],
  ['["a","b"]'],
  ['["a,b"]'],
  ['{"a":{"b":1}}'],
  ['{"a":[{"b":1}]}'],
  ['{"a":"\\u00e9"}', '{"a":"é"}'],
  // The same letter, not normalised.
  ['{"a":"e\\u0301"}'],
  ['{"":1}'],
  ['{"__proto__":1}'],
  ['{"__proto__":{"a":1}}'],
  ['{"constructor":1}'],
  ['{"a":"\\ud83d\\udd11"}', '{"a":"\u{1f511}"}'],
  ['{"1":1,"10":2,"9":3}', '{"9":3,"10":2,"1":1}'],
  ['{"a":"2020-01-01T00:00:00.000Z"}'],
];

describe("checkFaithful", () => {
  it("accepts a payload that isn't there, and refuses a member that JSON can't represent", () => {
    expect(checkFaithful(undefined)).toBeUndefined();
    expect(() => checkFaithful({ at: new Date(0) })).toThrow(PayloadInvalidError);
  });
});

describe("fingerprintOf", () => {
  it("H17: is equal exactly for equivalent JSON", () => {
    const groups = CORPUS.map((texts) => new Set(texts.map(parsed)));

    for (const [index, group] of groups.entries()) expect([index, group.size]).toEqual([index, 1]);
    expect(new Set(groups.flatMap((group) => [...group])).size).toBe(CORPUS.length);
  });

  it("H17: does not depend on the order of names, at any depth", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, child]) => [name, reversed(child)]),
      );
    };

    fc.assert(
      fc.property(jsonPayload, (payload) => {
        expect(fingerprintOf(reversed(payload))).toBe(fingerprintOf(payload));
      }),
    );
  });

  it("H17: is equal exactly when the values are equal", () => {
    fc.assert(
      fc.property(jsonPayload, jsonPayload, (one, other) => {
        expect(fingerprintOf(one) === fingerprintOf(other)).toBe(sorted(one) === sorted(other));
      }),
    );
  });

  // The example of RFC 8785 section 3.2.2, with its canonical form from section 3.2.3.
  it("H17: RFC 8785: literals, strings and numbers have their canonical form", () => {
    const input = `{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
      "literals": [null, true, false]
    }`;
    const withoutLarge = input.replace("1E30, ", "");
    const canonical =
      '{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}';

    expect(parsed(withoutLarge)).toBe(parsed(canonical));
    expect(() => parsed(input)).toThrow("$.numbers.1 is an integer beyond ±(2^53−1)");
  });

  // RFC 8785 section 3.2.3: names are sorted by UTF-16 code units.
  it("H17: RFC 8785: names are compared as UTF-16", () => {
    const names = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6"];
    const inOrder = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\u{1f600}", "\ufb33"];

    const payload = Object.fromEntries(names.map((name, index) => [name, index]));

    expect(fingerprintOf(payload)).toBe(
      fingerprintOf(Object.fromEntries(inOrder.map((name) => [name, names.indexOf(name)]))),
    );
  });

  // RFC 8785 appendix B: IEEE 754 bits and their text.
  it.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("H17: RFC 8785: the number with the bits %s counts as %s", (bits, text) => {
    const number = Buffer.from(bits, "hex").readDoubleBE();

    expect(JSON.stringify([number])).toBe(`[${text}]`);
    expect(fingerprintOf([number])).toBe(fingerprintOf([Number(text)]));
  });

  // The rest of appendix B: no numbers, or integers that JSON.parse may already have rounded.
  it.each([
    "7fefffffffffffff",
    "ffefffffffffffff",
    "4340000000000000",
    "c340000000000000",
    "4430000000000000",
    "7fffffffffffffff",
    "7ff0000000000000",
    "44b52d02c7e14af5",
    "44b52d02c7e14af6",
    "44b52d02c7e14af7",
    "444b1ae4d6e2ef4e",
    "444b1ae4d6e2ef4f",
    "444b1ae4d6e2ef50",
  ])("H17: RFC 8785: the number with the bits %s is refused", (bits) => {
    const number = Buffer.from(bits, "hex").readDoubleBE();

    expect(() => fingerprintOf([number])).toThrow(PayloadInvalidError);
  });

  it.each([
    ["2^53", 2 ** 53, "$ is an integer beyond"],
    ["−2^53", { a: [-(2 ** 53)] }, "$.a.0 is an integer beyond"],
    ["a large double", { total: 1e21 }, "$.total is an integer beyond"],
    ["NaN", { a: Number.NaN }, "$.a is NaN"],
    ["infinity", [Number.POSITIVE_INFINITY], "$.0 is Infinity"],
    ["a BigInt", { a: 1n }, "$.a is a bigint"],
    ["a function", { a: () => 1 }, "$.a is a function"],
    ["a symbol", [Symbol("a")], "$.0 is a symbol"],
    ["undefined in a list", [undefined], "$.0 is undefined"],
    ["a Date", { at: new Date(0) }, "$.at is a"],
    ["a Map", new Map(), "$ is a Map"],
    [
      "a list with toJSON",
      Object.defineProperty([], "toJSON", { value: () => 1 }),
      "$ is an object with toJSON",
    ],
    ["a Buffer in an object", { raw: Buffer.from("a") }, "$.raw is a"],
    ["a list with holes", new Array(2), "$ is an array with holes or named properties"],
    ["a lone surrogate", { a: "\ud800" }, "$.a is a string with a lone surrogate"],
    ["a lone surrogate as the payload", "\udfff", "$ is a string with a lone surrogate"],
    ["a lone surrogate in a name", { x: { "\ud800": 1 } }, "is a string with a lone surrogate"],
  ])("H17: rejects %s, and names the place", (_, payload, message) => {
    expect(() => fingerprintOf(payload)).toThrow(PayloadInvalidError);
    expect(() => fingerprintOf(payload)).toThrow(message);
  });

  it("leaves out properties that are undefined, as JSON does", () => {
    expect(fingerprintOf({ a: 1, b: undefined })).toBe(fingerprintOf({ a: 1 }));
  });

  it("counts strings and bytes byte for byte, and distinguishes a string from JSON that looks the same", () => {
    expect(fingerprintOf('{"a":1}')).toBe(fingerprintOf(Buffer.from('{"a":1}')));
    expect(fingerprintOf('{"a":1}')).toBe(fingerprintOf(new Uint8Array(Buffer.from('{"a":1}'))));
    expect(fingerprintOf('{"a":1}')).not.toBe(fingerprintOf('{"a": 1}'));
    expect(fingerprintOf('{"a":1}')).not.toBe(parsed('{"a":1}'));
    expect(fingerprintOf("null")).not.toBe(fingerprintOf(null));
  });

  it("distinguishes a missing payload from an empty one", () => {
    const all = [undefined, null, "", {}, [], new Uint8Array()].map(fingerprintOf);

    expect(all[2]).toBe(all[5]);
    expect(new Set(all).size).toBe(5);
  });

  it("carries its version in front", () => {
    expect(fingerprintOf({ a: 1 })).toMatch(/^1:[\w-]{43}$/);
  });

  it("stays the same from release to release", () => {
    expect(fingerprintOf({ item: "book", count: 2 })).toBe(STORED.json);
    expect(fingerprintOf("raw")).toBe(STORED.raw);
    expect(fingerprintOf(undefined)).toBe(STORED.none);
    expect(fingerprintOf(new Fingerprint("http", "POST", "/orders"))).toBe(STORED.parts);
  });
});

describe("fingerprintsOf", () => {
  it("has one for each way to make it", () => {
    const ways = [(input: unknown) => input, () => "fixed"];

    expect(fingerprintsOf(ways, { a: 1 })).toEqual([fingerprintOf({ a: 1 }), fingerprintOf("fixed")]);
  });

  it("throws if the chosen part is undefined, unless the whole payload is", () => {
    const partOf = (input: unknown) => (input as { item?: unknown } | undefined)?.item;

    expect(() => fingerprintsOf([partOf], { itm: "book" })).toThrow(
      expect.objectContaining({
        code: "PAYLOAD_INVALID",
        message: expect.stringContaining("returned undefined"),
      }),
    );
    expect(fingerprintsOf([partOf], undefined)).toEqual([fingerprintOf(undefined)]);
  });
});

/** A change here makes every stored fingerprint a mismatch: it needs a new version. */
const STORED = {
  json: "1:H5Sm4yVDHttuHMUpVBC0PM7XZWYktX73UUnbIvmnSwo",
  raw: "1:L-bcBoX4cVUIvitPB8TIamCZxTYD2aMDBB2UzIOiStY",
  none: "1:vOAjhZ0ISZBkmrUTaBHbkQ6dIVp7SEVg7i1JaZN4W-A",
  parts: "2:dXHMESVBKAieQ6AJ9zDrzhV4fnNA9e24uz5ZXf0q7q8",
};

/** JSON whose integers are safe and whose text is well-formed. */
const jsonPayload = fc.jsonValue({ stringUnit: "grapheme" }).filter((value) => {
  try {
    fingerprintOf(value);
    return true;
  } catch {
    return false;
  }
});

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, child) =>
    typeof child === "object" && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([one], [other]) => (one < other ? -1 : 1)))
      : child,
  );
}
