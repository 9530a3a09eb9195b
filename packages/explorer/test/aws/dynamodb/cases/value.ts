/** What values may be, and how they are handed out again. */
import { expect } from "vitest";
import { dynalite, guide, recorded, refused, shows } from "./case.ts";
import { valueCases } from "./expression-case.ts";
import { B, get, L, M, N, NS, NULL, newKey, plainTable, putPlain, S, SS, YES } from "./given.ts";

const types = valueCases(guide("HowItWorks.NamingRulesDataTypes#HowItWorks.DataTypes"));
const empty = valueCases(recorded("tier3/limits/emptyValues"));
const precise = valueCases(recorded("tier3/limits/numberPrecision"));
const seen = valueCases(dynalite("putItem"));
const recordedSets = valueCases(recorded("tier1/updateItem/basic"));

function nested(depth: number): Parameters<typeof L>[0] {
  return depth === 1 ? S("x") : L(nested(depth - 1));
}

export const typeCases = [
  types("a text", S("é\u{1F600}")),
  types("bytes", B(0, 255)),
  types("a boolean", { BOOL: false }),
  types("null", NULL),
  types("a list of everything", L(S("a"), N(1), B(1), YES, NULL, SS("a"), L(), M({}))),
  types("a map in a map", M({ a: M({ b: M({}) }) })),
  types("a set of texts", SS("a", "b")),
  types("a set of numbers", NS("1.0", "2e3"), NS(1, 2000)),
  recordedSets("a set of texts in another order", SS("b", "", "a"), SS("", "a", "b")),
  recordedSets("a set of numbers in another order", NS(10, 9, -1), NS(-1, 9, 10)),
  types("a set of bytes", { BS: [new Uint8Array([]), new Uint8Array([1])] }),
  types("a list with the same twice", L(N(1), N(1))),
  empty("an empty text", S("")),
  empty("an empty text in a list", L(S(""))),
  empty("no bytes", { B: new Uint8Array(0) }),
  empty("an empty list", L()),
  empty("an empty map", M({})),
  empty("an empty set of texts", SS(), "is refused"),
  empty("an empty set of numbers", NS(), "is refused"),
  empty("an empty set of bytes", { BS: [] }, "is refused"),
  empty("an empty set in a map", M({ a: SS() }), "is refused"),
  seen("a set with an empty text", SS("")),
  seen("a set of texts with the same twice", SS("a", "a"), "is refused"),
  seen("a set of numbers with the same twice", NS(1, "1.0"), "is refused"),
  seen("null that is false", { NULL: false }, "is refused"),
  types("a list of 31 levels", nested(32)),
  types("a list of 32 levels", nested(33), "is refused"),
];

const digits38 = "12345678901234567890123456789012345678";

export const numberCases = [
  ...(
    [
      ["0", "0"],
      ["-0", "0"],
      ["0.00", "0"],
      ["00042", "42"],
      ["+5", "5"],
      ["1.50", "1.5"],
      [".5", "0.5"],
      ["5.", "5"],
      ["1e3", "1000"],
      ["1.5E+2", "150"],
      ["-1.5E-3", "-0.0015"],
      ["1E-7", "0.0000001"],
      ["0E200", "0"],
      [digits38, digits38],
      [`${digits38}00`, `${digits38}00`],
      [`-0.000${digits38}`, `-0.000${digits38}`],
      ["9.9999999999999999999999999999999999999E+125", `${"9".repeat(38)}${"0".repeat(88)}`],
      ["-1E125", `-1${"0".repeat(125)}`],
      ["1E-130", `0.${"0".repeat(129)}1`],
    ] as const
  ).map(([number, stored]) => precise(`the number ${number}`, N(number), N(stored))),
  ...[
    `${digits38}9`,
    "1E126",
    "-1E126",
    "1E-131",
    "",
    "abc",
    "1e",
    " 1",
    "1 ",
    "NaN",
    "Infinity",
    "0x10",
    "1_000",
  ].map((number) => precise(`the number ${JSON.stringify(number)}`, N(number), "is refused")),
];

const MAX_ITEM = 400 * 1024;

export const itemCases = [
  shows("an attribute may have any name", guide("HowItWorks.NamingRulesDataTypes"), async (subject) => {
    const attributes = JSON.parse(
      '{"a.b":{"N":"1"},"constructor":{"N":"2"},"toString":{"N":"3"},"ü":{"N":"4"}}',
    );

    const at = await putPlain(subject, attributes);

    expect(await get(subject, at)).toEqual({ ...attributes, ...at.Key });
  }),
  shows(
    "an update makes nothing deeper than 32 levels",
    recorded("tier3/limits/nestingDepth"),
    async (subject) => {
      const at = await putPlain(subject, { obj: M({ x: M({}) }) });
      const update = (value: ReturnType<typeof nested>) =>
        subject.call("UpdateItem", {
          ...at,
          UpdateExpression: "SET obj.x.y = :v",
          ExpressionAttributeValues: { ":v": value },
        });

      await update(nested(30));
      await refused(update(nested(31)), "ValidationException");
    },
  ),
  shows("an attribute has a name", dynalite("putItem"), async (subject) => {
    await refused(putPlain(subject, { "": N(1) }), "ValidationException");
  }),
  shows("an item has 400 KB, its names included", guide("Constraints#limits-items"), async (subject) => {
    const Key = newKey();
    const room = MAX_ITEM - "pk".length - Key.pk.S.length - "data".length;
    const TableName = await plainTable(subject);
    const put = (bytes: number) =>
      subject.call("PutItem", { TableName, Item: { ...Key, data: S("x".repeat(bytes)) } });

    await put(room);
    await refused(put(room + 1), "ValidationException");
    await refused(
      subject.call("UpdateItem", {
        TableName,
        Key,
        UpdateExpression: "SET n = :n",
        ExpressionAttributeValues: { ":n": NULL },
      }),
      "ValidationException",
    );
  }),
  ...(
    [
      ["the number 123", N(123), 3],
      ["the number -123", N(-123), 4],
      ["the number 0", N(0), 1],
      ["the number 1E125", N("1E125"), 2],
      ["the number 1010", N("1010"), 3],
      ["the number 0.15", N("0.15"), 2],
      ["the number 1.5", N("1.5"), 3],
      ["the number 100.5", N("100.5"), 4],
      ["the number 3.14159", N("3.14159"), 5],
      ["the number 123456", N("123456"), 4],
      ["a number of 38 digits", N(digits38), 20],
      ["a boolean", YES, 1],
      ["null", NULL, 1],
      ["an empty map", M({}), 3],
      ["an empty list", L(), 3],
      ["a list of null", L(NULL), 5],
      ["a map of null", M({ k: NULL }), 6],
      ["a set of texts", SS("ab", "c"), 3],
      ["a set of numbers", NS(1, 22), 4],
      ["a text of two characters and six bytes", S("é\u{1F600}"), 6],
    ] as const
  ).map(([what, value, bytes]) =>
    shows(
      `${what} has ${bytes} bytes`,
      guide("CapacityUnitCalculations#ItemSizeCalculations"),
      async (subject) => {
        const Key = newKey();
        const room = MAX_ITEM - "pk".length - Key.pk.S.length - "data".length - "v".length - bytes;
        const TableName = await plainTable(subject);
        const put = (data: number) =>
          subject.call("PutItem", { TableName, Item: { ...Key, data: S("x".repeat(data)), v: value } });

        await put(room);
        await refused(put(room + 1), "ValidationException");
      },
    ),
  ),
];
