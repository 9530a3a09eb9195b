/** A cache in Valkey or Redis in front of another store: completed records, for a while. The other store stays the truth. */
import { type Clock, systemClock } from "../core/clock.ts";
import { identify, PUBLIC_SCOPE } from "../core/identity.ts";
import { type Check, checkOptions, seconds, text } from "../core/option-checks.ts";
import { ENGINE_CHECKS, withDefaults } from "../core/options.ts";
import type { CachedName, RecordCache } from "../core/record-cache.ts";
import type { Store } from "../core/store.ts";
import { CacheEntries, MAX_REMEMBER_SECONDS } from "./cache-entries.ts";
import { valkeyClient, valkeyPrefix } from "./options.ts";
import { RememberingStore } from "./remembering-store.ts";
import type { ValkeyClient } from "./valkey-client.ts";

export interface ValkeyCacheOptions {
  /**
   * Reaches the server: `fromIoredis(client)`, `fromNodeRedis(client)` or `fromGlide(client)`. The server may evict and forget. Switch
   * the client's queue for a server that is away off.
   */
  readonly client: ValkeyClient;
  /**
   * Begins each key of the cache, and belongs to one store alone: two stores, stages or Regions with one prefix would answer for each
   * other. Such as the name of the table with its Region. 1 to 100 characters without braces.
   */
  readonly prefix: string;
  /**
   * How long a completed record is remembered, in seconds: from 1 to 3600, and never beyond its retention. For that
   * time callers may get the answer of a record that was deleted or changed by hand, or that a restored database lacks.
   * @default 60
   */
  readonly rememberSeconds?: number;
  /**
   * How long a call waits for the cache, in ms: from 1 to 1000. Then the store is asked, and the cache is left alone for a second.
   * @default 50
   */
  readonly timeoutMs?: number;
}

const DEFAULTS = { rememberSeconds: 60, timeoutMs: 50 };

const CHECKS: Readonly<Record<keyof ValkeyCacheOptions, Check>> = {
  client: valkeyClient,
  prefix: valkeyPrefix,
  rememberSeconds: seconds(1, MAX_REMEMBER_SECONDS),
  timeoutMs: [
    "must be a number of milliseconds from 1 to 1000",
    (value) => typeof value === "number" && value >= 1 && value <= 1000,
  ],
};

const NAME_CHECKS: Readonly<Record<keyof CachedName, Check>> = {
  operation: ENGINE_CHECKS.operation,
  scope: text(256),
  key: text(255),
};

/**
 * Remembers completed records for all processes that share the server: `cached(store, { in: valkeyCache({ client, prefix }) })`.
 * A replay that is found there asks the store for nothing. Only the same operation, scope, key and payload get an answer from it.
 *
 * The store stays the truth. The store is asked where an entry is missing, damaged, foreign, too old or beyond its
 * retention. No call
 * fails because the cache does: an outage costs `timeoutMs` at most, once a second. A first run asks the cache once, before its claim. The
 * first replay puts the record there. Results of more than 256 K characters are not remembered.
 *
 * A writer to the server can answer for the store: keep others out of it.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function valkeyCache(options: ValkeyCacheOptions): RecordCache {
  checkOptions(options, CHECKS, ["client", "prefix"]);
  const entries = new CacheEntries(withDefaults(options, DEFAULTS));
  return {
    inFrontOf: <Write>(store: Store<Write>, clock: Clock) => new RememberingStore(store, clock, entries),
    forget: async (name) => {
      checkOptions(name, NAME_CHECKS, ["operation", "key"]);
      const { recordKey } = identify(name.operation, name.scope ?? PUBLIC_SCOPE, name.key);
      await entries.forget(recordKey, systemClock);
    },
  };
}
