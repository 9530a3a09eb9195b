/** A table that holds records: how its attributes are called, and requests that speak of them. No I/O. */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { ATTRIBUTES } from "../contract.ts";
import type { DynamoDBStoreOptions } from "./options.ts";

export type Item = Record<string, AttributeValue>;

export type Attribute = keyof typeof ATTRIBUTES;

/** Values of attributes, by the name they have in the contract. */
export type Values = { readonly [name in Attribute]?: string | number | Uint8Array | undefined };

export class RecordTable {
  readonly TableName: string;
  /** The attributes' names in this table. */
  readonly names: Readonly<Record<Attribute, string>>;
  readonly #sortKey: Record<string, string>;

  constructor({ tableName, partitionKey, sortKey, ttlAttribute }: DynamoDBStoreOptions) {
    this.TableName = tableName as string;
    this.names = {
      ...ATTRIBUTES,
      partitionKey: partitionKey ?? ATTRIBUTES.partitionKey,
      expiresAt: ttlAttribute ?? ATTRIBUTES.expiresAt,
    };
    this.#sortKey = sortKey ? { [sortKey.name]: sortKey.value } : {};
  }

  key(partitionKey: string): Item {
    return this.item({ partitionKey });
  }

  /** What is `undefined` is left out. */
  item(values: Values): Item {
    const named = Object.entries(values).map(([name, value]) => [this.names[name as Attribute], value]);
    return marshall({ ...Object.fromEntries(named), ...this.#sortKey }, { removeUndefinedValues: true });
  }

  /** Adds those names (`#state`) and values (`:state`) that the expressions use: DynamoDB refuses any others. */
  bind(values: Readonly<Record<string, unknown>>, ConditionExpression: string, UpdateExpression?: string) {
    const used = `${ConditionExpression} ${UpdateExpression}`.match(/[#:]\w+/g) ?? [];
    const pick = (mark: string, from: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(
        used.filter((alias) => alias[0] === mark).map((alias) => [alias, from[alias.slice(1)]]),
      );
    return {
      TableName: this.TableName,
      ConditionExpression,
      UpdateExpression,
      ExpressionAttributeNames: pick("#", this.names) as Record<string, string>,
      ExpressionAttributeValues: marshall(pick(":", values)) as Item,
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    } as const;
  }
}
