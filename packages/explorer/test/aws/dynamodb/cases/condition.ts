/** Conditions: comparisons, functions and how they are put together. */
import { guide, recorded } from "./case.ts";
import { conditionCases } from "./expression-case.ts";
import { B, L, M, N, NS, NULL, S, SS, YES } from "./given.ts";

const ITEM = {
  n: N(5),
  str: S("str"),
  bytes: B(1, 2),
  yes: YES,
  nothing: NULL,
  arr: L(N(1), S("x"), M({ deep: N(7) })),
  obj: M({ x: N(1), y: S("q") }),
  texts: SS("a", "b"),
  numbers: NS(1, 22),
};

const operators = conditionCases(ITEM, guide("Expressions.OperatorsAndFunctions"));
const values = (values: Record<string, Parameters<typeof M>[0][string]>) => ({ values });
const v = (value: Parameters<typeof M>[0][string]) => values({ ":v": value });

export const comparisonCases = [
  operators("n = :v", "holds", v(N("5.0"))),
  operators("n = :v", "does not hold", v(S("5"))),
  operators("n <> :v", "holds", v(S("5"))),
  operators("n <> :v", "does not hold", v(N("0.5E1"))),
  operators("n < :v", "holds", v(N(10))),
  operators("n < :v", "does not hold", v(N(5))),
  operators("n <= :v", "holds", v(N(5))),
  operators("n > :v", "holds", v(N("-6"))),
  operators("n >= :v", "does not hold", v(N("5.00000000000000000000000000000000001"))),
  operators("n < :v", "does not hold", v(S("6"))),
  operators("str < :v", "holds", v(S("sts"))),
  operators("str < :v", "holds", v(S("str "))),
  operators("bytes > :v", "holds", v(B(1, 1, 255))),
  operators("bytes > :v", "does not hold", v(B(1, 2, 0))),
  operators(":v > n", "holds", v(N(6))),
  operators("yes = :v", "holds", v(YES)),
  operators("nothing = :v", "holds", v(NULL)),
  operators("arr = :v", "holds", v(L(N(1), S("x"), M({ deep: N(7) })))),
  operators("arr = :v", "does not hold", v(L(S("x"), N(1), M({ deep: N(7) })))),
  operators("obj = :v", "holds", v(M({ y: S("q"), x: N("1.0") }))),
  operators("texts = :v", "holds", v(SS("b", "a"))),
  operators("texts = :v", "does not hold", v(SS("a"))),
  operators("numbers = :v", "holds", v(NS("22.0", 1))),
  operators("n = obj.x", "does not hold"),
  operators("arr[0] = obj.x", "holds"),
  operators("n BETWEEN :a AND :b", "holds", values({ ":a": N(5), ":b": N(9) })),
  operators("n BETWEEN :a AND :b", "does not hold", values({ ":a": N(6), ":b": N(9) })),
  operators("str BETWEEN :a AND :b", "holds", values({ ":a": S("s"), ":b": S("t") })),
  operators(":v BETWEEN obj.x AND n", "holds", v(N(2))),
  operators("n IN (:a, :b)", "holds", values({ ":a": N(1), ":b": N(5) })),
  operators("n IN (:a, str, obj.x)", "does not hold", values({ ":a": S("5") })),
  operators("n IN (:v)", "holds", v(N(5))),
];

const missing = conditionCases(ITEM, recorded("tier1/putItem/conditions"));

export const missingAttributeCases = [
  missing("nope = :v", "does not hold", v(N(1))),
  missing("nope <> :v", "holds", v(N(1))),
  missing("nope <> neither", "holds"),
  missing("nope = neither", "does not hold"),
  missing("nope < :v", "does not hold", v(N(1))),
  missing("NOT nope < :v", "holds", v(N(1))),
  missing("nope BETWEEN :v AND :v", "does not hold", v(N(1))),
  missing("nope IN (:v)", "does not hold", v(N(1))),
  missing("obj.nope <> :v", "holds", v(N(1))),
  missing("arr[9] = :v", "does not hold", v(N(1))),
];

export const functionCases = [
  operators("attribute_exists(n)", "holds"),
  operators("attribute_exists(nope)", "does not hold"),
  operators("attribute_exists(obj.x)", "holds"),
  operators("attribute_exists(obj.z)", "does not hold"),
  operators("attribute_exists(arr[2].deep)", "holds"),
  operators("attribute_exists(arr[3])", "does not hold"),
  operators("attribute_exists(str.x)", "does not hold"),
  operators("attribute_exists(nothing)", "holds"),
  operators("attribute_not_exists(obj.z.q)", "holds"),
  operators("attribute_not_exists(pk)", "does not hold"),
  operators("attribute_exists (n)", "holds"),
  ...Object.entries({ n: "N", str: "S", bytes: "B", yes: "BOOL", nothing: "NULL", arr: "L", obj: "M" }).map(
    ([name, type]) => operators(`attribute_type(${name}, :v)`, "holds", v(S(type))),
  ),
  operators("attribute_type(texts, :v)", "holds", v(S("SS"))),
  operators("attribute_type(numbers, :v)", "does not hold", v(S("SS"))),
  operators("attribute_type(nope, :v)", "does not hold", v(S("NULL"))),
  operators("begins_with(str, :v)", "holds", v(S("st"))),
  operators("begins_with(str, :v)", "holds", v(S(""))),
  operators("begins_with(str, :v)", "does not hold", v(S("tr"))),
  operators("begins_with(bytes, :v)", "holds", v(B(1))),
  operators("begins_with(bytes, :v)", "does not hold", v(B(2))),
  operators("begins_with(n, :v)", "does not hold", v(S("5"))),
  operators("begins_with(:v, str)", "holds", v(S("strong"))),
  operators("contains(str, :v)", "holds", v(S("tr"))),
  operators("contains(str, :v)", "does not hold", v(N(1))),
  operators("contains(texts, :v)", "holds", v(S("a"))),
  operators("contains(texts, :v)", "does not hold", v(SS("a"))),
  operators("contains(numbers, :v)", "holds", v(N("22.0"))),
  operators("contains(arr, :v)", "holds", v(N("1.0"))),
  operators("contains(arr, :v)", "holds", v(M({ deep: N(7) }))),
  operators("contains(obj, :v)", "does not hold", v(S("x"))),
  operators("contains(bytes, :v)", "holds", v(B(2))),
  operators("contains(:v, str)", "holds", v(SS("str"))),
  operators("contains(arr, n)", "does not hold"),
  operators("size(str) = :v", "holds", v(N(3))),
  operators("size(bytes) = :v", "holds", v(N(2))),
  operators("size(arr) > :v", "holds", v(N(2))),
  operators("size(obj) = :v", "holds", v(N(2))),
  operators("size(texts) BETWEEN :v AND :v", "holds", v(N(2))),
  operators("size(numbers) IN (:v)", "holds", v(N(2))),
  operators("size(n) = :v", "does not hold", v(N(1))),
  operators("size(nope) = :v", "does not hold", v(N(0))),
  operators("size(nope) <> :v", "holds", v(N(0))),
  operators("size(obj) = size(bytes)", "holds"),
  operators(":v = size(str)", "holds", v(N(3))),
];

const logic = conditionCases(
  ITEM,
  guide("Expressions.OperatorsAndFunctions#Expressions.OperatorsAndFunctions.Precedence"),
);
const [T, F] = ["n = :t", "n = :f"];
const both = values({ ":t": N(5), ":f": N(6) });
const onlyT = values({ ":t": N(5) });
const onlyF = values({ ":f": N(6) });

export const logicCases = [
  logic(`${T} AND ${F}`, "does not hold", both),
  logic(`${T} OR ${F}`, "holds", both),
  logic(`${T} OR ${F} AND ${F}`, "holds", both),
  logic(`${F} AND ${F} OR ${T}`, "holds", both),
  logic(`(${T} OR ${F}) AND ${F}`, "does not hold", both),
  logic(`NOT ${F}`, "holds", onlyF),
  logic(`NOT ${T} OR ${T}`, "holds", onlyT),
  logic(`NOT (${T} OR ${T})`, "does not hold", onlyT),
  logic(`NOT ${F} AND ${F}`, "does not hold", onlyF),
  logic(`NOT NOT ${T}`, "holds", onlyT),
  logic(`NOT n BETWEEN :t AND :f`, "does not hold", both),
  logic(`n BETWEEN :t AND :f AND ${F}`, "does not hold", both),
  logic(`${F} or not ${F} and ${T}`, "holds", both),
  logic(`(${T}) AND (NOT (${F}))`, "holds", both),
  logic(`${T}\n\tAND\n\t${T}`, "holds", onlyT),
  logic(`n=:t OR(n<>:t)`, "holds", onlyT),
];
