/**
 * A Valkey or Redis cache in front of another store: it keeps completed records for a while. The other store stays the source of
 * truth.
 */
import { type Clock, systemClock } from "../core/clock.ts";
import { identify, PUBLIC_SCOPE } from "../core/identity.ts";
import { type Check, checkOptions, seconds, text } from "../core/option-checks.ts";
import { ENGINE_CHECKS } from "../core/options.ts";
import type { CachedName, RecordCache } from "../core/record-cache.ts";
import type { Store } from "../core/store.ts";
import { withDefaults } from "../core/with-defaults.ts";
import { CacheEntries, MAX_REMEMBER_SECONDS } from "./cache-entries.ts";
import { valkeyClient, valkeyPrefix } from "./options.ts";
import { RememberingStore } from "./remembering-store.ts";
import type { ValkeyClient } from "./valkey-client.ts";

export interface ValkeyCacheOptions {
  /**
   * The connection to the server: `fromIoredis(client)`, `fromNodeRedis(client)` or `fromGlide(client)`. The server may evict
   * and forget. Switch off the client's offline queue.
   */
  readonly client: ValkeyClient;
  /**
   * Prefix of every key of the cache. It must belong to a single store: two stores, stages or Regions with the same prefix would
   * answer for each other. Use, for example, the table's name and Region. 1 to 100 characters without braces.
   */
  readonly prefix: string;
  /**
   * How long a completed record is remembered, in seconds: from 1 to 3600, and never beyond its retention. During that time,
   * callers may get the answer of a record that was deleted or changed by hand, or that is missing from a restored database.
   * @default 60
   */
  readonly rememberSeconds?: number;
  /**
   * How long a call waits for the cache, in ms: from 1 to 1000. After that it asks the store, and the cache isn't used for a
   * second.
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
    "must be a number of milliseconds between 1 and 1000",
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
 * A replay found there sends no request to the store. Only the same operation, scope, key and payload get an answer from it.
 *
 * The store stays the source of truth. It is asked if an entry is missing, damaged, foreign, too old or beyond its retention. No
 * call fails because the cache does: an outage costs at most `timeoutMs`, once a second. A first run asks the cache once, before
 * its claim. The first replay adds the record. Results of more than 256 K characters are not remembered.
 *
 * Anyone who can write to the server can answer for the store, so restrict access to it.
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
