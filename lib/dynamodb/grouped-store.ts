/** The store that many calls at once ask: what they ask together, it asks DynamoDB together. */
import type { Store } from "../core/store.ts";
import type { Connection } from "./connection.ts";
import { GroupedConnection, type GroupOptions } from "./grouped-connection.ts";
import type { RecordTable } from "./record-table.ts";

/** A store that asks through a connection, whatever class it is of. */
interface Connected<Write> {
  over(wrap: (connection: Connection, table: RecordTable) => Connection): Store<Write>;
}

/** A store of another kind stays as it is. */
export function groupedStore<Write>(store: Store<Write>, options: GroupOptions): Store<Write> {
  if (!("over" in store) || typeof store.over !== "function") return store;
  return (store as unknown as Connected<Write>).over(
    (connection, table) => new GroupedConnection(connection, table, options),
  );
}
