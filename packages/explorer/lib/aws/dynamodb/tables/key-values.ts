/** Checks the values of keys: present, of the right type, not empty, not too long. */
import { invalid, invalidParameterValues, SchemaMismatchError } from "../dynamodb-error.ts";
import {
  type AttributeValue,
  attributeOf,
  type Item,
  pickAttributes,
  typeOf,
} from "../values/attribute-value.ts";
import { identity } from "../values/compare-values.ts";
import { readItem } from "../values/read-value.ts";
import { valueSize } from "../values/value-size.ts";
import { type KeyPart, type KeySchema, keyAttributes, keyNames } from "./key-schema.ts";

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-partition-sort-keys */
const MAX_PARTITION_KEY_BYTES = 2048;
const MAX_SORT_KEY_BYTES = 1024;

/** The key of an item that is written. */
export function keyOfItem(item: Item, schema: KeySchema): Item {
  for (const attribute of keyAttributes(schema)) {
    const value = attributeOf(item, attribute.name);
    if (value === undefined) throw mismatch(`Missing the key ${attribute.name} in the item`);
    if (typeOf(value) !== attribute.type) {
      throw mismatch(
        `Type mismatch for key ${attribute.name} expected: ${attribute.type} actual: ${typeOf(value)}`,
      );
    }
    checkKeyValue(attribute, value);
  }
  return pickAttributes(item, keyNames(schema));
}

/** A key as a request gives it, without other attributes. */
export function readKey(input: unknown, schema: KeySchema): Item {
  const key = readItem(input);
  const attributes = keyAttributes(schema);
  const fits = attributes.every(({ name, type }) => {
    const value = attributeOf(key, name);
    return value !== undefined && typeOf(value) === type;
  });
  if (!fits || Object.keys(key).length !== attributes.length) {
    throw new SchemaMismatchError("The provided key element does not match the schema");
  }
  return keyOfItem(key, schema);
}

export function checkKeyValue(attribute: KeyPart, value: AttributeValue): void {
  const bytes = valueSize(value);
  if (bytes === 0) {
    throw invalid(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${typeOf(value) === "S" ? "string" : "binary"} value. Key: ${attribute.name}`,
    );
  }
  if (bytes > (attribute.isPartition ? MAX_PARTITION_KEY_BYTES : MAX_SORT_KEY_BYTES)) {
    throw invalidParameterValues(
      attribute.isPartition
        ? "Size of hashkey has exceeded the maximum size limit of 2048 bytes"
        : "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
    );
  }
}

/** A text that is the same for the same key, and differs for other keys. */
export function keyText(key: Item, schema: KeySchema): string {
  return JSON.stringify(
    keyAttributes(schema).map(({ name }) => identity(attributeOf(key, name) ?? { NULL: true })),
  );
}

function mismatch(message: string): SchemaMismatchError {
  return new SchemaMismatchError(`One or more parameter values were invalid: ${message}`);
}
