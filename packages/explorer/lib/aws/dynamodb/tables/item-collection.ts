/** The items of a table by their keys, in the order in which reads of tables and indexes return them. */
import { attributeOf, type Item } from "../values/attribute-value.ts";
import { compareScalars, identity } from "../values/compare-values.ts";
import type { KeyPart, KeySchema } from "./key-schema.ts";
import { keyText } from "./key-values.ts";

export class ItemCollection {
  readonly #schema: KeySchema;
  readonly #items = new Map<string, Item>();
  /** By the identity of the partition key, then by the key's string. */
  readonly #partitions = new Map<string, Map<string, Item>>();

  constructor(schema: KeySchema) {
    this.#schema = schema;
  }

  get size(): number {
    return this.#items.size;
  }

  get(key: Item): Item | undefined {
    return this.#items.get(keyText(key, this.#schema));
  }

  put(item: Item): void {
    const text = keyText(item, this.#schema);
    const name = partitionText(item, this.#schema);
    const partition = this.#partitions.get(name) ?? new Map<string, Item>();
    this.#items.set(text, item);
    this.#partitions.set(name, partition.set(text, item));
  }

  delete(key: Item): void {
    const text = keyText(key, this.#schema);
    const name = partitionText(key, this.#schema);
    const partition = this.#partitions.get(name);
    this.#items.delete(text);
    partition?.delete(text);
    if (partition?.size === 0) this.#partitions.delete(name);
  }

  all(): Iterable<Item> {
    return this.#items.values();
  }

  /** The items that share this key's partition. */
  partition(key: Item): Iterable<Item> {
    return this.#partitions.get(partitionText(key, this.#schema))?.values() ?? [];
  }
}

/** Negative when the first item is read before the second, positive when after, otherwise zero. */
export type ReadingOrder = (first: Item, second: Item) => number;

/** Within one partition the sort key orders. */
export function sortKeyOrder({ sort }: KeySchema): ReadingOrder {
  return sort === undefined ? () => 0 : attributeOrder(sort);
}

/** Partitions are ordered by a hash, so no test can rely on an order that DynamoDB doesn't promise. */
export function scanOrder(schema: KeySchema): ReadingOrder {
  const inPartition = sortKeyOrder(schema);
  return (first, second) => {
    const [a, b] = [partitionText(first, schema), partitionText(second, schema)];
    if (a === b) return inPartition(first, second);
    return hashOf(a) - hashOf(b) || (a < b ? -1 : 1);
  };
}

/** The place of an item in the space of all partitions, in [0, 1). */
export function partitionPlace(item: Item, schema: KeySchema): number {
  return hashOf(partitionText(item, schema)) / 2 ** 32;
}

export function chained(...orders: readonly ReadingOrder[]): ReadingOrder {
  return (first, second) => {
    for (const order of orders) {
      const difference = order(first, second);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

function attributeOrder({ name }: KeyPart): ReadingOrder {
  return (first, second) => {
    const [a, b] = [attributeOf(first, name), attributeOf(second, name)];
    return a === undefined || b === undefined ? 0 : (compareScalars(a, b) ?? 0);
  };
}

function partitionText(item: Item, { partition }: KeySchema): string {
  const value = attributeOf(item, partition.name);
  return value === undefined ? "" : identity(value);
}

/** FNV-1a: https://datatracker.ietf.org/doc/html/draft-eastlake-fnv */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
