/** The store under test, as an adapter provides it for the contract. */
import type { Outbox } from "../../core/messages/outbox.ts";
import type { IdempotencyRecord } from "../../core/record.ts";
import type { Store } from "../../core/store.ts";

/** A store under test, with direct access to its data for the cases. Cases use fresh names, so one table can serve all. */
export interface StoreSubject<Write = unknown> {
  readonly store: Store<Write>;
  /** The outbox of this store's commits. */
  readonly outbox: Outbox;
  /**
   * A write that adds 1 to the counter `name`. With `onlyFirst` its condition is that the counter does not
   * exist.
   */
  countUp(name: string, condition?: "onlyFirst"): Write;
  /** 0 when nothing was counted. */
  readCount(name: string): Promise<number>;
  /** Lists of writes that the store can never accept. */
  readonly unacceptableWrites: readonly (readonly Write[])[];
  /** Changes a stored record without going through the store. */
  alter(recordKey: string, change: Partial<Pick<IdempotencyRecord, "version" | "steps">>): Promise<void>;
  /** Deletes a stored record without going through the store, as TTL does. */
  remove(recordKey: string): Promise<void>;
}
