/** Pages of queries, filters, and what is handed out. */
import { expect } from "vitest";
import { api, dynalite, guide, recorded, refused, shows } from "./case.ts";
import { items, N, newTable, S } from "./given.ts";
import { ALL, type Item, keysOf, type QueryInput, query, v } from "./query-given.ts";

export const pageCases = [
  shows(
    "a page ends at its limit, and the next one begins after it",
    guide("Query.Pagination"),
    async (subject) => {
      const pages: unknown[] = [];
      let start: Item | undefined;
      do {
        const page = await query(subject, { ...ALL, Limit: 2, ...(start && { ExclusiveStartKey: start }) });
        pages.push(keysOf(page.Items));
        start = page.LastEvaluatedKey;
      } while (start !== undefined);

      expect(pages).toEqual([[-3, 1], [2, 4], [10]]);
    },
  ),
  shows("a full page has a last key even if nothing is left", dynalite("query"), async (subject) => {
    const full = await query(subject, { ...ALL, Limit: 5 });
    const more = await query(subject, { ...ALL, Limit: 6 });

    expect(full.LastEvaluatedKey).toEqual({ pk: S("a"), sk: N(10) });
    expect(more.LastEvaluatedKey).toBeUndefined();
  }),
  shows("pages go backwards too", guide("Query.Pagination"), async (subject) => {
    const ExclusiveStartKey = { pk: S("a"), sk: N(4) };

    const { Items } = await query(subject, { ...ALL, ScanIndexForward: false, ExclusiveStartKey });

    expect(keysOf(Items)).toEqual([2, 1, -3]);
  }),
  shows("a page may begin after an item that is not there", guide("Query.Pagination"), async (subject) => {
    const { Items } = await query(subject, { ...ALL, ExclusiveStartKey: { pk: S("a"), sk: N("2.5") } });

    expect(keysOf(Items)).toEqual([4, 10]);
  }),
  shows("a page begins within what is asked for", dynalite("query"), async (subject) => {
    const starts = items({ pk: S("a") }, { pk: S("a"), sk: S("2") }, { pk: S("a"), sk: N(2), x: N(1) });
    for (const ExclusiveStartKey of starts) {
      await refused(query(subject, { ...ALL, ExclusiveStartKey }), "ValidationException");
    }
    const ExclusiveStartKey = { pk: S("b"), sk: N(1) };
    await refused(query(subject, { ...ALL, ExclusiveStartKey }), "ValidationException");
  }),
  shows("a limit is at least 1", api("Query"), async (subject) => {
    for (const Limit of [0, -1]) await refused(query(subject, { ...ALL, Limit }), "ValidationException");
  }),
  shows("a page ends after 1 MB", guide("Query.Pagination"), async (subject) => {
    const TableName = await newTable(subject, { sortKey: "N" });
    for (const sk of [1, 2, 3, 4, 5]) {
      const Item = { pk: S("a"), sk: N(sk), data: S("x".repeat(300_000)) };
      await subject.call("PutItem", { TableName, Item });
    }

    const { Items, LastEvaluatedKey } = await subject.call("Query", { TableName, ...ALL, Limit: 5 });
    const rest = await subject.call("Query", { TableName, ...ALL, ExclusiveStartKey: LastEvaluatedKey });

    expect(Items?.length).toBeLessThan(5);
    expect((Items?.length ?? 0) + (rest.Items?.length ?? 0)).toBe(5);
  }),
];

const odd = { ExpressionAttributeValues: v({ BOOL: true }), FilterExpression: "odd = :v" };

export const filterCases = [
  shows(
    "a filter is for what was read, and counts apart",
    guide("Query.FilterExpression"),
    async (subject) => {
      const { Items, Count, ScannedCount } = await query(subject, { ...ALL, ...odd });

      expect([keysOf(Items), Count, ScannedCount]).toEqual([[-3, 1], 2, 5]);
    },
  ),
  shows(
    "a limit counts what is read, not what passes the filter",
    guide("Query.FilterExpression"),
    async (subject) => {
      const { Items, ScannedCount, LastEvaluatedKey } = await query(subject, { ...ALL, ...odd, Limit: 3 });

      expect([keysOf(Items), ScannedCount]).toEqual([[-3, 1], 3]);
      expect(LastEvaluatedKey).toEqual({ pk: S("a"), sk: N(2) });
    },
  ),
  shows("a filter is not about the key", api("Query"), async (subject) => {
    for (const FilterExpression of ["sk = :v", "attribute_exists(note) OR size(sk) > :v", "pk = :v"]) {
      const input = { ...ALL, FilterExpression, ExpressionAttributeValues: v(N(1)) };
      await refused(query(subject, input), "ValidationException");
    }
  }),
  shows("a count comes without items", recorded("tier1/query/select"), async (subject) => {
    const { Items, Count, ScannedCount } = await query(subject, { ...ALL, ...odd, Select: "COUNT" });

    expect([Items, Count, ScannedCount]).toEqual([undefined, 2, 5]);
  }),
  shows(
    "specific attributes are those of the projection",
    recorded("tier1/query/select"),
    async (subject) => {
      const ProjectionExpression = "note";
      const { Items } = await query(subject, { ...ALL, ProjectionExpression, Limit: 1 });

      expect(Items).toEqual([{ note: S("n-3") }]);
      expect(
        (await query(subject, { ...ALL, ProjectionExpression, Select: "SPECIFIC_ATTRIBUTES" })).Count,
      ).toBe(5);
      const refusedInputs: readonly QueryInput[] = [
        { Select: "SPECIFIC_ATTRIBUTES" },
        { Select: "COUNT", ProjectionExpression },
        { Select: "ALL_ATTRIBUTES", ProjectionExpression },
        { Select: "ALL_PROJECTED_ATTRIBUTES" },
        { Select: "OTHER" },
      ];
      for (const more of refusedInputs)
        await refused(query(subject, { ...ALL, ...more }), "ValidationException");
    },
  ),
  shows("a query has a key condition", api("Query"), async (subject) => {
    await refused(query(subject, {}), "ValidationException");
  }),
];
