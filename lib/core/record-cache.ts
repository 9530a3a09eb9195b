/** The port between `cached` and what remembers completed records outside of the process. */
import type { Clock } from "./clock.ts";
import type { Store } from "./store.ts";

/** Names one operation, as its handler does. */
export interface CachedName {
  readonly operation: string;
  /** @default - the operation belongs to nobody */
  readonly scope?: string | undefined;
  readonly key: string;
}

export interface RecordCache {
  /** A store that answers from what is remembered, and asks `store` for everything else. */
  inFrontOf<Write>(store: Store<Write>, clock: Clock): Store<Write>;

  /**
   * Forgets what is remembered under a name, and remembers nothing of it that was read before.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`): call again
   */
  forget(name: CachedName): Promise<void>;
}

/** A store in front of which something remembers records, which can be compared with the store behind. */
export interface CrossChecked {
  /** Compares what is remembered with the store, and drops what the store does not confirm. The caller goes on as long as it has time. */
  crossCheck?: (() => AsyncGenerator<CrossCheck, void>) | undefined;
}

/** `unchecked`: the store did not answer. */
export type CrossCheck = "confirmed" | "dropped" | "unchecked";
