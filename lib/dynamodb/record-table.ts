/** A table that holds records: how its attributes are called, and requests that speak of them. No I/O. */
import type { Update } from "@aws-sdk/client-dynamodb";
import { ATTRIBUTES } from "../contract.ts";
import { type DynamoDBStoreOptions, refuseSharedNames } from "./options.ts";
import { type Item, toItem } from "./values.ts";

export type Attribute = keyof typeof ATTRIBUTES;

/** Values of attributes, by the name they have in the contract. */
export type Values = { readonly [name in Attribute]?: string | number | Uint8Array | undefined };

export type RecordTable = ReturnType<typeof recordTable>;

/** @throws InvalidOptionError (`INVALID_OPTION`) where two of the names are one. */
export function recordTable(options: DynamoDBStoreOptions) {
  refuseSharedNames(options);
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
    const named = Object.entries(values).map(([name, value]) => [names[name as Attribute], value]);
    if (sortKey) named.push([sortKey.name, sortKey.value]);
    return toItem(Object.fromEntries(named));
  };

  const keyOf = (partitionKey: string) => itemOf({ partitionKey });

  /**
   * Sets the values that are there, and removes those that are `undefined`: one at least of these. `bound` are the values
   * that `ConditionExpression` uses, no others: DynamoDB refuses what is not used.
   */
  const updateOf = (
    recordKey: string,
    ConditionExpression: string,
    values: Values,
    bound: Readonly<Record<string, unknown>>,
  ): Update => {
    const assigned: string[] = [];
    const removed: string[] = [];
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) removed.push(`#${name}`);
      else assigned.push(`#${name} = :${name}`);
    }
    const set = assigned.length > 0 ? `SET ${assigned} ` : "";
    const UpdateExpression = `${set}REMOVE ${removed}`;
    const used = `${ConditionExpression} ${UpdateExpression}`.matchAll(/#(\w+)/g);
    const aliased = Object.entries({ ...bound, ...values }).map(([name, value]) => [`:${name}`, value]);
    return {
      TableName,
      Key: keyOf(recordKey),
      ConditionExpression,
      UpdateExpression,
      ExpressionAttributeNames: Object.fromEntries(
        Array.from(used, ([alias, name]) => [alias, names[name as Attribute]]),
      ),
      ExpressionAttributeValues: toItem(Object.fromEntries(aliased)),
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    };
  };

  /** Gives an item its expiry, in epoch seconds. */
  const expiryOf = (key: string, expiresAt: number): Update => ({
    TableName,
    Key: keyOf(key),
    UpdateExpression: "SET #expiresAt = :expiresAt",
    ExpressionAttributeNames: { "#expiresAt": names.expiresAt },
    ExpressionAttributeValues: toItem({ ":expiresAt": expiresAt }),
  });

  return { TableName, names, itemOf, keyOf, updateOf, expiryOf };
}
