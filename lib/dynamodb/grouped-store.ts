/** A store for many concurrent calls: it groups the requests they make together. */
import type { Store } from "../core/store.ts";
import type { Connection } from "./connection.ts";
import { GroupedConnection, type GroupOptions } from "./grouped-connection.ts";
import type { RecordTable } from "./record-table.ts";

/** A store that uses a connection, whatever its class. */
interface Connected<Write> {
  over(wrap: (connection: Connection, table: RecordTable) => Connection): Store<Write>;
}

/** A store in front of another one, such as a cache. */
interface Fronting<Write> {
  inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write>;
}

/** Stores of other kinds are returned unchanged. */
export function groupedStore<Write>(store: Store<Write>, options: GroupOptions): Store<Write> {
  const { over, inFrontOf } = store as Partial<Connected<Write> & Fronting<Write>>;
  if (inFrontOf) return inFrontOf.call(store, (behind) => groupedStore(behind, options));
  return over
    ? over.call(store, (connection, table) => new GroupedConnection(connection, table, options))
    : store;
}
