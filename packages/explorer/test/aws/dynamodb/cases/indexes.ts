/** Global secondary indexes. */
import { expect } from "vitest";
import type { DynamoDBOperations } from "../../../../lib/aws/dynamodb/operations.ts";
import { api, dynalite, guide, recorded, refused, shows } from "./case.ts";
import { items, N, NULL, newTable, S } from "./given.ts";
import type { DynamoDBSubject } from "./subject.ts";

const INDEXES = [
  {
    name: "whole",
    keys: [
      ["team", "S"],
      ["place", "N"],
    ],
  },
  { name: "keys-only", keys: [["team", "S"]], includes: [] },
  { name: "some", keys: [["place", "N"]], includes: ["extra"] },
] as const;

async function teams(subject: DynamoDBSubject): Promise<string> {
  const TableName = await newTable(subject, { indexes: INDEXES });
  for (const [name, place] of [
    ["ann", 3],
    ["bob", 1],
    ["cid", 2],
  ] as const) {
    const Item = { pk: S(name), team: S("red"), place: N(place), extra: S("e"), other: S("o") };
    await subject.call("PutItem", { TableName, Item });
  }
  await subject.call("PutItem", { TableName, Item: { pk: S("dan"), team: S("red") } });
  await subject.call("PutItem", { TableName, Item: { pk: S("eve"), place: N(9) } });
  return TableName;
}

type QueryInput = Partial<DynamoDBOperations["Query"]["input"]>;

function ofTeam(subject: DynamoDBSubject, TableName: string, input: QueryInput = {}) {
  return subject.call("Query", {
    TableName,
    IndexName: "whole",
    KeyConditionExpression: "team = :t",
    ...input,
    ExpressionAttributeValues: { ":t": S("red"), ...input.ExpressionAttributeValues },
  });
}

const namesOf = (items: readonly Record<string, unknown>[] | undefined) =>
  items?.map(({ pk }) => (pk as { S: string }).S);

export const indexCases = [
  shows("an index is ordered by its own sort key", guide("GSI"), async (subject) => {
    const table = await teams(subject);

    expect(namesOf((await ofTeam(subject, table)).Items)).toEqual(["bob", "cid", "ann"]);
    const backwards = await ofTeam(subject, table, { ScanIndexForward: false, Limit: 2 });
    expect(namesOf(backwards.Items)).toEqual(["ann", "cid"]);
  }),
  shows(
    "an index has only the items that have its keys",
    guide("bp-indexes-general-sparse-indexes"),
    async (subject) => {
      const table = await teams(subject);

      expect(
        namesOf((await ofTeam(subject, table, { IndexName: "keys-only" })).Items?.toSorted(byName)),
      ).toEqual(["ann", "bob", "cid", "dan"]);
      expect((await ofTeam(subject, table)).Count).toBe(3);
    },
  ),
  shows("an item leaves an index with its key, and comes back with it", guide("GSI"), async (subject) => {
    const table = await teams(subject);
    const update = (
      UpdateExpression: string,
      ExpressionAttributeValues?: QueryInput["ExpressionAttributeValues"],
    ) =>
      subject.call("UpdateItem", {
        TableName: table,
        Key: { pk: S("bob") },
        UpdateExpression,
        ...(ExpressionAttributeValues && { ExpressionAttributeValues }),
      });

    await update("REMOVE team");
    expect(namesOf((await ofTeam(subject, table)).Items)).toEqual(["cid", "ann"]);
    await update("SET team = :t, place = :r", { ":t": S("red"), ":r": N(5) });
    expect(namesOf((await ofTeam(subject, table)).Items)).toEqual(["cid", "ann", "bob"]);
    await subject.call("DeleteItem", { TableName: table, Key: { pk: S("bob") } });
    expect(namesOf((await ofTeam(subject, table)).Items)).toEqual(["cid", "ann"]);
  }),
  shows("an index holds what is projected into it", guide("GSI#GSI.Projections"), async (subject) => {
    const table = await teams(subject);
    const whole = await ofTeam(subject, table, { Limit: 1 });
    const keysOnly = await ofTeam(subject, table, { IndexName: "keys-only", Limit: 1 });
    const some = await subject.call("Query", {
      TableName: table,
      IndexName: "some",
      KeyConditionExpression: "place = :r",
      ExpressionAttributeValues: { ":r": N(1) },
    });

    expect(whole.Items).toEqual([
      { pk: S("bob"), team: S("red"), place: N(1), extra: S("e"), other: S("o") },
    ]);
    expect(Object.keys(keysOnly.Items?.[0] ?? {}).sort()).toEqual(["pk", "team"]);
    expect(some.Items).toEqual([{ pk: S("bob"), place: N(1), extra: S("e") }]);
  }),
  shows(
    "an index answers no more than what is projected into it",
    guide("GSI#GSI.Projections"),
    async (subject) => {
      const table = await teams(subject);
      const inputs: readonly QueryInput[] = [
        { Select: "ALL_ATTRIBUTES" },
        { ProjectionExpression: "other" },
        { FilterExpression: "extra = :t" },
      ];
      for (const input of inputs) {
        await refused(ofTeam(subject, table, { IndexName: "keys-only", ...input }), "ValidationException");
      }
      const projected = await ofTeam(subject, table, {
        Select: "ALL_PROJECTED_ATTRIBUTES",
        IndexName: "keys-only",
      });
      expect(projected.Count).toBe(4);
    },
  ),
  shows("pages of an index go on by all keys", guide("Query.Pagination"), async (subject) => {
    const table = await teams(subject);
    const first = await ofTeam(subject, table, { Limit: 2 });

    const rest = await ofTeam(subject, table, { ExclusiveStartKey: first.LastEvaluatedKey });

    expect(first.LastEvaluatedKey).toEqual({ pk: S("cid"), team: S("red"), place: N(2) });
    expect(namesOf(rest.Items)).toEqual(["ann"]);
    const ExclusiveStartKey = { team: S("red"), place: N(2) };
    await refused(ofTeam(subject, table, { ExclusiveStartKey }), "ValidationException");
  }),
  shows("an index is not read consistently", api("Query"), async (subject) => {
    const table = await teams(subject);

    await refused(ofTeam(subject, table, { ConsistentRead: true }), "ValidationException");
    await refused(ofTeam(subject, table, { IndexName: "other" }), "ValidationException");
    await refused(ofTeam(subject, table, { KeyConditionExpression: "pk = :t" }), "ValidationException");
  }),
  shows(
    "a filter of an index may be about the table's key, not the index's",
    dynalite("query"),
    async (subject) => {
      const table = await teams(subject);
      const filtered = (FilterExpression: string, value: { S: string } | { N: string }) =>
        ofTeam(subject, table, { FilterExpression, ExpressionAttributeValues: { ":v": value } });

      expect(namesOf((await filtered("pk = :v", S("ann"))).Items)).toEqual(["ann"]);
      await refused(filtered("place = :v", N(1)), "ValidationException");
    },
  ),
  shows(
    "an item without the right type of an index key is refused",
    recorded("tier1/query/gsi"),
    async (subject) => {
      const TableName = await newTable(subject, { indexes: INDEXES });
      const Key = { pk: S("a") };

      for (const keys of items(
        { team: N(1) },
        { team: S("") },
        { team: NULL },
        { team: S("x"), place: S("1") },
      )) {
        await refused(
          subject.call("PutItem", { TableName, Item: { ...Key, ...keys } }),
          "ValidationException",
        );
      }
      for (const value of [N(1), S("")]) {
        const update = { UpdateExpression: "SET team = :v", ExpressionAttributeValues: { ":v": value } };
        await refused(subject.call("UpdateItem", { TableName, Key, ...update }), "ValidationException");
      }
    },
  ),
];

function byName(first: Record<string, unknown>, second: Record<string, unknown>): number {
  return JSON.stringify(first.pk) < JSON.stringify(second.pk) ? -1 : 1;
}
