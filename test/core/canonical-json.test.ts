import { readdirSync, readFileSync } from "node:fs";
import canonicalizeModule from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeCanonical } from "../../lib/core/canonical-json.ts";
import { isPlainObject } from "../../lib/core/json.ts";
import { HOSTILE } from "../kit/hostile-json.ts";
import { inTier } from "../setup/tier.ts";

/** The package's types say `exports.default`, but it exports the function itself. */
const canonicalize = canonicalizeModule as unknown as (value: unknown) => string;

const VECTORS = new URL("../../node_modules/canonicalize/test/testdata/", import.meta.url);
const vector = (path: string) => readFileSync(new URL(path, VECTORS), "utf8").trim();

class Refused extends Error {}

function textOf(value: unknown): string {
  return `${Buffer.from(
    writeCanonical(value, ({ path, why }) => new Refused(`${path} is ${why}`)) as string,
  )}`;
}

function textOrRefusal(value: unknown): string | undefined {
  try {
    return textOf(value);
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

/** What a fingerprint must refuse, written as plainly as possible. */
function isFaithful(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value === "number") return Number.isSafeInteger(value) || Math.abs(value % 1) > 0;
  if (Array.isArray(value)) return value.every(isFaithful);
  if (!isPlainObject(value)) return value === null || typeof value === "boolean";
  return Object.entries(value as object).every(
    ([name, inner]) => inner === undefined || (name.isWellFormed() && isFaithful(inner)),
  );
}

describe("writeCanonical", () => {
  it.each(readdirSync(new URL("input", VECTORS)))("H17: R6: RFC 8785: passes the test vector %s", (name) => {
    const input = vector(`input/${name}`);
    const output = vector(`output/${name}`);

    // Fingerprints refuse 1E30, which may have lost digits.
    expect(textOf(JSON.parse(input.replace("1E30, ", "")))).toBe(output.replace("1e+30,", ""));
  });

  it("H17: R6: RFC 8785: writes every escape of section 3.2.2.2, and escapes nothing else", () => {
    const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code));

    expect(textOf(all)).toBe(canonicalize(all));
    expect(textOf('\b\t\n\f\r"\\\u0000\u001f')).toBe('"\\b\\t\\n\\f\\r\\"\\\\\\u0000\\u001f"');
    expect(textOf("/\u007f\u2028€\u{1f600}")).toBe('"/\u007f\u2028€\u{1f600}"');
  });

  // A million values in `npm run verify:full`.
  it("H17: R6: writes random values as canonicalize 2.1 does, and refuses exactly the unfaithful ones", () => {
    let written = 0;
    fc.assert(
      fc.property(randomValue, (value) => {
        const mine = textOrRefusal(value);
        const theirs = isFaithful(value) ? canonicalize(value) : undefined;
        if (mine !== undefined) written++;
        if (mine !== theirs) expect(mine).toBe(theirs);
      }),
      { numRuns: inTier(10_000, 1_450_000), seed: 8785 },
    );

    expect(written).toBeGreaterThan(inTier(6500, 1_000_000));
  }, 1_800_000);

  it.each([4095, 4096, 4097, 100_000])(
    "H17: R6: joins the parts of %i characters without a gap",
    (length) => {
      const text = "é\u{1f600}".repeat(length / 3);
      const value = { b: [text, text, -0, { y: text, x: [] }], a: { [text]: 1 }, "10": 1, "9": text };

      expect(textOf(value)).toBe(canonicalize(value));
    },
  );

  it("H17: R6: writes a short value as a text, and a long one as bytes", () => {
    const write = (value: unknown) => writeCanonical(value, () => new Refused());

    expect(write(["short", "x"])).toBe('["short","x"]');
    expect(write(["x".repeat(4096), "x"])).toBeInstanceOf(Uint8Array);
  });

  it("H17: R6: reads each member once, so what it checks is what it writes", () => {
    const reads: string[] = [];
    const value = {
      b: {
        get inner() {
          reads.push("inner");
          return reads.length === 1 ? "first" : Number.NaN;
        },
      },
      get a() {
        reads.push("a");
        return "a";
      },
    };

    expect(textOf([value.b])).toBe('[{"inner":"first"}]');
    expect(reads).toEqual(["inner"]);
  });

  it.each([
    [{ a: 2 ** 53 }, "$.a is an integer beyond"],
    [[-(2 ** 53)], "$.0 is an integer beyond"],
    [{ a: "\ud800" }, "$.a is a string with a lone surrogate"],
    [{ "\udc00": 1 }, "$.\udc00 is a string with a lone surrogate"],
    [{ a: { "\udc00": {} } }, "$.a.\udc00 is a string with a lone surrogate"],
    [{ b: [0, { c: [] }, { d: [1n] }] }, "$.b.2.d.0 is a bigint"],
    [{ a: [1n], b: Number.NaN }, "$.a.0 is a bigint"],
    [{ a: [undefined] }, "$.a.0 is undefined"],
    [Object.assign([1], { total: 2 }), "$ is an array with holes or named properties"],
    [{ a: { [Symbol("s")]: 1 } }, "$.a is an object with symbol keys"],
    [{ a: new Map() }, "$.a is a Map: convert it first"],
  ])("H17: R6: names the first fault (%#)", (value, message) => {
    expect(() => textOf(value)).toThrow(message);
  });

  it("H18: R6: refuses a value inside itself without writing it again", () => {
    const inner: Record<string, unknown> = { a: "x".repeat(2 ** 20) };
    inner.self = { inner };

    expect(() => textOf({ inner })).toThrow("$.inner.self.inner is a reference to itself");
  });

  it("H18: R6: names the place of a value that throws when it's read, and keeps what it throws to itself", () => {
    const value = {
      get secret() {
        throw new Error("secret text");
      },
    };

    expect(() => textOf({ a: [value] })).toThrow("$.a.0.secret is a value that throws when it is read");
  });
});

const character = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }) },
  { weight: 4, arbitrary: fc.constantFrom(...'aZ019"\\/\b\t\n\u0000\u001f\u007f\u2028€é\ufb33') },
  { weight: 1, arbitrary: fc.constantFrom("\u{1f600}", "\ud83d\ude00\udc00", "\ud800") },
);
const text = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
  { weight: 1, arbitrary: fc.array(character, { maxLength: 8 }).map((all) => all.join("")) },
);
const name = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 3, arbitrary: fc.nat(120).map(String) },
  { weight: 1, arbitrary: fc.constantFrom("__proto__", "constructor", "length", "hasOwnProperty", "") },
);
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 5e-324, 1e-7, 1e21, 2 ** 53, 2 ** 53 - 1, Number.NaN),
  fc.integer({ min: -999, max: 999 }).map((whole) => whole / 100),
);

const { value: randomValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    { weight: 4, arbitrary: text },
    { weight: 3, arbitrary: number },
    { weight: 1, arbitrary: fc.constantFrom(null, true, false, ...HOSTILE) },
    { weight: 3, arbitrary: fc.array(tie("value"), { maxLength: 6 }) },
    {
      weight: 4,
      arbitrary: fc
        .array(fc.tuple(name, fc.option(tie("value"), { nil: undefined, freq: 20 })), { maxLength: 8 })
        .map(Object.fromEntries),
    },
  ),
}));
