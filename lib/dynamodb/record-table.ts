/** A table that holds records: how its attributes are called, and requests that speak of them. No I/O. */
import type { AttributeValue, Update } from "@aws-sdk/client-dynamodb";
import { ATTRIBUTES } from "../contract.ts";
import { ABSENT } from "./conditions.ts";
import type { TableOptions } from "./options.ts";
import type { Item } from "./values.ts";

export type Attribute = keyof typeof ATTRIBUTES;

/** Values of attributes, by the name they have in the contract. */
export type Values = { readonly [name in Attribute]?: string | number | Uint8Array | undefined };

/** Of ours. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html */
const RESERVED: ReadonlySet<string> = new Set(["state", "token", "result"]);

export type RecordTable = ReturnType<typeof recordTable>;

export function recordTable(options: TableOptions) {
  const { tableName, partitionKey, sortKey, ttlAttribute } = options;
  const TableName = tableName as string;
  /** The attributes' names in this table. */
  const names: Readonly<Record<Attribute, string>> = {
    ...ATTRIBUTES,
    partitionKey: partitionKey ?? ATTRIBUTES.partitionKey,
    expiresAt: ttlAttribute ?? ATTRIBUTES.expiresAt,
  };

  /** What is `undefined` is left out. */
  const itemOf = (values: Values): Item => {
    const item: Item = {};
    for (const name in values) {
      const value = values[name as Attribute];
      if (value !== undefined) item[names[name as Attribute]] = attributeOf(value);
    }
    if (sortKey) item[sortKey.name] = { S: sortKey.value };
    return item;
  };

  const keyOf = (partitionKey: string) => itemOf({ partitionKey });

  /**
   * With the attributes' own names in it. Aliases are for those that DynamoDB reserves, and for the caller's, of which
   * nobody knows what they mean in an expression.
   */
  const prepareCondition = (...expressions: readonly string[]) => {
    const aliases: Record<string, string> = {};
    const [ConditionExpression, UpdateExpression] = expressions.map((expression) =>
      expression.replace(/#(\w+)/g, (alias, attribute: Attribute) => {
        const name = names[attribute];
        if (name === ATTRIBUTES[attribute] && !RESERVED.has(attribute)) return name;
        aliases[alias] = name;
        return alias;
      }),
    );
    const hasAliases = Object.keys(aliases).length > 0;
    return {
      ConditionExpression,
      ...(UpdateExpression && { UpdateExpression }),
      ...(hasAliases && { ExpressionAttributeNames: aliases }),
    };
  };

  /** Expressions that were written before, by what they set, remove and ask: a store has a handful of them. */
  const prepared = new Map<string, Pick<Update, "UpdateExpression"> & ReturnType<typeof prepareCondition>>();

  const prepare = (condition: string, values: Values) => {
    const all = Object.entries(values);
    const assigned = all.flatMap(([name, value]) => (value === undefined ? [] : name));
    const removed = all.flatMap(([name, value]) => (value === undefined ? name : []));
    const set = assigned.length > 0 ? `SET ${assigned.map((name) => `#${name} = :${name}`)} ` : "";
    const remove = removed.length > 0 ? `REMOVE ${removed.map((name) => `#${name}`)}` : "";
    return { UpdateExpression: "", ...prepareCondition(condition, set + remove) };
  };

  const absent = prepareCondition(ABSENT);

  /**
   * Sets the values that are there, and removes those that are `undefined`. `bound` are the values
   * that `ConditionExpression` uses, no others: DynamoDB refuses what is not used.
   */
  const updateOf = (
    recordKey: string,
    ConditionExpression: string,
    values: Values,
    bound: Readonly<Record<string, string | number>>,
  ): Update => {
    const ExpressionAttributeValues: Item = {};
    for (const name in bound) ExpressionAttributeValues[`:${name}`] = attributeOf(bound[name]!);
    let shape = ConditionExpression;
    for (const name in values) {
      const value = values[name as Attribute];
      shape += value === undefined ? ` -${name}` : ` +${name}`;
      if (value !== undefined) ExpressionAttributeValues[`:${name}`] = attributeOf(value);
    }
    let expressions = prepared.get(shape);
    if (expressions === undefined) {
      expressions = prepare(ConditionExpression, values);
      prepared.set(shape, expressions);
    }
    return {
      TableName,
      Key: keyOf(recordKey),
      ...expressions,
      ExpressionAttributeValues,
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    };
  };

  /** Gives an item its expiry, in epoch seconds. */
  const expiryOf = (key: string, expiresAt: number): Update => ({
    TableName,
    Key: keyOf(key),
    UpdateExpression: "SET #expiresAt = :expiresAt",
    ExpressionAttributeNames: { "#expiresAt": names.expiresAt },
    ExpressionAttributeValues: { ":expiresAt": attributeOf(expiresAt) },
  });

  return { TableName, names, absent, itemOf, keyOf, updateOf, expiryOf };
}

function attributeOf(value: string | number | Uint8Array): AttributeValue {
  if (typeof value === "string") return { S: value };
  return typeof value === "number" ? { N: `${value}` } : { B: value };
}
