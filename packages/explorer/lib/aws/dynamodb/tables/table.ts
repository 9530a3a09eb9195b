/** One table: its definition, its items, its stream, and its use of capacity. */
import type { Stream } from "../streams/stream.ts";
import { type Item, pickAttributes } from "../values/attribute-value.ts";
import { ItemCollection } from "./item-collection.ts";
import { type KeySchema, keyNames } from "./key-schema.ts";
import { keyText } from "./key-values.ts";
import type { SecondaryIndex } from "./secondary-index.ts";

export interface TableDefinition {
  readonly name: string;
  readonly arn: string;
  readonly schema: KeySchema;
  readonly indexes: readonly SecondaryIndex[];
  /** DescribeTable's view of the request that created the table. */
  readonly description: Readonly<Record<string, unknown>>;
}

export interface FormerVersion {
  readonly item: Item | undefined;
  /** When the next version replaced this one, in epoch ms. */
  readonly replacedAt: number;
}

export class Table {
  readonly definition: TableDefinition;
  readonly createdAt: number;
  readonly items: ItemCollection;
  /** The version that the last write to a key replaced, for tables whose reads may be stale. */
  readonly formerVersions = new Map<string, FormerVersion>();
  readonly units = { read: 0, write: 0 };
  stream: Stream | undefined;
  ttlAttribute: string | undefined;
  /** No item expires before this time, in epoch seconds; the first item may expire later. */
  soonestExpiry = Number.POSITIVE_INFINITY;
  isProtected: boolean;

  constructor(definition: TableDefinition, createdAt: number, isProtected: boolean) {
    this.definition = definition;
    this.createdAt = createdAt;
    this.isProtected = isProtected;
    this.items = new ItemCollection(definition.schema);
  }

  get name(): string {
    return this.definition.name;
  }

  get schema(): KeySchema {
    return this.definition.schema;
  }

  keyOf(item: Item): Item {
    return pickAttributes(item, keyNames(this.schema));
  }

  keyText(key: Item): string {
    return keyText(key, this.schema);
  }
}
