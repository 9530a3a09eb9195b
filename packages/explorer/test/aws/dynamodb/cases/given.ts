/** Tables and items for cases. A subject has one plain table for all cases; the others are made where they are needed. */
import { randomUUID } from "node:crypto";
import type {
  CreateTableInput,
  GlobalSecondaryIndexInput,
} from "../../../../lib/aws/dynamodb/table-operations.ts";
import type { Item, ScalarType } from "../../../../lib/aws/dynamodb/values/attribute-value.ts";
import type { DynamoDBSubject } from "./subject.ts";

export const S = (text: string) => ({ S: text });
export const N = (number: number | string) => ({ N: String(number) });
export const B = (...bytes: number[]) => ({ B: new Uint8Array(bytes) });
export const SS = (...members: string[]) => ({ SS: members });
export const NS = (...members: (number | string)[]) => ({ NS: members.map(String) });
export const L = (...values: Item[string][]) => ({ L: values });
export const M = (item: Item) => ({ M: item });
export const YES = { BOOL: true };
export const NULL = { NULL: true };

export interface TableOptions {
  readonly partitionKey?: ScalarType;
  readonly sortKey?: ScalarType;
  readonly indexes?: readonly IndexOptions[];
  readonly viewType?: string;
}

interface IndexOptions {
  readonly name: string;
  readonly keys: readonly (readonly [name: string, type: ScalarType])[];
  /** Attributes beside the keys; all of them by default. */
  readonly includes?: readonly string[];
}

/** Keys are `pk` and, where there is one, `sk`. Resolves to the table's name. */
export async function newTable(
  subject: DynamoDBSubject,
  { partitionKey = "S", sortKey, indexes = [], viewType }: TableOptions = {},
): Promise<string> {
  const keys = [["pk", partitionKey] as const, ...(sortKey ? [["sk", sortKey] as const] : [])];
  const types = new Map([keys, ...indexes.map((index) => index.keys)].flat());
  const input: CreateTableInput = {
    TableName: `table-${randomUUID()}`,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: keySchema(keys),
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes.map(indexInput) }),
    ...(viewType && { StreamSpecification: { StreamEnabled: true, StreamViewType: viewType } }),
  };
  await subject.call("CreateTable", input);
  return input.TableName;
}

export function keySchema(keys: readonly (readonly [string, unknown])[]) {
  return keys.map(([AttributeName], index) => ({
    AttributeName,
    KeyType: index === 0 ? "HASH" : "RANGE",
  }));
}

function indexInput({ name, keys, includes }: IndexOptions): GlobalSecondaryIndexInput {
  return {
    IndexName: name,
    KeySchema: keySchema(keys),
    Projection:
      includes === undefined
        ? { ProjectionType: "ALL" }
        : includes.length === 0
          ? { ProjectionType: "KEYS_ONLY" }
          : { ProjectionType: "INCLUDE", NonKeyAttributes: includes },
  };
}

const plainTables = new WeakMap<DynamoDBSubject, Promise<string>>();

/** A table with a text as its key. Each case takes keys of its own, by `newKey`. */
export function plainTable(subject: DynamoDBSubject): Promise<string> {
  const table = plainTables.get(subject) ?? newTable(subject);
  plainTables.set(subject, table);
  return table;
}

/** Lists items that need not have the same attributes. */
export function items(...list: readonly Item[]): readonly Item[] {
  return list;
}

let keys = 0;

export function newKey(): { readonly pk: { readonly S: string } } {
  return { pk: S(`key-${++keys}`) };
}

/** Puts an item into the plain table; resolves to where it is. */
export async function putPlain(subject: DynamoDBSubject, attributes: Item = {}) {
  const at = { TableName: await plainTable(subject), Key: newKey() };
  await subject.call("PutItem", { TableName: at.TableName, Item: { ...attributes, ...at.Key } });
  return at;
}

export async function get(
  subject: DynamoDBSubject,
  at: { readonly TableName: string; readonly Key: Item },
): Promise<Item | undefined> {
  return (await subject.call("GetItem", { ...at, ConsistentRead: true })).Item;
}
