/** When items expire, as the attribute says that their table was given for it. */
import { attributeOf, type Item } from "../values/attribute-value.ts";
import type { Table } from "./table.ts";

/** In epoch seconds; infinite for an item that never expires. */
export function expiryOf({ ttlAttribute }: Table, item: Item): number {
  const value = ttlAttribute === undefined ? undefined : attributeOf(item, ttlAttribute);
  return value !== undefined && "N" in value ? Number(value.N) : Number.POSITIVE_INFINITY;
}
