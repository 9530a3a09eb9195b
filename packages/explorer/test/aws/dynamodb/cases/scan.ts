/** Scan: everything, in pages and in segments. */
import { expect } from "vitest";
import type { DynamoDBOperations } from "../../../../lib/aws/dynamodb/operations.ts";
import { api, guide, recorded, refused, shows } from "./case.ts";
import { N, newTable, S } from "./given.ts";
import type { DynamoDBSubject } from "./subject.ts";

type ScanInput = Omit<DynamoDBOperations["Scan"]["input"], "TableName">;
type Item = NonNullable<ScanInput["ExclusiveStartKey"]>;

const tables = new WeakMap<DynamoDBSubject, Promise<string>>();

/** Twelve items in six partitions, every second of them in an index; for all cases, which do not change them. */
function scannedTable(subject: DynamoDBSubject): Promise<string> {
  const table = tables.get(subject) ?? createScanned(subject);
  tables.set(subject, table);
  return table;
}

async function createScanned(subject: DynamoDBSubject): Promise<string> {
  const TableName = await newTable(subject, {
    sortKey: "N",
    indexes: [{ name: "by-color", keys: [["color", "S"]], includes: [] }],
  });
  for (let number = 0; number < 12; number++) {
    const key = { pk: S(`p${number % 6}`), sk: N(number) };
    const Item = { ...key, number: N(number), ...(number % 2 === 0 && { color: S("red") }) };
    await subject.call("PutItem", { TableName, Item });
  }
  return TableName;
}

const numbersOf = (items: readonly Item[] | undefined) =>
  (items ?? []).map(({ sk }) => Number((sk as { N: string }).N)).sort((first, second) => first - second);

const ALL = Array.from({ length: 12 }, (_, number) => number);

async function scan(subject: DynamoDBSubject, input: ScanInput = {}) {
  return subject.call("Scan", { TableName: await scannedTable(subject), ...input });
}

async function scanAll(subject: DynamoDBSubject, input: ScanInput = {}) {
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const page = await scan(subject, { ...input, ...(start && { ExclusiveStartKey: start }) });
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return items;
}

export const scanCases = [
  shows("a scan finds everything", api("Scan"), async (subject) => {
    const { Items, Count, ScannedCount, LastEvaluatedKey } = await scan(subject);

    expect(numbersOf(Items)).toEqual(ALL);
    expect([Count, ScannedCount, LastEvaluatedKey]).toEqual([12, 12, undefined]);
  }),
  ...[1, 5, 12].map((Limit) =>
    shows(`pages of ${Limit} find each item once`, guide("Scan#Scan.Pagination"), async (subject) => {
      expect(numbersOf(await scanAll(subject, { Limit }))).toEqual(ALL);
    }),
  ),
  shows(
    "pages of an index find each of its items once",
    recorded("tier1/scan/gsiPagination"),
    async (subject) => {
      const items = await scanAll(subject, { IndexName: "by-color", Limit: 1 });

      expect(numbersOf(items)).toEqual(ALL.filter((number) => number % 2 === 0));
    },
  ),
  shows("segments find each item once", guide("Scan#Scan.ParallelScan"), async (subject) => {
    const segments = await Promise.all(
      [0, 1, 2].map((Segment) => scanAll(subject, { Segment, TotalSegments: 3, Limit: 2 })),
    );

    expect(numbersOf(segments.flat())).toEqual(ALL);
  }),
  shows("a segment is one of so many", api("Scan"), async (subject) => {
    for (const input of [{ Segment: 0 }, { TotalSegments: 2 }, { Segment: 2, TotalSegments: 2 }]) {
      await refused(scan(subject, input), "ValidationException");
    }
  }),
  shows("a filter of a scan may be about the key", api("Scan"), async (subject) => {
    const { Items, Count, ScannedCount } = await scan(subject, {
      FilterExpression: "sk > :s AND pk <> :p",
      ExpressionAttributeValues: { ":s": N(8), ":p": S("p3") },
    });

    expect([numbersOf(Items), Count, ScannedCount]).toEqual([[10, 11], 2, 12]);
  }),
  shows("a scan projects and counts", recorded("tier1/scan/select"), async (subject) => {
    const ProjectionExpression = "#n";
    const ExpressionAttributeNames = { "#n": "number" };
    const { Items = [] } = await scan(subject, { ProjectionExpression, ExpressionAttributeNames });
    const { Items: none, Count } = await scan(subject, { Select: "COUNT" });

    expect(Items.every((item) => Object.keys(item).join() === "number")).toBe(true);
    expect([none, Count]).toEqual([undefined, 12]);
  }),
  shows("a scan begins at a key of the table, or of the index", api("Scan"), async (subject) => {
    await refused(scan(subject, { ExclusiveStartKey: { pk: S("p1") } }), "ValidationException");
    const ExclusiveStartKey = { pk: S("p1"), sk: N(1) };
    await refused(scan(subject, { ExclusiveStartKey, IndexName: "by-color" }), "ValidationException");
  }),
  shows("a scan of an index is of one that there is, and not consistent", api("Scan"), async (subject) => {
    await refused(scan(subject, { IndexName: "other" }), "ValidationException");
    await refused(scan(subject, { IndexName: "by-color", ConsistentRead: true }), "ValidationException");
  }),
];
