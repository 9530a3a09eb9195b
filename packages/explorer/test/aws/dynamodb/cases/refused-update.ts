/** Updates that DynamoDB does not make. */
import { dynalite, guide, recorded } from "./case.ts";
import { updateCases } from "./expression-case.ts";
import { L, M, N, S, YES } from "./given.ts";
import { UPDATED } from "./update.ts";

type Value = Parameters<typeof L>[0];
const v = (value: Value) => ({ values: { ":v": value } });
const refused = (source: string) => {
  const cases = updateCases(UPDATED, source);
  return (expression: string, value?: Value) => cases(expression, "is refused", value && v(value));
};

const grammar = refused(guide("Expressions.UpdateExpressions"));
const seen = refused(dynalite("updateItem"));
const paths = refused(recorded("tier1/updateItem/paths"));

export const updateGrammarCases = [
  grammar(""),
  grammar("SET"),
  grammar("SET a"),
  grammar("SET a ="),
  ...["SET a = :v,", "SET a = :v b = :v", "SET a :v", "SET :v = :v", "SET a = b = :v", "SET (a) = :v"].map(
    (expression) => grammar(expression, N(1)),
  ),
  ...["REMOVE :v", "REMOVE a = :v", "ADD n = :v", "ADD n :v :v", "DELETE strs = :v", "FOO a :v"].map(
    (expression) => grammar(expression, N(1)),
  ),
  grammar("ADD n n"),
  grammar("SET a = n + :v - n", N(1)),
  grammar("SET a = - :v", N(1)),
  grammar("SET a = (n + :v) + :v", N(1)),
  grammar("SET a = if_not_exists(nope, n + :v)", N(1)),
  grammar("SET a = ((:v))", N(1)),
  grammar("SET name = :v", N(1)),
  seen("SET a = :v SET b = :v", N(1)),
  seen("REMOVE n REMOVE str"),
  seen("SET a = foo(n)"),
  seen("SET a = size(str)"),
  seen("SET a = attribute_exists(n)"),
  seen("SET a = list_append(arr)"),
  seen("SET a = list_append(list_append(arr, :v), :v)", L()),
  seen("SET a = list_append(arr, :v) + :v", L()),
  seen("SET a = if_not_exists(:v, :v)", N(1)),
];

export const updateOperandCases = [
  seen("SET a = nope"),
  seen("SET a = nope + :v", N(1)),
  seen("SET a = if_not_exists(nope, neither)"),
  seen("SET a = list_append(nope, :v)", L()),
  seen("SET a = str + :v", N(1)),
  seen("SET a = n + :v", S("1")),
  seen("SET a = arr + :v", N(1)),
  seen("SET a = list_append(arr, str)"),
  seen("SET a = list_append(arr, :v)", S("x")),
  seen("ADD n :v", S("x")),
  seen("ADD n :v", YES),
  seen("ADD arr :v", L(N(1))),
  seen("DELETE strs :v", S("a")),
  seen("DELETE nums :v", N(1)),
];

export const updatePathCases = [
  paths("SET nope.x = :v", N(1)),
  paths("SET str.x = :v", N(1)),
  paths("SET arr.x = :v", N(1)),
  paths("SET obj[0] = :v", N(1)),
  paths("SET nope[0] = :v", N(1)),
  paths("SET arr[5].x = :v", N(1)),
  paths("SET arr[1].x = :v", N(1)),
  seen("SET a = :v, a = :v", N(1)),
  seen("SET a = :v REMOVE a", N(1)),
  seen("SET obj.x = :v REMOVE obj", N(1)),
  seen("SET obj = :v, obj.x = :v", M({})),
  seen("SET arr[0] = :v, arr[0] = :v", N(1)),
  seen("SET arr[0].a = :v, arr[0] = :v", N(1)),
  seen("SET obj.x = :v, obj[0] = :v", N(1)),
  seen("ADD n :v SET n = :v", N(1)),
  paths("SET pk = :v", S("other")),
  paths("SET pk.x = :v", S("other")),
  paths("REMOVE pk"),
];
