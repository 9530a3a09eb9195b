// Values are written and read as the SDK's own marshalling does it, whose package a function then need not carry.
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { marshall, NumberValueImpl, unmarshall } from "@aws-sdk/util-dynamodb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromItem, toItem } from "../../lib/dynamodb/values.ts";

class Order {
  readonly id = "1";
}

const anything = fc.anything({
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

const maps = fc.array(fc.tuple(fc.string(), anything)).map((entries) => new Map(entries));

const values = fc.oneof(anything, sets, maps);

describe("toItem", () => {
  it("writes what the SDK writes, and refuses what the SDK refuses", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), values), (given) => {
        expect(outcomeOf(() => toItem(given))).toEqual(
          outcomeOf(() => marshall(given, { removeUndefinedValues: true })),
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
    ["bytes without a view", new ArrayBuffer(3)],
    ["a view", new DataView(new ArrayBuffer(3))],
    ["a date", new Date(0)],
    ["an instance of a class", new Order()],
    ["a function", () => 1],
    ["a function in a list", [() => 1, 2, undefined]],
    ["a symbol", Symbol("a")],
    ["an object without a prototype", Object.assign(Object.create(null), { a: [1] })],
    ["an object that inherits", Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } })],
    ["an object whose constructor is data", { constructor: "a" }],
  ])("treats %s as the SDK does", (_, value) => {
    expect(outcomeOf(() => toItem({ value }))).toEqual(
      outcomeOf(() => marshall({ value }, { removeUndefinedValues: true })),
    );
  });
});

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

function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return "refused";
  }
}
