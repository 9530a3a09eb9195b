import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { findDropped, findUnfaithful, isPlainObject } from "../../lib/core/json.ts";

/** Lists inside one another; the outermost is level 0. */
const listsTo = (level: number): unknown => JSON.parse("[".repeat(level + 1) + "]".repeat(level + 1));

describe("isPlainObject", () => {
  it.each([
    ["an object of this realm", {}, true],
    ["an object of another realm", runInNewContext("({})"), true],
    ["an object without a prototype", Object.create(null), true],
    ["an object that inherits from a plain one", Object.create({ a: 1 }), false],
    ["an object that inherits from one without a prototype", Object.create(Object.create(null)), false],
    ["an instance of another realm's class", runInNewContext("new (class { hasOwnProperty() {} })()"), false],
    ["an object that inherits a property named hasOwnProperty", Object.create({ hasOwnProperty: 1 }), false],
    ["an array", [], false],
    ["null", null, false],
    ["a string", "text", false],
  ])("decides for %s", (_, value, isPlain) => {
    expect(isPlainObject(value)).toBe(isPlain);
  });
});

describe("findDropped", () => {
  it.each([
    undefined,
    null,
    "text",
    7,
    [],
    {},
    { a: [{}, undefined], b: null },
    Object.create(null),
    new Date(0),
    { at: new Date(0), map: Object.assign(new Map(), { toJSON: () => [] }) },
    new (class Money {
      cents = 7;
    })(),
  ])("finds nothing in %o", (value) => {
    expect(findDropped(value)).toBeUndefined();
  });

  it.each([
    [new Map([["a", 1]]), "$", "a Map: convert it first"],
    [{ tags: new Set(["a"]) }, "$.tags", "a Set: convert it first"],
    [[{ at: new Error("no") }], "$.0.at", "a Error: convert it first"],
    [Promise.resolve(1), "$", "a Promise: convert it first"],
    [new (class {})(), "$", "a class instance: convert it first"],
    [() => 1, "$", "a function"],
    [{ total: () => 1 }, "$.total", "a function"],
    [[Symbol("s")], "$.0", "a symbol"],
  ])("finds in %o what JSON leaves out or empties", (value, path, why) => {
    expect(findDropped(value)).toEqual({ path, why });
  });
});

describe("findUnfaithful", () => {
  it("H18: finds nothing in 500 levels, and names the place at which the 501st begins", () => {
    expect(findUnfaithful(listsTo(500))).toBeUndefined();
    expect(findUnfaithful(listsTo(501))).toEqual({
      path: `$${".0".repeat(501)}`,
      why: "nested deeper than 500 levels",
    });
    expect(findUnfaithful({ shallow: 1, deep: listsTo(499) })).toBeUndefined();
    expect(findUnfaithful({ shallow: 1, deep: listsTo(500) })?.path).toBe(`$.deep${".0".repeat(500)}`);
  });

  it("finds nothing in a missing value", () => {
    expect(findUnfaithful(undefined)).toBeUndefined();
  });

  it("H18: reports an overflowing stack as too deep, and never as a cycle", () => {
    const payload = listsTo(200);
    const found = new Set<string | undefined>();
    let framesFromTheEnd = 0;
    const exhaustStack = (): void => {
      try {
        exhaustStack();
      } catch {
        framesFromTheEnd = 0;
      }
      if (framesFromTheEnd++ > 400) return;
      try {
        found.add(findUnfaithful(payload)?.why);
      } catch {
        // No frame was left even for the call.
      }
    };

    exhaustStack();

    found.delete(undefined);
    expect([...found]).toEqual(["nested deeper than 500 levels"]);
  });

  it.each([
    [{ a: [1, { b: 7n }] }, "$.a.1.b", "a bigint"],
    [[undefined], "$.0", "undefined"],
    [Symbol("s"), "$", "a symbol"],
    [{ a: Number.POSITIVE_INFINITY }, "$.a", "Infinity, which JSON would turn into null"],
    [Object.assign([1, 2], { total: 3 }), "$", "an array with holes or named properties"],
    [Object.create(Object.create(Object.create(null))), "$", "a class instance: convert it first"],
    [new Array(3), "$", "an array with holes or named properties"],
    [{ a: { [Symbol("s")]: 1 } }, "$.a", "an object with symbol keys"],
    [{ list: Object.assign([1], { [Symbol("s")]: 1 }) }, "$.list", "an object with symbol keys"],
  ])("reports where and why (%#)", (value, path, why) => {
    expect(findUnfaithful(value)).toEqual({ path, why });
  });

  it.each([2 ** 53, "\ud800", { "\udc00": 1 }])("accepts %o, which only fingerprints refuse", (value) => {
    expect(findUnfaithful(value)).toBeUndefined();
  });

  it("accepts undefined properties, which JSON leaves out, but not undefined array elements", () => {
    expect(findUnfaithful({ a: undefined })).toBeUndefined();
    expect(findUnfaithful({ a: [undefined] })?.path).toBe("$.a.0");
  });

  it("names the place of a value that throws when it is read", () => {
    const value = {
      a: [
        {
          get secret() {
            throw new Error("secret");
          },
        },
      ],
    };

    expect(findUnfaithful(value)).toEqual({
      path: "$.a.0.secret",
      why: "a value that throws when it is read",
    });
  });

  it("reports only the first fault", () => {
    expect(findUnfaithful({ a: [1n], b: Number.NaN })?.path).toBe("$.a.0");
  });
});
