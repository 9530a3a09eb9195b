/** Key conditions, and the order of what they find. */
import { expect } from "vitest";
import { dynalite, guide, recorded, refused, shows } from "./case.ts";
import { B, N, newTable, S } from "./given.ts";
import { A, ALL, type Item, keysOf, query, v, vw } from "./query-given.ts";

function finds(condition: string, values: Item, keys: readonly number[]) {
  return shows(
    `the key condition ${JSON.stringify(condition)} finds its items`,
    guide("Query.KeyConditionExpressions"),
    async (subject) => {
      const { Items, Count, ScannedCount, LastEvaluatedKey } = await query(subject, {
        KeyConditionExpression: condition,
        ExpressionAttributeValues: values,
      });

      expect(keysOf(Items)).toEqual(keys);
      expect([Count, ScannedCount, LastEvaluatedKey]).toEqual([keys.length, keys.length, undefined]);
    },
  );
}

function refuses(condition: string, values: Item | undefined, source = dynalite("query")) {
  return shows(
    `the key condition ${JSON.stringify(condition)} is refused${values?.[":v"] ? ` with :v ${JSON.stringify(values[":v"]).replaceAll('"', "")}` : ""}`,
    source,
    async (subject) => {
      const input = {
        KeyConditionExpression: condition,
        ...(values && { ExpressionAttributeValues: values }),
      };
      await refused(query(subject, input), "ValidationException");
    },
  );
}

export const keyConditionCases = [
  finds("pk = :a", A, [-3, 1, 2, 4, 10]),
  finds(":a = pk", A, [-3, 1, 2, 4, 10]),
  finds("pk = :a AND sk = :v", v(N("2.0")), [2]),
  finds("pk = :a AND sk > :v", v(N(2)), [4, 10]),
  finds("pk = :a AND :v < sk", v(N(4)), [10]),
  finds("sk >= :v AND pk = :a", v(N(2)), [2, 4, 10]),
  finds("(pk = :a) and (sk <= :v)", v(N(1)), [-3, 1]),
  finds("(pk = :a AND sk < :v)", v(N(-3)), []),
  finds("pk = :a AND sk BETWEEN :v AND :w", vw(1, 4), [1, 2, 4]),
  refuses("", A),
  refuses("pk", A),
  refuses("((pk = :a))", A, recorded("tier1/query/keyConditionParens")),
  refuses("pk = :a AND sk BETWEEN :v AND :w", vw(4, 1)),
  refuses("pk = :a AND sk <> :v", v(N(2))),
  refuses("pk = :a OR sk = :v", v(N(2))),
  refuses("pk = :a AND NOT sk = :v", v(N(2))),
  refuses("pk = :a AND sk IN (:v)", v(N(2))),
  refuses("pk = :a AND contains(sk, :v)", v(N(2))),
  refuses("pk = :a AND attribute_exists(sk)", A),
  refuses("pk = :a AND size(sk) = :v", v(N(2))),
  refuses("pk = :a AND begins_with(sk, :v)", v(N(2))),
  refuses("pk > :a", A),
  refuses("begins_with(pk, :a)", A),
  refuses("pk BETWEEN :a AND :a", A),
  refuses("sk = :v", { ":v": N(2) }),
  refuses("pk = :a AND note = :v", v(S("n2"))),
  refuses("pk = :a AND sk = :v AND note = :v", v(N(2))),
  refuses("pk = :a AND sk > :v AND sk < :w", vw(1, 4)),
  refuses("pk = :a AND pk = :a", A),
  refuses("pk.x = :a", A),
  refuses("pk = sk", undefined),
  refuses("pk = :a AND sk = :v", v(S("2"))),
  refuses("pk = :a AND sk > :v", { ":a": N(1), ":v": N(1) }),
  refuses("pk = :a", { ":a": S("") }),
];

export const orderCases = [
  shows(
    "numbers come in the order of numbers, backwards on request",
    recorded("tier1/query/numericKeys"),
    async (subject) => {
      const { Items } = await query(subject, { ...ALL, ScanIndexForward: false });

      expect(keysOf(Items)).toEqual([10, 4, 2, 1, -3]);
    },
  ),
  shows("large numbers are not rounded", recorded("tier3/limits/numberPrecision"), async (subject) => {
    const TableName = await newTable(subject, { sortKey: "N" });
    const numbers = ["9007199254740993", "9007199254740992", "-1e-130", "0", "1e125", "9007199254740992.5"];
    for (const sk of numbers) await subject.call("PutItem", { TableName, Item: { pk: S("a"), sk: N(sk) } });

    const { Items } = await subject.call("Query", { TableName, ...ALL });

    expect(Items?.slice(1, 5).map(({ sk }) => sk)).toEqual(
      ["0", "9007199254740992", "9007199254740992.5", "9007199254740993"].map(N),
    );
  }),
  shows(
    "texts come in the order of their bytes in UTF-8",
    guide("HowItWorks.NamingRulesDataTypes#HowItWorks.DataTypes.String"),
    async (subject) => {
      const TableName = await newTable(subject, { sortKey: "S" });
      const texts = ["Z", "a", "ab", "b", "é", "\uFFFD", "\u{1F600}"];
      for (const sk of texts.toReversed())
        await subject.call("PutItem", { TableName, Item: { pk: S("a"), sk: S(sk) } });
      const find = (condition: string) =>
        subject.call("Query", {
          TableName,
          KeyConditionExpression: `pk = :a AND ${condition}`,
          ExpressionAttributeValues: v(S("a")),
        });

      const { Items } = await subject.call("Query", { TableName, ...ALL });

      expect(Items?.map(({ sk }) => sk)).toEqual(texts.map(S));
      expect((await find("begins_with(sk, :v)")).Items?.map(({ sk }) => sk)).toEqual(["a", "ab"].map(S));
      expect((await find("sk > :v")).Count).toBe(5);
    },
  ),
  shows("bytes are compared without a sign", recorded("tier1/query/binaryKeys"), async (subject) => {
    const TableName = await newTable(subject, { sortKey: "B" });
    const keys = [B(1), B(1, 0), B(127), B(128), B(255)];
    for (const sk of keys.toReversed())
      await subject.call("PutItem", { TableName, Item: { pk: S("a"), sk } });

    const { Items } = await subject.call("Query", { TableName, ...ALL });

    expect(Items?.map(({ sk }) => sk)).toEqual(keys);
  }),
];
