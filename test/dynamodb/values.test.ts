// Values are written and read as the SDK's own marshalling does it, whose package a function then need not carry. Where the
// SDK lets a value's own members decide its type, or sends nothing of its bytes, the value is stored as it is, or refused.
import { runInNewContext } from "node:vm";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { marshall, NumberValueImpl, unmarshall } from "@aws-sdk/util-dynamodb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromItem, toItem, unstorableIn } from "../../lib/dynamodb/values.ts";
import { HOSTILE, hostileJson } from "../kit/hostile-json.ts";

class Order {
  readonly id = "1";
}

/** The SDK lets these members decide the type of an object, or loses them. */
const names = fc.string().filter((name) => !/^(__proto__|constructor)$/.test(name));

const anything = fc.anything({
  key: names,
  withBigInt: true,
  withDate: true,
  withNullPrototype: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
});

/** Sets of one type: the SDK's own verdict on mixed sets depends on the order of their members. */
const sets = fc
  .oneof(
    fc.array(fc.string()),
    fc.array(fc.double()),
    fc.array(fc.integer()),
    fc.array(fc.bigInt()),
    fc.array(fc.uint8Array()),
    fc.array(fc.boolean()),
    fc.array(fc.object()),
  )
  .map((members) => new Set<unknown>(members));

const maps = fc.array(fc.tuple(names, anything)).map((entries) => new Map(entries));

const values = fc.oneof(anything, sets, maps);

describe("toItem", () => {
  it("writes what the SDK writes, and rejects what the SDK rejects", () => {
    fc.assert(
      fc.property(fc.dictionary(names, values), (given) => {
        expect(outcomeOf(() => toItem(given))).toEqual(
          withBytes(outcomeOf(() => marshall(given, { removeUndefinedValues: true }))),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["a set of texts", new Set(["a", "", "b"])],
    ["a set of numbers", new Set([1, 2.5, -3])],
    ["a set of large integers", new Set([2n ** 70n, 1n])],
    ["a set of bytes", new Set([Buffer.from("a"), new Uint8Array([1])])],
    ["a set with what is undefined", new Set(["a", undefined])],
    ["a set of nothing", new Set()],
    ["a set of what is undefined", new Set([undefined])],
    ["a set of booleans", new Set([true])],
    ["a set of objects", new Set([{ a: 1 }])],
    ["a set of exact numbers", new Set([NumberValueImpl.from("12345678901234567890.5")])],
    ["an exact number", NumberValueImpl.from("12345678901234567890.5")],
    [
      "a map",
      new Map<unknown, unknown>([
        ["a", 1],
        [2, { b: undefined }],
      ]),
    ],
    ["an integer that is too large", 2 ** 53],
    ["a fraction that is too large", 1e300],
    ["no number", Number.NaN],
    ["an endless number", Number.NEGATIVE_INFINITY],
    ["minus zero", -0],
    ["a small number", 1e-7],
    ["a boxed number", new Number(5)],
    ["a boxed text", new String("a")],
    ["a boxed boolean", new Boolean(false)],
    ["a date", new Date(0)],
    ["an instance of a class", new Order()],
    ["a function", () => 1],
    ["a function in a list", [() => 1, 2, undefined]],
    ["a symbol", Symbol("a")],
    ["an object without a prototype", Object.assign(Object.create(null), { a: [1] })],
  ])("treats %s as the SDK does", (_, value) => {
    expect(outcomeOf(() => toItem({ value }))).toEqual(
      withBytes(outcomeOf(() => marshall({ value }, { removeUndefinedValues: true }))),
    );
  });

  it("H85: A5: stores JSON exactly or refuses it, whatever its members are called", () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...HOSTILE), hostileJson), (value) => {
        const item = outcomeOf(() => toItem({ value }));
        if (item === "refused") expect(JSON.stringify(value)).toMatch(/"__proto__"|\\ud800/);
        else expect(fromItem(item as Record<string, AttributeValue>)).toEqual({ value });
      }),
      { numRuns: 2000 },
    );
  });

  it("H85: A5: only own members are data, and an object that inherits from data is refused", () => {
    expect(() => toItem({ value: Object.create({ inherited: 1 }) })).toThrow("is a Object");
    expect(() => toItem({ value: Object.create(Object.create(null, { a: { value: 1 } })) })).toThrow(
      "is a class instance",
    );
    Object.defineProperty(Object.prototype, "polluted", { value: 1, enumerable: true, configurable: true });
    const item = toItem({ value: { a: "b" } });
    Reflect.deleteProperty(Object.prototype, "polluted");
    expect(item).toEqual({ value: { M: { a: { S: "b" } } } });
  });

  it("H85: A5: knows the types of another realm, and subclasses", () => {
    class Tags extends Set<string> {}
    class Texts extends Map<string, string> {}
    const foreign = runInNewContext(
      "({ plain: { a: 1 }, list: [1], set: new Set(['a']), map: new Map([['a', 1]]), bytes: new Uint8Array([1]) })",
    );

    expect(toItem({ ...foreign, tags: new Tags(["a"]), texts: new Texts([["a", "b"]]) })).toEqual({
      plain: { M: { a: { N: "1" } } },
      list: { L: [{ N: "1" }] },
      set: { SS: ["a"] },
      map: { M: { a: { N: "1" } } },
      bytes: { B: new Uint8Array([1]) },
      tags: { SS: ["a"] },
      texts: { M: { a: { S: "b" } } },
    });
  });

  it.each([
    ["an ArrayBuffer", Uint8Array.of(1, 2).buffer],
    ["a SharedArrayBuffer", shared(1, 2)],
    ["a DataView", new DataView(Uint8Array.of(0, 1, 2, 0).buffer, 1, 2)],
    ["a Buffer", Buffer.from([1, 2])],
    ["a view of a part", Uint8Array.of(0, 1, 2, 0).subarray(1, 3)],
    ["an Int8Array", Int8Array.of(1, 2)],
    ["a Uint16Array", Uint16Array.of(0x0201)],
    ["a Uint8ClampedArray", Uint8ClampedArray.of(1, 2)],
  ])("D6: makes bytes of %s, by itself, deep inside and in a set", (_, value) => {
    const item = toItem({ value, deep: [{ value }], set: new Set([value]) });
    const bytes = new Uint8Array([1, 2]);

    expect(item).toEqual({
      value: { B: bytes },
      deep: { L: [{ M: { value: { B: bytes } } }] },
      set: { BS: [bytes] },
    });
    expect([item.value?.B, item.set?.BS?.[0]].map((each) => each?.constructor)).toEqual([
      Uint8Array,
      Uint8Array,
    ]);
  });

  it("D6: copies bytes, which a handler may change while a request is retried", () => {
    const value = Buffer.from("before");
    const item = toItem({ value });
    value.fill("x");

    expect(Buffer.from(item.value?.B as Uint8Array).toString()).toBe("before");
  });

  it.each<[refusal: string, file: unknown]>([
    [" is a Blob: pass its bytes, as in `new Uint8Array(await blob.arrayBuffer())`", new Blob(["a"])],
    [" is a File: pass its bytes", new File(["a"], "a.txt")],
    [" is a Date: convert it to plain values", new Date(0)],
    [" is a Order: convert it", new Order()],
    [".0.a is a symbol", [{ a: Symbol("secret") }]],
    [" is NaN", Number.NaN],
    [" is a number beyond ±(2^53−1), which may have lost digits: pass a BigInt", 2 ** 53],
    [" is a string with a lone surrogate, or a property", "a\ud800"],
    [" is a string with a lone surrogate, or a property whose name has one", { "a\udc00": 1 }],
    [" has a property named `__proto__`: rename it", JSON.parse('{"__proto__":{"secret":1}}')],
    [" is an empty set, or a set of anything but strings, numbers or bytes", new Set([1, "a"])],
    [`${".0".repeat(9)} is nested deeper than the 32 levels that DynamoDB allows`, nested(60)],
    [`${".0".repeat(9)} is nested deeper than the 32 levels that DynamoDB allows`, nested(100_000)],
    [
      " can't be read",
      {
        get a() {
          throw new Error("secret");
        },
      },
    ],
  ])("A5, D6: refuses a value by its place and kind, without the value:%s", (refusal, file) => {
    const message = unstorableIn(["Put"], { Item: { file } });

    expect(() => toItem({ file })).toThrow();
    expect(message.startsWith(`Put.Item.file${refusal}`)).toBe(true);
    expect(message).not.toContain("secret");
  });
});

function nested(levels: number): unknown {
  return JSON.parse("[".repeat(levels) + "]".repeat(levels));
}

function shared(...bytes: number[]): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return buffer;
}

describe("fromItem", () => {
  it("reads what it has written as the SDK reads it", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string().filter((name) => name !== "__proto__"),
          values,
        ),
        (given) => {
          const item = outcomeOf(() => toItem(given)) as Record<string, AttributeValue> | "refused";
          if (item === "refused") return;
          expect(fromItem(item)).toEqual(unmarshall(item, { wrapNumbers: exactNumber }));
        },
      ),
    );
  });

  it.each([
    ["a value without a type", { a: {} }],
    ["a value of an unknown type", { a: { X: "1" } }],
  ])("refuses %s", (_, item) => {
    expect(() => fromItem(item as never)).toThrow(TypeError);
  });
});

function exactNumber(text: string): number | bigint {
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text)) ? BigInt(text) : Number(text);
}

/** The SDK hands on what it was given for bytes. */
function withBytes(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(withBytes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBytes(inner)]));
}

function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return "refused";
  }
}
