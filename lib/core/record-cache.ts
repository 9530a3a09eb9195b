/** The port between `cached` and a cache of completed records outside the process. */
import type { Clock } from "./clock.ts";
import type { Store } from "./store.ts";

/** Identifies one operation, as its handler does. */
export interface CachedName {
  readonly operation: string;
  /** @default - the operation is public */
  readonly scope?: string | undefined;
  readonly key: string;
}

export interface RecordCache {
  /** A store that answers from the cache, and asks `store` for everything else. */
  inFrontOf<Write>(store: Store<Write>, clock: Clock): Store<Write>;

  /**
   * Forgets the cached record under a name, and doesn't cache anything about it that was read before.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`): call again
   */
  forget(name: CachedName): Promise<void>;
}

/** A store with a cache of its records, which can be compared with the wrapped store. */
export interface CrossChecked {
  /**
   * Compares the cache with the store, and drops entries that the store doesn't confirm. The caller continues as long as it has
   * time.
   */
  crossCheck?: (() => AsyncGenerator<CrossCheck, void>) | undefined;
}

/** `unchecked`: the store did not answer. */
export type CrossCheck = "confirmed" | "dropped" | "unchecked";
