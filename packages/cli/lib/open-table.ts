/** An open table, or the open store of a module: what the commands read and write. Types only. */
import type { DynamoDBStoreOptions, OperatedOutbox, Store } from "onceonly/kit";

export interface OpenTable {
  readonly store: Store<never>;
  /** The store of the table, without a bucket in front of it. */
  readonly records: Store<never>;
  readonly outbox: OperatedOutbox;
  readonly storeOptions: DynamoDBStoreOptions;
  /** The requests that would have written, of a dry run. */
  readonly withheld: readonly { readonly operation: string; readonly input: unknown }[];
  close(): void;
}
