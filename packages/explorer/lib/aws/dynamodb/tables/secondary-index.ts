/**
 * Global secondary indexes: which items an index holds, and which of their attributes. The model's indexes
 * never lag their table.
 */
import { invalid, SchemaMismatchError } from "../dynamodb-error.ts";
import { attributeOf, type Item, pickAttributes, typeOf } from "../values/attribute-value.ts";
import { valueSize } from "../values/value-size.ts";
import { type KeySchema, keyAttributes, keyNames } from "./key-schema.ts";
import { checkKeyValue } from "./key-values.ts";

export interface SecondaryIndex {
  readonly name: string;
  readonly schema: KeySchema;
  /** The projected attributes; `undefined` for all. */
  readonly projected: readonly string[] | undefined;
  /** The projection as CreateTable got it. */
  readonly description: Readonly<Record<string, unknown>>;
}

export function projectedNames(
  schema: KeySchema,
  tableSchema: KeySchema,
  nonKeyAttributes: readonly string[],
): readonly string[] {
  return [...new Set([...keyNames(tableSchema), ...keyNames(schema), ...nonKeyAttributes])];
}

/** The index's copy of an item; `undefined` for an item that lacks a key of the index. */
export function indexEntry(index: SecondaryIndex, item: Item | undefined): Item | undefined {
  if (item === undefined) return undefined;
  if (keyNames(index.schema).some((name) => attributeOf(item, name) === undefined)) return undefined;
  return index.projected === undefined ? item : pickAttributes(item, index.projected);
}

export function entriesIn(index: SecondaryIndex, items: Iterable<Item>): Item[] {
  const entries: Item[] = [];
  for (const item of items) {
    const entry = indexEntry(index, item);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** @throws DynamoDBError `ValidationException` for an item whose index keys have wrong values */
export function checkIndexKeys(index: SecondaryIndex, item: Item): void {
  for (const attribute of keyAttributes(index.schema)) {
    const value = attributeOf(item, attribute.name);
    if (value === undefined) continue;
    if (typeOf(value) !== attribute.type) {
      throw new SchemaMismatchError(
        `One or more parameter values were invalid: Type mismatch for Index Key ${attribute.name} Expected: ${attribute.type} Actual: ${typeOf(value)} IndexName: ${index.name}`,
      );
    }
    if (valueSize(value) === 0) {
      throw invalid(
        `One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty value. IndexName: ${index.name}, IndexKey: ${attribute.name}`,
      );
    }
    checkKeyValue(attribute, value);
  }
}
