/** When items expire, by the table's TTL attribute. */
import { attributeOf, type Item } from "../values/attribute-value.ts";
import type { Table } from "./table.ts";

/** Epoch seconds; infinite for an item that never expires. */
export function expiryOf({ ttlAttribute }: Table, item: Item): number {
  const value = ttlAttribute === undefined ? undefined : attributeOf(item, ttlAttribute);
  return value !== undefined && "N" in value ? Number(value.N) : Number.POSITIVE_INFINITY;
}
