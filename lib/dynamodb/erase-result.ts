/** Forgets what a finished operation has answered, and keeps the fact that it happened. */
import type { Clock, Random } from "../core/clock.ts";
import { eraseRecord } from "../core/erase-record.ts";
import { identify, PUBLIC_SCOPE } from "../core/identity.ts";
import { type Check, checkOptions, methods, text } from "../core/option-checks.ts";
import { ENGINE_CHECKS } from "../core/options.ts";
import type { RecordCache } from "../core/record-cache.ts";
import type { EraseAnswer, Erasure, Store } from "../core/store.ts";
import { eraseItemsOf } from "./erase-items.ts";

export interface EraseOptions<Write = unknown> {
  /** As the handler's. */
  readonly operation: string;
  /**
   * The store of the handler's records. One that is made of others, such as `mirrored`, erases in all of them; keys of
   * `encrypted` are not asked for.
   */
  readonly store: Store<Write>;
  /**
   * The owner of the key, as the handler's `scope` reads it.
   * @default - the operation belongs to nobody
   */
  readonly scope?: string;
  /**
   * The cache in front of the handler's store, as `in` of `cached` has it, where `store` is the store behind: it forgets the result too.
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
 * Erases the stored result of a key that is completed or has failed, on every store, wherever the result is. The results of its
 * steps and the former verdict go too. The record stays for the rest of its retention: nothing runs again under the key, and a replay throws
 * `ResultNotKeptError`. Hashes of key and payload stay, and so does the scope in the key of the record. A new token and the next
 * attempt fence off what still writes. Erasing twice changes nothing.
 *
 * On DynamoDB two reads and a write, and a write for each result that has an item of its own. The role needs `dynamodb:GetItem`
 * and `dynamodb:UpdateItem`. On the other stores a read and a write.
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
  // Afterwards, or a replay in between would remember the result anew.
  await cache?.forget({ operation, scope, key });
  return answer;
}
