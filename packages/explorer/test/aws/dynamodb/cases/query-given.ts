/** A table to query, for cases that do not change it. */
import type { DynamoDBOperations } from "../../../../lib/aws/dynamodb/operations.ts";
import { N, newTable, S } from "./given.ts";
import type { DynamoDBSubject } from "./subject.ts";

export type QueryInput = Omit<DynamoDBOperations["Query"]["input"], "TableName">;
export type Item = NonNullable<DynamoDBOperations["Query"]["input"]["ExclusiveStartKey"]>;

const tables = new WeakMap<DynamoDBSubject, Promise<string>>();

/** The same five items in the partition "a" for all cases; they do not change them. */
function numberedTable(subject: DynamoDBSubject): Promise<string> {
  const table = tables.get(subject) ?? createNumbered(subject);
  tables.set(subject, table);
  return table;
}

async function createNumbered(subject: DynamoDBSubject): Promise<string> {
  const TableName = await newTable(subject, { sortKey: "N" });
  for (const sk of [4, 2, 10, 1, -3]) {
    await subject.call("PutItem", {
      TableName,
      Item: { pk: S("a"), sk: N(sk), odd: { BOOL: sk % 2 !== 0 }, note: S(`n${sk}`) },
    });
  }
  await subject.call("PutItem", { TableName, Item: { pk: S("b"), sk: N(1) } });
  return TableName;
}

export const A = { ":a": S("a") };
export const ALL = { KeyConditionExpression: "pk = :a", ExpressionAttributeValues: A };

export async function query(subject: DynamoDBSubject, input: QueryInput) {
  return subject.call("Query", { TableName: await numberedTable(subject), ...input });
}

export const keysOf = (items: readonly Item[] | undefined) =>
  items?.map(({ sk }) => Number((sk as { N: string }).N));

export const v = (value: Item[string]) => ({ ...A, ":v": value });
export const vw = (first: number, second: number) => ({ ...A, ":v": N(first), ":w": N(second) });
