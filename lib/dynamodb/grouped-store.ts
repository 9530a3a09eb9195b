/** The store that many calls at once ask: what they ask together, it asks DynamoDB together. */
import type { Store } from "../core/store.ts";
import type { Connection } from "./connection.ts";
import { GroupedConnection, type GroupOptions } from "./grouped-connection.ts";
import type { RecordTable } from "./record-table.ts";

/** A store that asks through a connection, whatever class it is of. */
interface Connected<Write> {
  over(wrap: (connection: Connection, table: RecordTable) => Connection): Store<Write>;
}

/** A store that has another one behind it, such as a cache. */
interface Fronting<Write> {
  inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write>;
}

/** A store of another kind stays as it is. */
export function groupedStore<Write>(store: Store<Write>, options: GroupOptions): Store<Write> {
  const { over, inFrontOf } = store as Partial<Connected<Write> & Fronting<Write>>;
  if (inFrontOf) return inFrontOf.call(store, (behind) => groupedStore(behind, options));
  return over
    ? over.call(store, (connection, table) => new GroupedConnection(connection, table, options))
    : store;
}
