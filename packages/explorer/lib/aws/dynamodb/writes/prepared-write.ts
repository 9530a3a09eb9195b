/** A write after all checks that do not need the existing item. */
import { conditionFailed, invalid } from "../dynamodb-error.ts";
import { holds } from "../expressions/evaluate-condition.ts";
import type { Condition } from "../expressions/syntax.ts";
import { checkIndexKeys } from "../tables/secondary-index.ts";
import type { Table } from "../tables/table.ts";
import type { Item } from "../values/attribute-value.ts";
import { itemSize } from "../values/value-size.ts";

export interface PreparedWrite {
  readonly table: Table;
  readonly key: Item;
  readonly condition: Condition | undefined;
  readonly returnsItemOnFailure: boolean;
  /** The new item; `undefined` for a deletion. */
  readonly change: (former: Item | undefined) => Item | undefined;
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-items */
const MAX_ITEM_BYTES = 400 * 1024;

/**
 * The item that would result. Writes nothing.
 * @throws DynamoDBError `ConditionalCheckFailedException`, and `ValidationException` for an invalid item
 */
export function tryWrite(write: PreparedWrite): Item | undefined {
  const { table, key, condition } = write;
  const former = table.items.get(key);
  if (condition !== undefined && !holds(condition, former)) {
    throw conditionFailed(write.returnsItemOnFailure ? former : undefined);
  }
  const next = write.change(former);
  if (next !== undefined && next !== former) checkItem(table, next);
  return next;
}

export function checkItem(table: Table, item: Item): void {
  for (const index of table.definition.indexes) checkIndexKeys(index, item);
  if (itemSize(item) > MAX_ITEM_BYTES) throw invalid("Item size has exceeded the maximum allowed size");
}
