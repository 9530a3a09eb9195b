/** Erases results that have items of their own: those of a record, and those of its steps. */

import { NOT_KEPT } from "../core/outcome.ts";
import type { EraseApart } from "../core/store.ts";
import type { ConnectedStore } from "./connected-store.ts";
import type { Connection } from "./connection.ts";
import { ownResult, type RecordTable } from "./record-table.ts";
import { send } from "./send.ts";

/** A late copy of a write that comes after this many seconds is not heard of. */
const FENCED_SECONDS = 86_400;

/** Those that the record tells of. A store that is not on DynamoDB keeps none. */
export const eraseItemsOf: EraseApart = async (store, recordKey, { token, state }) => {
  const place = placeOf(store);
  if (!place) return;
  const { TableName, keyOf, names } = place.table;
  const read = { TableName, Key: keyOf(recordKey), ConsistentRead: true };
  const { Item = {} } = await send(place.connection, "GetItem", read);
  // Somebody claims it anew: what the items hold is another attempt's.
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

/** The table behind a store, whatever class it is of; `undefined` where there is none. */
export function placeOf(store: object): Place | undefined {
  let place: Place | undefined;
  (store as Partial<ConnectedStore>).over?.((connection, table) => {
    place = { connection, table };
    return connection;
  });
  return place;
}

/**
 * What replaces a result stays as long as the result would have. A late copy of the result's own write finds it, and the
 * first write of an item counts.
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
