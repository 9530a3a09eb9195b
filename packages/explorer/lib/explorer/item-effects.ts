/** Reads the items that a run left in its tables. */

import { ATTRIBUTES, decodeEvidence, type Evidence } from "onceonly/kit";
import type { DynamoDBModel } from "../aws/dynamodb/dynamodb-model.ts";
import type { Item } from "../aws/dynamodb/values/attribute-value.ts";
import type { KeyedEffect } from "./effect.ts";
import { plainItem } from "./plain-value.ts";

/** The error that a held record keeps. */
export type HeldError = Evidence["lastError"];

/** All items of a table, as they are now. */
export async function itemsOf(model: DynamoDBModel, tableName: string): Promise<Item[]> {
  const items: Item[] = [];
  let ExclusiveStartKey: Item | undefined;
  do {
    const page = await model.call("Scan", {
      TableName: tableName,
      ConsistentRead: true,
      ...(ExclusiveStartKey && { ExclusiveStartKey }),
    });
    items.push(...((page.Items ?? []) as Item[]));
    ExclusiveStartKey = page.LastEvaluatedKey as Item | undefined;
  } while (ExclusiveStartKey !== undefined);
  return items;
}

export async function itemEffects(model: DynamoDBModel, tableName: string): Promise<KeyedEffect[]> {
  const { Table } = await model.call("DescribeTable", { TableName: tableName });
  const { KeySchema } = Table as { readonly KeySchema: readonly { readonly AttributeName: string }[] };
  const keyNames = KeySchema.map(({ AttributeName }) => AttributeName);
  const items = await itemsOf(model, tableName);
  return items
    .filter((item) => !isRecord(item))
    .map((item) => ({ kind: "item", place: tableName, content: plainItem(item), keyNames }));
}

/** The records of onceonly in a table, with plain values. */
export async function recordsOf(model: DynamoDBModel, tableName: string) {
  return (await itemsOf(model, tableName)).filter(isRecord).map(plainItem);
}

/** The last error of each held onceonly record in a table; `undefined` if the record has none. */
export async function heldIn(model: DynamoDBModel, tableName: string): Promise<HeldError[]> {
  const records = await recordsOf(model, tableName);
  const held = records.filter((record) => record[ATTRIBUTES.state] === "held");
  return held.map((record) => {
    const { lastError, answered = "", at = 0 } = decodeEvidence(record[ATTRIBUTES.evidence] as string) ?? {};
    // So ask-verify.ts writes down a question that failed.
    const [, name] = /^threw (\S+)$/.exec(answered) ?? [];
    return lastError ?? (name === undefined ? undefined : { name, at });
  });
}

/** How many commits in a table have messages that no relay or sweeper has sent. */
export async function unsentIn(model: DynamoDBModel, tableName: string): Promise<number> {
  const records = await recordsOf(model, tableName);
  return records.filter((record) => record[ATTRIBUTES.unsentSince] !== undefined).length;
}

const RECORD_ATTRIBUTES = [
  ATTRIBUTES.version,
  ATTRIBUTES.state,
  ATTRIBUTES.token,
  ATTRIBUTES.attempt,
  ATTRIBUTES.leaseEndsAt,
];
/** A record's key and its parts' keys: `<operation>#<scope>#<hash>`, with an optional suffix. */
export const RECORD_KEY = /^[^#]+#[^#]*#[\w-]{43}(#.*)?$/;

/** A onceonly record, or an item that holds what doesn't fit into a record. */
function isRecord(item: Item): boolean {
  if (RECORD_ATTRIBUTES.every((name) => name in item)) return true;
  const isPart = ATTRIBUTES.result in item || ATTRIBUTES.messages in item;
  return isPart && Object.values(item).some((value) => "S" in value && RECORD_KEY.test(value.S));
}
