/**
 * The items that a read sees: the current ones, or previous versions when the read may be stale and an option
 * asks for it.
 */
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { FormerVersion, Table } from "../tables/table.ts";
import { attributeOf, type Item } from "../values/attribute-value.ts";
import { areEqual } from "../values/compare-values.ts";

export function visibleItem(
  service: DynamoDBService,
  table: Table,
  key: Item,
  isConsistent: boolean,
): Item | undefined {
  const former = isConsistent ? undefined : table.formerVersions.get(table.keyText(key));
  return former !== undefined && isStale(service, table, key, former) ? former.item : table.items.get(key);
}

/** All items, or those of the key's partition. */
export function visibleItems(
  service: DynamoDBService,
  table: Table,
  isConsistent: boolean,
  key?: Item,
): Iterable<Item> {
  const current = key === undefined ? table.items.all() : table.items.partition(key);
  if (isConsistent || table.formerVersions.size === 0) return current;
  const seen = new Map([...current].map((item) => [table.keyText(item), item]));
  for (const [text, former] of table.formerVersions) {
    const version = seen.get(text) ?? former.item;
    if (version === undefined || !isInPartition(version, table, key)) continue;
    if (!isStale(service, table, table.keyOf(version), former)) continue;
    seen.delete(text);
    if (former.item !== undefined) seen.set(text, former.item);
  }
  return seen.values();
}

function isInPartition(item: Item, { schema }: Table, key: Item | undefined): boolean {
  const { name } = schema.partition;
  return key === undefined || areEqual(attributeOf(item, name), attributeOf(key, name));
}

function isStale(service: DynamoDBService, table: Table, key: Item, former: FormerVersion): boolean {
  const { isStale: decide } = service.options;
  return decide?.({ tableName: table.name, key, writtenAt: former.replacedAt }) ?? false;
}
