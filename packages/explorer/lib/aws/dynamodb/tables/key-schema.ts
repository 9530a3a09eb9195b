/** Which attributes are the key of a table or of an index. */
import { invalid, invalidParameterValues } from "../dynamodb-error.ts";
import type { ScalarType } from "../values/attribute-value.ts";

export interface KeyPart {
  readonly name: string;
  readonly type: ScalarType;
  readonly isPartition: boolean;
}

export interface KeySchema {
  readonly partition: KeyPart;
  readonly sort: KeyPart | undefined;
}

export interface KeySchemaElement {
  readonly AttributeName: string;
  readonly KeyType: string;
}

export interface AttributeDefinition {
  readonly AttributeName: string;
  readonly AttributeType: string;
}

const KEY_TYPES = ["HASH", "RANGE"];

/** @throws DynamoDBError `ValidationException` */
export function readKeySchema(
  elements: readonly KeySchemaElement[] | undefined,
  definitions: readonly AttributeDefinition[],
): KeySchema {
  const [partition, sort, ...others] = elements ?? [];
  if (partition === undefined || others.length > 0) {
    throw invalid("1 validation error detected: a KeySchema has one or two elements");
  }
  if ([partition, ...(sort ? [sort] : [])].some(({ KeyType }, index) => KeyType !== KEY_TYPES[index])) {
    throw invalid("Invalid KeySchema: the first element is a HASH key, and the second a RANGE key");
  }
  if (sort?.AttributeName === partition.AttributeName) {
    throw invalid("Invalid KeySchema: both elements have the same attribute");
  }
  return {
    partition: keyAttribute(partition.AttributeName, true, definitions),
    sort: sort && keyAttribute(sort.AttributeName, false, definitions),
  };
}

export function keyAttributes({ partition, sort }: KeySchema): readonly KeyPart[] {
  return sort === undefined ? [partition] : [partition, sort];
}

export function keyNames(schema: KeySchema): readonly string[] {
  return keyAttributes(schema).map(({ name }) => name);
}

function keyAttribute(
  name: string,
  isPartition: boolean,
  definitions: readonly AttributeDefinition[],
): KeyPart {
  const type = definitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
  if (type !== undefined) return { name, type: type as ScalarType, isPartition };
  throw invalidParameterValues(
    `Some index key attributes are not defined in AttributeDefinitions. Keys: [${name}]`,
  );
}
