/** Applies a write to the table, to the previous versions for stale reads, and to the stream. */
import type { DynamoDBService } from "../dynamodb-service.ts";
import { recordChange } from "../streams/record-change.ts";
import type { UserIdentity } from "../streams/stream-record.ts";
import { expiryOf } from "../tables/expiry.ts";
import type { Table } from "../tables/table.ts";
import type { Item } from "../values/attribute-value.ts";

/** `next` is the whole new item; `undefined` deletes the item. */
export function commitWrite(
  service: DynamoDBService,
  table: Table,
  key: Item,
  next: Item | undefined,
  userIdentity?: UserIdentity,
): void {
  const former = table.items.get(key);
  if (next === undefined) table.items.delete(key);
  else table.items.put(next);
  if (next !== undefined) table.soonestExpiry = Math.min(table.soonestExpiry, expiryOf(table, next));
  if (service.options.isStale !== undefined) {
    table.formerVersions.set(table.keyText(key), { item: former, replacedAt: service.now() });
  }
  recordChange(service, table, former, next, userIdentity);
}
