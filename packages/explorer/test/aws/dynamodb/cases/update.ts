/** Update expressions that change an item. */
import { dynalite, guide, recorded } from "./case.ts";
import { updateCases } from "./expression-case.ts";
import { B, L, M, N, NS, S, SS } from "./given.ts";

export const UPDATED = {
  n: N(5),
  str: S("x"),
  arr: L(N(1), S("x"), N(3)),
  obj: M({ x: N(1), y: S("q"), deep: M({ w: N(2) }), arr: L(N(1)) }),
  strs: SS("a", "b"),
  nums: NS(1, 2),
};

type Value = Parameters<typeof L>[0];
const v = (value: Value) => ({ values: { ":v": value } });
const set = updateCases(UPDATED, guide("Expressions.UpdateExpressions#Expressions.UpdateExpressions.SET"));
const obj = (changes: Record<string, Value>) => M({ ...UPDATED.obj.M, ...changes });

export const setCases = [
  set("SET a = :v", { a: N(1) }, v(N(1))),
  set("set a=:v,b=:v", { a: N(1), b: N(1) }, v(N(1))),
  set("SET n = :v", { n: S("other type") }, v(S("other type"))),
  set("SET a = n", { a: N(5) }),
  set("SET n = n", {}),
  set("SET n = :v, a = n", { n: N(9), a: N(5) }, v(N(9))),
  set("SET a = obj.x, obj.x = n", { a: N(1), obj: obj({ x: N(5) }) }),
  set("SET obj.x = :v", { obj: obj({ x: N(9) }) }, v(N(9))),
  set("SET obj.#z = :v", { obj: obj({ z: N(9) }) }, { ...v(N(9)), names: { "#z": "z" } }),
  set("SET obj.deep.w = :v, obj.arr[0] = :v", { obj: obj({ deep: M({ w: N(9) }), arr: L(N(9)) }) }, v(N(9))),
  set("SET arr[1] = :v", { arr: L(N(1), N(9), N(3)) }, v(N(9))),
  set("SET arr[3] = arr[0]", { arr: L(N(1), S("x"), N(3), N(1)) }),
];

const numbers = updateCases(
  UPDATED,
  guide("Expressions.UpdateExpressions#Expressions.UpdateExpressions.SET.IncrementAndDecrement"),
);

export const arithmeticCases = [
  numbers("SET n = n + :v", { n: N(6) }, v(N(1))),
  numbers("SET n = n - :v", { n: N(-1) }, v(N(6))),
  numbers("SET a = :v - n", { a: N("-4.9") }, v(N("0.1"))),
  numbers("SET a = :v-:v", { a: N(0) }, v(N("1e-20"))),
  numbers("SET a = :v + :w", { a: N("0.3") }, { values: { ":v": N("0.1"), ":w": N("0.2") } }),
  numbers("SET a = n + obj.x", { a: N(6) }),
  numbers("SET a = (n + :v)", { a: N(6) }, v(N(1))),
  numbers("SET a = (n) + (:v)", { a: N(6) }, v(N(1))),
  numbers("SET a = :v + if_not_exists(n, :v)", { a: N(6) }, v(N(1))),
  numbers("SET a = if_not_exists(nope, :v) + :w", { a: N(3) }, { values: { ":v": N(1), ":w": N(2) } }),
  numbers(
    "SET a = :v - :w",
    { a: N("0.99999999999999999999999999999999999999") },
    {
      values: { ":v": N(1), ":w": N("1e-38") },
    },
  ),
  numbers(
    "SET a = :v + :w",
    { a: N(`1${"0".repeat(38)}`) },
    {
      values: { ":v": N("9".repeat(38)), ":w": N(1) },
    },
  ),
  numbers("SET a = :v + :w", "is refused", { values: { ":v": N("9".repeat(38)), ":w": N(2) } }),
  numbers("SET a = :v + :w", "is refused", { values: { ":v": N("1e37"), ":w": N("0.00001") } }),
  numbers("SET a = :v + :w", "is refused", { values: { ":v": N("9e125"), ":w": N("9e125") } }),
];

const functions = updateCases(
  UPDATED,
  guide("Expressions.UpdateExpressions#Expressions.UpdateExpressions.SET"),
);

export const updateFunctionCases = [
  functions("SET n = if_not_exists(n, :v)", {}, v(N(1))),
  functions("SET a = if_not_exists(nope, :v)", { a: N(1) }, v(N(1))),
  functions("SET a = if_not_exists(nope, n)", { a: N(5) }),
  functions("SET a = if_not_exists(obj.nope, :v)", { a: N(1) }, v(N(1))),
  functions("SET a = if_not_exists(arr[9], :v)", { a: N(1) }, v(N(1))),
  functions("SET a = if_not_exists(nope, if_not_exists(neither, :v))", { a: N(1) }, v(N(1))),
  functions("SET a = if_not_exists(nope, (:v))", { a: N(1) }, v(N(1))),
  functions("SET a = list_append(arr, :v)", { a: L(N(1), S("x"), N(3), N(9)) }, v(L(N(9)))),
  functions("SET a = list_append(:v, obj.arr)", { a: L(N(9), N(1)) }, v(L(N(9)))),
  functions("SET a = list_append(obj.arr, obj.arr)", { a: L(N(1), N(1)) }),
  functions(
    "SET a = list_append(if_not_exists(nope, :v), :w)",
    { a: L(N(1)) },
    { values: { ":v": L(), ":w": L(N(1)) } },
  ),
  functions("SET list_append = :v", { list_append: N(1) }, v(N(1))),
];

const lists = updateCases(UPDATED, dynalite("updateItem"));

export const listCases = [
  lists("SET arr[9] = :v", { arr: L(N(1), S("x"), N(3), N(9)) }, v(N(9))),
  lists(
    "SET arr[9] = :v, arr[7] = :w",
    { arr: L(N(1), S("x"), N(3), S("7"), S("9")) },
    {
      values: { ":v": S("9"), ":w": S("7") },
    },
  ),
  lists("SET arr[1] = :v REMOVE arr[0]", { arr: L(N(9), N(3)) }, v(N(9))),
  lists("SET arr[9] = :v REMOVE arr[0]", { arr: L(S("x"), N(3), N(9)) }, v(N(9))),
  lists("REMOVE arr[0], arr[2]", { arr: L(S("x")) }),
  lists("REMOVE arr[0], arr[9]", { arr: L(S("x"), N(3)) }),
  lists("REMOVE arr[0], arr[1], arr[2]", { arr: L() }),
  lists("ADD arr[0] :v", { arr: L(N(3), S("x"), N(3)) }, v(N(2))),
  lists("ADD arr[9] :v", { arr: L(N(1), S("x"), N(3), N(2)) }, v(N(2))),
];

const remove = updateCases(
  UPDATED,
  guide("Expressions.UpdateExpressions#Expressions.UpdateExpressions.REMOVE"),
);

export const removeCases = [
  remove("REMOVE n", { n: undefined }),
  remove("REMOVE n, str, nope", { n: undefined, str: undefined }),
  remove("REMOVE nope", {}),
  remove("REMOVE arr[9]", {}),
  remove("REMOVE arr[1]", { arr: L(N(1), N(3)) }),
  remove("REMOVE obj.x", { obj: M({ y: S("q"), deep: M({ w: N(2) }), arr: L(N(1)) }) }),
  remove("REMOVE obj.nope", {}),
  remove("REMOVE obj.arr[0]", { obj: obj({ arr: L() }) }),
  remove("REMOVE n SET a = n", { n: undefined, a: N(5) }),
  remove("REMOVE nope.x", "is refused"),
  remove("REMOVE str.x", "is refused"),
  remove("REMOVE obj.nope.x", "is refused"),
  remove("REMOVE obj[0]", "is refused"),
  remove("REMOVE arr[9].x", "is refused"),
];

const add = updateCases(UPDATED, guide("Expressions.UpdateExpressions#Expressions.UpdateExpressions.ADD"));
const take = updateCases(
  UPDATED,
  guide("Expressions.UpdateExpressions#Expressions.UpdateExpressions.DELETE"),
);

export const addAndDeleteCases = [
  add("ADD n :v", { n: N("2.5") }, v(N("-2.5"))),
  add("ADD a :v", { a: N(2) }, v(N(2))),
  add("ADD a :v", { a: SS("x") }, v(SS("x"))),
  add("ADD strs :v", { strs: SS("a", "b", "c") }, v(SS("c", "a"))),
  add("ADD nums :v", { nums: NS(1, 2, 3) }, v(NS(3, "1.0"))),
  add("ADD obj.x :v", { obj: obj({ x: N(3) }) }, v(N(2))),
  add("ADD obj.z :v", { obj: obj({ z: N(2) }) }, v(N(2))),
  add("ADD n :v, a :v", { n: N(6), a: N(1) }, v(N(1))),
  add("ADD strs :v", "is refused", v(NS(3))),
  add("ADD str :v", "is refused", v(N(2))),
  add("ADD nope.x :v", "is refused", v(N(2))),
  take("DELETE strs :v", { strs: SS("b") }, v(SS("a", "z"))),
  take("DELETE nums :v", { nums: NS(2) }, v(NS("1.0"))),
  take("DELETE strs :v", { strs: undefined }, v(SS("a", "b"))),
  take("DELETE nope :v", {}, v(SS("a"))),
  take("DELETE strs :v", "is refused", v(NS(1))),
  take("DELETE str :v", "is refused", v(SS("x"))),
  take("DELETE nope.x :v", "is refused", v(SS("x"))),
  take(
    "SET a = :v REMOVE n ADD b :v DELETE strs :w",
    { a: N(1), n: undefined, b: N(1), strs: SS("b") },
    { values: { ":v": N(1), ":w": SS("a") } },
  ),
];

const binary = updateCases({ bins: { BS: [new Uint8Array([1])] } }, recorded("tier1/updateItem/basic"));

export const binarySetCases = [
  binary(
    "ADD bins :v",
    { bins: { BS: [new Uint8Array([1]), new Uint8Array([2])] } },
    v({ BS: [B(1).B, B(2).B] }),
  ),
  binary("DELETE bins :v", { bins: undefined }, v({ BS: [B(1).B] })),
];
