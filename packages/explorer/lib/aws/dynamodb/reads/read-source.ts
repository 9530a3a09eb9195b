/** A table or one of its indexes, read in order and page by page. */
import { invalid } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import { chained, type ReadingOrder, scanOrder, sortKeyOrder } from "../tables/item-collection.ts";
import { type KeySchema, keyAttributes, keyNames } from "../tables/key-schema.ts";
import { entriesIn, type SecondaryIndex } from "../tables/secondary-index.ts";
import type { Table } from "../tables/table.ts";
import { attributeOf, type Item, pickAttributes, typeOf } from "../values/attribute-value.ts";
import { readItem } from "../values/read-value.ts";
import { visibleItems } from "./visible-items.ts";

export interface ReadSource {
  readonly table: Table;
  readonly index: SecondaryIndex | undefined;
  readonly schema: KeySchema;
  /** Orders the items of one partition, or of all. */
  readonly queryOrder: ReadingOrder;
  readonly scanOrder: ReadingOrder;
}

export function readSource(
  service: DynamoDBService,
  input: {
    readonly TableName: string;
    readonly IndexName?: string | undefined;
    readonly ConsistentRead?: boolean | undefined;
  },
): ReadSource {
  const table = service.table(input.TableName);
  if (input.IndexName === undefined) {
    const { schema } = table;
    return {
      table,
      index: undefined,
      schema,
      queryOrder: sortKeyOrder(schema),
      scanOrder: scanOrder(schema),
    };
  }
  const index = table.definition.indexes.find(({ name }) => name === input.IndexName);
  if (index === undefined) {
    throw invalid(`The table does not have the specified index: ${input.IndexName}`);
  }
  if (input.ConsistentRead) throw invalid("Consistent reads are not supported on global secondary indexes");
  const { schema } = index;
  const byTable = scanOrder(table.schema);
  return {
    table,
    index,
    schema,
    queryOrder: chained(sortKeyOrder(schema), byTable),
    scanOrder: chained(scanOrder(schema), byTable),
  };
}

/** All items of the source; for a table with a `key`, those of the key's partition. */
export function itemsIn(
  service: DynamoDBService,
  { table, index }: ReadSource,
  isConsistent: boolean,
  key?: Item,
): Item[] {
  if (index === undefined) return [...visibleItems(service, table, isConsistent, key)];
  return entriesIn(index, visibleItems(service, table, isConsistent));
}

/** The key at which a page ends and the next page begins. */
export function positionOf(item: Item, { table, schema }: ReadSource): Item {
  return pickAttributes(item, [...new Set([...keyNames(schema), ...keyNames(table.schema)])]);
}

export function readStart(input: unknown, { table, schema }: ReadSource): Item | undefined {
  if (input === undefined || input === null) return undefined;
  const start = readItem(input);
  const attributes = new Map(
    [...keyAttributes(schema), ...keyAttributes(table.schema)].map(({ name, type }) => [name, type]),
  );
  const fits = [...attributes].every(([name, type]) => {
    const value = attributeOf(start, name);
    return value !== undefined && typeOf(value) === type;
  });
  if (!fits || Object.keys(start).length !== attributes.size) {
    throw invalid("The provided starting key is invalid: The provided key element does not match the schema");
  }
  return start;
}
