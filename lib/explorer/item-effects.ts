/** Reads the items that a run left in its tables. */

import type { DynamoDBModel } from "../aws/dynamodb/dynamodb-model.ts";
import type { Item } from "../aws/dynamodb/values/attribute-value.ts";
import { ATTRIBUTES } from "../contract.ts";
import type { Effect } from "./effect.ts";
import { plainItem } from "./plain-value.ts";

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

export async function itemEffects(model: DynamoDBModel, tableName: string): Promise<Effect[]> {
  const items = await itemsOf(model, tableName);
  return items
    .filter((item) => !isRecord(item))
    .map((item) => ({ kind: "item", place: tableName, content: plainItem(item) }));
}

/** How many records of onceonly in a table are held. */
export async function heldIn(model: DynamoDBModel, tableName: string): Promise<number> {
  const items = await itemsOf(model, tableName);
  return items.filter((item) => isRecord(item) && plainItem(item)[ATTRIBUTES.state] === "held").length;
}

const RECORD_ATTRIBUTES = [
  ATTRIBUTES.version,
  ATTRIBUTES.state,
  ATTRIBUTES.token,
  ATTRIBUTES.attempt,
  ATTRIBUTES.leaseEndsAt,
];
/** The key of a record and the keys of its parts: `<operation>#<scope>#<hash>`, with an optional ending. */
const RECORD_KEY = /^[^#]+#[^#]*#[\w-]{43}(#.*)?$/;

/** A record of onceonly, or an item with what does not fit into a record. */
function isRecord(item: Item): boolean {
  if (RECORD_ATTRIBUTES.every((name) => name in item)) return true;
  const isPart = ATTRIBUTES.result in item || ATTRIBUTES.messages in item;
  return isPart && Object.values(item).some((value) => "S" in value && RECORD_KEY.test(value.S));
}
