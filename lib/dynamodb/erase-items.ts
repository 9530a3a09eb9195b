/** Erases results in separate items: the record's own, and those of its steps. */

import { NOT_KEPT } from "../core/outcome.ts";
import type { EraseApart } from "../core/store.ts";
import type { ConnectedStore } from "./connected-store.ts";
import type { Connection } from "./connection.ts";
import { ownResult, type RecordTable } from "./record-table.ts";
import { send } from "./send.ts";

/** How long a late copy of a write is fenced off. */
const FENCED_SECONDS = 86_400;

/** Erases the items that the record refers to. Stores on other databases have none. */
export const eraseItemsOf: EraseApart = async (store, recordKey, { token, state }) => {
  const place = placeOf(store);
  if (!place) return;
  const { TableName, keyOf, names } = place.table;
  const read = { TableName, Key: keyOf(recordKey), ConsistentRead: true };
  const { Item = {} } = await send(place.connection, "GetItem", read);
  // Another attempt has claimed the key since: the items hold its result.
  if (Item[names.token]?.S !== token || Item[names.state]?.S !== state) return;
  const own = Item[names.resultItem]?.S;
  await eraseItems(place, recordKey, [...(own ? [own] : []), ...(Item[names.stepItems]?.SS ?? [])], {
    expiresAt: Number(Item[names.expiresAt]?.N),
  });
};

export interface Place {
  readonly connection: Connection;
  readonly table: RecordTable;
}

/** The table that a store uses, whatever the store's class; `undefined` if there is none. */
export function placeOf(store: object): Place | undefined {
  let place: Place | undefined;
  (store as Partial<ConnectedStore>).over?.((connection, table) => {
    place = { connection, table };
    return connection;
  });
  return place;
}

/**
 * The replacement of a result stays as long as the result would have. A late write of that result then finds it, and the first
 * write of an item wins.
 */
export async function eraseItems(
  { connection, table }: Place,
  recordKey: string,
  addresses: readonly string[],
  { expiresAt }: { readonly expiresAt: number },
): Promise<void> {
  const { TableName, keyOf, names } = table;
  for (const address of addresses) {
    await send(connection, "UpdateItem", {
      TableName,
      Key: keyOf(ownResult(recordKey, address)),
      UpdateExpression: "SET #result = :result, #expiresAt = if_not_exists(#expiresAt, :expiresAt)",
      ExpressionAttributeNames: { "#result": names.result, "#expiresAt": names.expiresAt },
      ExpressionAttributeValues: {
        ":result": { S: NOT_KEPT },
        ":expiresAt": { N: `${expiresAt + FENCED_SECONDS}` },
      },
    });
  }
}
