/** What writers may do to a table, in any order. What engines are known to do differently is left out. */
import fc from "fast-check";
import type { Item } from "../../../../lib/aws/dynamodb/values/attribute-value.ts";
import { L, M, N, S, SS } from "../cases/given.ts";

/** An expression, and values for all placeholders that any of them has. */
export interface Expression {
  readonly text: string;
  readonly values: Item;
}

export interface Write {
  readonly kind: "put" | "update" | "delete" | "check";
  readonly key: string;
  readonly attributes: Item;
  readonly update: Expression;
  readonly condition: Expression | undefined;
}

export type PlayStep =
  | { readonly do: "write"; readonly write: Write }
  | { readonly do: "transact"; readonly writes: readonly Write[]; readonly token: string | undefined }
  | { readonly do: "batch"; readonly writes: readonly Write[] };

const CONDITIONS = [
  "attribute_not_exists(pk)",
  "attribute_exists(n)",
  "n > :c",
  "n = :c",
  "n <> :c",
  "n BETWEEN :c AND :d",
  "n IN (:c, :d)",
  "str = :x",
  "str < :x OR n >= :c",
  "NOT (n < :c AND str = :x)",
  "begins_with(str, :x)",
  "contains(strs, :x)",
  "contains(arr, :c)",
  "size(arr) > :c",
  "attribute_exists(obj.x) AND obj.x <> :c",
  "attribute_type(n, :t) OR attribute_exists(g)",
];

/** Each of them can be done to any item. */
const SAFE_UPDATES = [
  "SET n = :n",
  "SET n = if_not_exists(n, :n)",
  "REMOVE n",
  "SET str = :x, g = :g",
  "REMOVE g",
  "ADD strs :ss",
  "DELETE strs :ss",
  "SET arr = list_append(if_not_exists(arr, :l), :l)",
  "SET obj = :m",
  "SET str = :x REMOVE g ADD strs :ss",
];

/** These depend on what is there. */
const UPDATES = [
  ...SAFE_UPDATES,
  "ADD n :n",
  "SET n = n + :n",
  "SET n = :n - n, str = :x",
  "SET n = if_not_exists(n, :n) - :n",
  "SET copy = n, n = :n",
  "SET arr[0] = :n",
  "SET obj.x = :n",
  "SET obj.y = obj.x",
  "SET arr = list_append(arr, :l)",
  "SET obj.x = obj.x + :n, copy = obj",
];

const text = fc.constantFrom("", "a", "b", "ab", "é", "\u{1F600}");
const number = fc.constantFrom("0", "1", "-1", "2.5", "0.1", "-0.3", "1e20", "7e-20", "9".repeat(38));
const key = fc.constantFrom("k1", "k2", "k3");
const texts = fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 });

const values: fc.Arbitrary<Item> = fc
  .record({ n: number, c: number, x: text, g: fc.constantFrom("g1", "g2"), members: texts })
  .map(({ n, c, x, g, members }) => ({
    ":n": N(n),
    ":c": N(c),
    ":d": N("1e100"),
    ":x": S(x),
    ":g": S(g),
    ":ss": SS(...members),
    ":l": L(N(n), S(x)),
    ":m": M({ x: N(n), z: L(S(x)) }),
    ":t": S("S"),
  }));

const expressionOf = (texts: readonly string[]): fc.Arbitrary<Expression> =>
  fc.record({ text: fc.constantFrom(...texts), values });

const attributes: fc.Arbitrary<Item> = fc.record(
  {
    n: number.map(N),
    str: text.map(S),
    g: fc.constantFrom("g1", "g2").map(S),
    strs: texts.map((members) => SS(...members)),
    arr: fc.array(number.map(N), { maxLength: 3 }).map((list) => L(...list)),
    obj: number.map((x) => M({ x: N(x) })),
  },
  { requiredKeys: [] },
);

const writeOf = (kinds: readonly Write["kind"][], updates: readonly string[]): fc.Arbitrary<Write> =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    key,
    attributes,
    update: expressionOf(updates),
    condition: fc.option(expressionOf(CONDITIONS), { nil: undefined }),
  });

const writes = (kinds: readonly Write["kind"][]) =>
  fc.uniqueArray(writeOf(kinds, SAFE_UPDATES), { minLength: 1, maxLength: 3, selector: (each) => each.key });

/** Long plays: without a size fast-check plays some ten steps. */
export const anySteps: fc.Arbitrary<PlayStep[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("write" as const),
        write: writeOf(["put", "update", "update", "update", "delete"], UPDATES),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("transact" as const),
        writes: writes(["put", "update", "delete", "check"]),
        token: fc.option(fc.constantFrom("t1", "t2"), { nil: undefined }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("batch" as const), writes: writes(["put", "delete"]) }),
    },
  ),
  { minLength: 20, maxLength: 40, size: "max" },
);
