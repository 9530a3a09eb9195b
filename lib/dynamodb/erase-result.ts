/** Erases the result of a finished operation, and keeps the fact that it happened. */
import type { Clock, Random } from "../core/clock.ts";
import { eraseRecord } from "../core/erase-record.ts";
import { identify, PUBLIC_SCOPE } from "../core/identity.ts";
import { type Check, checkOptions, methods, text } from "../core/option-checks.ts";
import { ENGINE_CHECKS } from "../core/options.ts";
import type { RecordCache } from "../core/record-cache.ts";
import type { EraseAnswer, Erasure, Store } from "../core/store.ts";
import { eraseItemsOf } from "./erase-items.ts";

export interface EraseOptions<Write = unknown> {
  /** The handler's `operation`. */
  readonly operation: string;
  /**
   * The store of the handler's records. A store that combines others, such as `migrating`, erases in all of them. The keys of
   * `encrypted` are not needed.
   */
  readonly store: Store<Write>;
  /**
   * The owner of the key, as the handler's `scope` returns it.
   * @default - the operation has no owner
   */
  readonly scope?: string;
  /**
   * The cache in front of the handler's store (the `in` of `cached`) when `store` is the uncached store: it forgets the result
   * too.
   * @default - none
   */
  readonly cache?: RecordCache;
  /** @default - the system's clock */
  readonly clock?: Clock;
  /** @default - the system's randomness */
  readonly random?: Random;
}

const ERASE_CHECKS: Readonly<Record<keyof EraseOptions, Check>> = {
  operation: ENGINE_CHECKS.operation,
  store: ENGINE_CHECKS.store,
  scope: text(256),
  cache: methods("forget"),
  clock: ENGINE_CHECKS.clock,
  random: ENGINE_CHECKS.random,
};

/**
 * Erases the stored result of a completed or failed key, on every store and wherever the result is kept. The results of its
 * steps and the previous verdict are erased too. The record stays for the rest of its retention: nothing runs again under the
 * key, and a replay throws `ResultNotKeptError`. The hashes of key and payload stay, and so does the scope in the record's key.
 * A new token and the next attempt number fence off late writers. Erasing twice changes nothing.
 *
 * On DynamoDB this costs two reads and a write, and one more write for each result in a separate item. The role needs
 * `dynamodb:GetItem` and `dynamodb:UpdateItem`. Other stores need one read and one write.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) before any I/O;
 * StoreUnavailableError (`STORE_UNAVAILABLE`): call again; RecordCorruptError (`RECORD_CORRUPT`).
 */
export async function eraseResult<Write>(
  options: EraseOptions<Write>,
  key: string,
  erasure: Erasure,
): Promise<EraseAnswer> {
  checkOptions(options, ERASE_CHECKS, ["operation", "store"]);
  const { operation, scope, store, cache, clock, random } = options;
  const { recordKey } = identify(operation, scope ?? PUBLIC_SCOPE, key);
  const answer = await eraseRecord({ store, clock, random, apart: eraseItemsOf }, recordKey, erasure);
  // Forget last: a replay in between would cache the result again.
  await cache?.forget({ operation, scope, key });
  return answer;
}
