/** Conditions that DynamoDB does not take: their grammar, and what it can check without an item. */
import { dynalite, guide, recorded } from "./case.ts";
import { conditionCases } from "./expression-case.ts";
import { L, M, N, S, SS, YES } from "./given.ts";

const ITEM = { n: N(5), str: S("str"), arr: L(N(1)), obj: M({ x: N(1) }), texts: SS("a") };

const v = (value: Parameters<typeof M>[0][string]) => ({ values: { ":v": value } });
const grammar = conditionCases(
  ITEM,
  guide("Expressions.OperatorsAndFunctions#Expressions.OperatorsAndFunctions.Syntax"),
);
const seen = conditionCases(ITEM, dynalite("scan"));

export const grammarCases = [
  ...[
    "n = :v AND",
    "AND n = :v",
    "n == :v",
    "n != :v",
    "n > = :v",
    "n = :v n = :v",
    "n = :v = :v",
    "n :v",
  ].map((expression) => grammar(expression, "is refused", v(N(5)))),
  ...[
    "n",
    ":v",
    "n IN :v",
    "n IN ()",
    "n IN (:v,)",
    "n NOT IN (:v)",
    "(n = :v",
    "n = :v)",
    "NOT",
    "NOT n",
  ].map((expression) => grammar(expression, "is refused", v(N(5)))),
  ...["n = 5", "n = 'x'", "arr[-1] = :v", "arr[:v] = :v", "arr[1 = :v", "obj..x = :v", "obj. = :v"].map(
    (expression) => grammar(expression, "is refused", v(N(5))),
  ),
  grammar("", "is refused"),
  grammar("   ", "is refused"),
  grammar("arr [0] = obj . x", "holds"),
  grammar("1x = :v", "is refused", v(N(5))),
  grammar("x-y = :v", "is refused", v(N(5))),
  grammar("_x = :v", "is refused", v(N(5))),
  grammar("n_5 <> :v", "holds", v(N(5))),
  grammar("# = :v", "is refused", v(N(5))),
  seen("foo(n)", "is refused"),
  seen("ATTRIBUTE_EXISTS(n)", "is refused"),
  seen("size(str)", "is refused"),
  seen("attribute_exists(n) = :v", "is refused", v(N(5))),
  seen("contains(str, attribute_exists(n))", "is refused"),
  seen("if_not_exists(n, :v) = :v", "is refused", v(N(5))),
];

const parentheses = conditionCases(ITEM, recorded("tier1/putItem/conditionExpressionParens"));

export const parenthesesCases = [
  parentheses("(n = :v)", "holds", v(N(5))),
  parentheses("(n = :v AND (n = :v))", "holds", v(N(5))),
  parentheses("(attribute_exists(n)) AND (attribute_exists(str))", "holds"),
  seen("((n = :v))", "is refused", v(N(5))),
  seen("(((n = :v)) OR n = :v)", "is refused", v(N(5))),
  seen("(n) = (:v)", "holds", v(N(5))),
  seen("((n)) = :v", "is refused", v(N(5))),
];

export const operandCases = [
  seen("n = n", "is refused"),
  seen("n < n", "is refused"),
  seen("contains(str, str)", "is refused"),
  seen("begins_with(str, str)", "is refused"),
  seen("n BETWEEN n AND :v", "is refused", v(N(5))),
  seen("n IN (n)", "is refused"),
  seen("n < :v", "is refused", v(YES)),
  seen("n >= :v", "is refused", v(SS("a"))),
  seen("n BETWEEN :v AND :v", "is refused", v(YES)),
  seen("n BETWEEN :v AND :w", "is refused", { values: { ":v": N(9), ":w": N(1) } }),
  seen("n BETWEEN :v AND :w", "is refused", { values: { ":v": N(1), ":w": S("9") } }),
  seen("begins_with(str, :v)", "is refused", v(N(1))),
  seen("attribute_exists(:v)", "is refused", v(S("n"))),
  seen("attribute_exists(n, str)", "is refused"),
  seen("attribute_type(n, :v)", "is refused", v(S("X"))),
  seen("attribute_type(n, :v)", "is refused", v(N(1))),
  seen("attribute_type(n, str)", "is refused"),
  seen("begins_with(str)", "is refused"),
  seen("contains(str, :v, :v)", "is refused", v(S("a"))),
  seen("size(:v) = :v", "is refused", v(N(3))),
];

const names = conditionCases(ITEM, guide("Expressions.ExpressionAttributeNames"));
const reserved = conditionCases(ITEM, guide("ReservedWords"));

export const placeholderCases = [
  names("#n = :v", "holds", { names: { "#n": "n" }, values: { ":v": N(5) } }),
  names("#obj.#x = obj.x", "is refused", { names: { "#obj": "obj", "#x": "x" } }),
  names("attribute_exists(#obj.#x)", "holds", { names: { "#obj": "obj", "#x": "x" } }),
  names("attribute_exists(#path)", "does not hold", { names: { "#path": "obj.x" } }),
  names("attribute_exists(#proto)", "does not hold", { names: { "#proto": "__proto__" } }),
  names("#n = :v", "is refused", { names: { "#n": "n", "#str": "str" }, values: { ":v": N(5) } }),
  names("#other = :v", "is refused", { names: { "#n": "n" }, values: { ":v": N(5) } }),
  names("n = :other", "is refused", v(N(5))),
  names("n = :v", "is refused", { values: { ":v": N(5), ":w": N(5) } }),
  names("n = :v", "is refused", { names: { "#n": "n" }, values: { ":v": N(5) } }),
  names("n = :v", "is refused", { names: { n: "n" }, values: { ":v": N(5) } }),
  names("n = :v", "is refused", { values: { ":v": N(5), w: N(5) } }),
  names("attribute_exists(n)", "is refused", { names: {} }),
  names("attribute_exists(str)", "is refused", { values: {} }),
  names("n = :v", "is refused", { values: { ":v": { SS: [] } } }),
  reserved("name = :v", "is refused", v(N(5))),
  reserved("Status = :v", "is refused", v(N(5))),
  reserved("obj.value = :v", "is refused", v(N(5))),
  reserved("size = :v", "is refused", v(N(5))),
  reserved("surname <> :v", "holds", v(N(5))),
];

const limits = conditionCases(ITEM, guide("Constraints#limits-expression-parameters"));
const many = (count: number) => Array.from({ length: count }, (_, index) => `:v${index}`);
const manyValues = (count: number) => ({
  values: Object.fromEntries(many(count).map((name) => [name, N(5)])),
});

export const expressionLimitCases = [
  limits(`n IN (${many(100)})`, "holds", manyValues(100)),
  limits(`n IN (${many(101)})`, "is refused", manyValues(101)),
  limits(`n = :v${" ".repeat(4096 - 6)}`, "holds", v(N(5))),
  limits(`n = :v ${" ".repeat(4096 - 6)}`, "is refused", v(N(5))),
  limits(
    many(150)
      .map(() => "n = :v")
      .join(" OR "),
    "holds",
    v(N(5)),
  ),
  limits(
    many(151)
      .map(() => "n = :v")
      .join(" OR  "),
    "is refused",
    v(N(5)),
  ),
];
