// JSON that a client may send, whose members look like decisions about the type of a value: class names, the SDK's own
// words, members that every object has.
import fc from "fast-check";

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "name",
  "type",
  "then",
  "length",
  "size",
  "byteLength",
  "buffer",
  "toJSON",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "toAttributeValue",
  "wrappedValue",
  "wrapperName",
  "value",
  "values",
  "S",
  "N",
  "B",
  "M",
  "L",
  "SS",
  "NS",
  "BS",
  "NULL",
  "BOOL",
  "$unknown",
  "@@toStringTag",
  "isOurs",
  "statusCode",
  "body",
  "in",
  "text",
] as const;

const CLASSES = [
  "Object",
  "Array",
  "Set",
  "Map",
  "Buffer",
  "Uint8Array",
  "ArrayBuffer",
  "DataView",
  "Blob",
  "Number",
  "String",
  "Boolean",
  "BigInt",
  "Date",
  "NumberValue",
  "NumberValueImpl",
] as const;

/** Values that once were taken for something else. */
export const HOSTILE: readonly unknown[] = [
  ...CLASSES.map((name) => ({ constructor: { name } })),
  ...CLASSES.map((name) => ({ constructor: { name }, value: "1", length: 2, size: 1 })),
  ...["__proto__", "constructor", "toString", "valueOf", "then", "toJSON", "toAttributeValue"].flatMap(
    (name) =>
      ["null", "1", '"text"', "{}", '{"a":1}', "[]"].map((value) => JSON.parse(`{"${name}":${value}}`)),
  ),
  { wrapperName: "Set", values: [1], type: "Number" },
  { toAttributeValue: { N: "1" }, constructor: { name: "Number" } },
  { S: "a" },
  { N: "not a number" },
  { B: "AAEC" },
  { BS: ["AAEC"] },
  { SS: ["a", "a"] },
  { NULL: true },
  { M: { L: [] } },
  { B: { B: { B: "AAEC" } } },
  { constructor: null },
  [{ constructor: { name: "Set" } }],
  { deep: { constructor: { name: "Map" } } },
];

/** JSON values of all shapes, with such names and members in them. */
export const hostileJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...HOSTILE),
    fc.constantFrom(null, true, false, 0, -1, 1.5, "", "a", "\ud800", ...CLASSES),
    fc.string({ unit: "binary" }),
    fc.integer(),
    fc.array(tie("value"), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string()), tie("value")), { maxLength: 4 })
      // Own members, `__proto__` too, as JSON.parse makes them.
      .map((members) => Object.fromEntries(members)),
  ),
})).value;
