/** The entries of a cache: their keys, their text, and the requests for them. Each request has a time limit. */
import { createHash } from "node:crypto";
import { answerWithin } from "../core/answer-within.ts";
import type { Clock } from "../core/clock.ts";
import { hasCode } from "../core/error-code.ts";
import { StoreUnavailableError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import { type IdempotencyRecord, isExpired, isKnownVersion } from "../core/record.ts";
import { textsOf } from "./answers.ts";
import { valkeyFailure } from "./failures.ts";
import type { ValkeyClient } from "./valkey-client.ts";

export interface CacheSettings {
  readonly client: ValkeyClient;
  readonly prefix: string;
  readonly rememberSeconds: number;
  readonly timeoutMs: number;
}

/** The entry that was found; it has a record only if everything in it is valid. */
export interface ReadEntry {
  /** The text on the server; empty if there is none. */
  readonly raw: string;
  readonly record?: IdempotencyRecord | undefined;
}

interface EntryText {
  readonly recordKey: string;
  /** When the record was read from the store (epoch ms). */
  readonly since: number;
  readonly record: IdempotencyRecord;
}

export const MAX_REMEMBER_SECONDS = 3600;

/** Larger entries are not cached. In UTF-16 units. */
const MAX_ENTRY = 262_144;

/** Spreads the entries over the nodes of a cluster. Each shard has a list of its entries. */
const SHARDS = 16;

/** Replaces a record that was erased: anything read before that is not written here. */
const FORGOTTEN = "forgotten";

const PAGE = 100;

/** Erasure and cross-check can wait longer than callers do. */
const UNHURRIED_MS = 2000;

/**
 * Writes an entry if the current one is still the one that was seen. The list is updated first, so that it includes every entry.
 */
const WRITE = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
local at = redis.call('TIME')
local now = at[1] * 1000 + math.floor(at[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ${2 * MAX_REMEMBER_SECONDS * 1000})
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`;

/** Clients return sorted sets in different forms, but script results unchanged. */
const LIST =
  "return redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', ARGV[2], ARGV[3])";

const DROP = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

export class CacheEntries {
  readonly #settings: CacheSettings;

  constructor(settings: CacheSettings) {
    this.#settings = settings;
  }

  async read(recordKey: string, clock: Clock, timeoutMs?: number): Promise<ReadEntry> {
    const { entry } = this.#keysOf(recordKey);
    const reply = await this.#ask(entry, ["GET", entry], clock, timeoutMs);
    const [raw = ""] = reply === null || reply === undefined ? [] : textsOf([reply]);
    return { raw, record: this.#recordIn(raw, recordKey, clock.now()) };
  }

  /** Only overwrites the entry that was seen. A late copy of this request changes nothing visible. */
  async write({ raw }: ReadEntry, text: EntryText, clock: Clock): Promise<void> {
    const { record, recordKey, since } = text;
    const { expiresAt = Number.POSITIVE_INFINITY } = record;
    const now = clock.now();
    const ttlMs = Math.floor(Math.min(since + this.#rememberMs, expiresAt * 1000) - now);
    const body = JSON.stringify(text);
    if (ttlMs <= 0 || raw === FORGOTTEN || body.length > MAX_ENTRY) return;
    const { entry, index } = this.#keysOf(recordKey);
    const words = [raw, `${this.#digestOf(body)} ${body}`, `${ttlMs}`, recordKey];
    await this.#ask(entry, ["EVAL", WRITE, "2", entry, index, ...words], clock);
  }

  async drop(recordKey: string, { raw }: ReadEntry, clock: Clock, timeoutMs?: number): Promise<void> {
    const { entry } = this.#keysOf(recordKey);
    await this.#ask(entry, ["EVAL", DROP, "1", entry, raw], clock, timeoutMs);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async forget(recordKey: string, clock: Clock): Promise<void> {
    const { entry } = this.#keysOf(recordKey);
    // As long as anything that was read before could still be trusted.
    const ttlMs = `${2 * MAX_REMEMBER_SECONDS * 1000}`;
    await this.#ask(entry, ["SET", entry, FORGOTTEN, "PX", ttlMs], clock, UNHURRIED_MS);
  }

  /** The keys of records that have, or recently had, an entry: page by page, starting from a different list in each run. */
  async *listed(clock: Clock): AsyncGenerator<readonly string[], void> {
    const first = clock.now() % SHARDS;
    for (let shard = 0; shard < SHARDS; shard++) {
      const index = this.#indexOf((first + shard) % SHARDS);
      let from = "-inf";
      let skipped = 0;
      while (true) {
        const command = ["EVAL", LIST, "1", index, from, `${skipped}`, `${PAGE}`];
        const words = textsOf(await this.#ask(index, command, clock, UNHURRIED_MS));
        const recordKeys = words.filter((_, at) => at % 2 === 0);
        if (recordKeys.length > 0) yield recordKeys;
        if (recordKeys.length < PAGE) break;
        const last = words.at(-1) ?? from;
        const alike = words.filter((word, at) => at % 2 === 1 && word === last).length;
        skipped = last === from ? skipped + alike : alike;
        from = last;
      }
    }
  }

  get #rememberMs(): number {
    return this.#settings.rememberSeconds * 1000;
  }

  /** Only accepts what this code has written, under this prefix, for this record, and recently enough. */
  #recordIn(raw: string, recordKey: string, now: number): IdempotencyRecord | undefined {
    const [digest = "", body = ""] = raw.split(/ (.*)/s);
    if (body === "" || digest !== this.#digestOf(body)) return undefined;
    const text: EntryText = JSON.parse(body);
    const { record, since } = text;
    // The clocks of two hosts differ: an entry from the future has no age.
    const age = now - since;
    const isOurs = text.recordKey === recordKey && isKnownVersion(record.version);
    const isLive = age >= 0 && age < this.#rememberMs && !isExpired(record, now);
    return isOurs && isLive ? record : undefined;
  }

  #digestOf(body: string): string {
    return hashTuple("onceonly/cache/1", this.#settings.prefix, body);
  }

  #keysOf(recordKey: string) {
    const shard = (createHash("sha256").update(recordKey).digest()[0] ?? 0) % SHARDS;
    return { entry: `${this.#settings.prefix}:{${shard}}:${recordKey}`, index: this.#indexOf(shard) };
  }

  /** No record has this key, because record keys contain a `#`. */
  #indexOf(shard: number): string {
    return `${this.#settings.prefix}:{${shard}}:entries`;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), within the time limit even if the client never answers */
  async #ask(
    key: string,
    command: readonly string[],
    clock: Clock,
    timeoutMs = this.#settings.timeoutMs,
  ): Promise<unknown> {
    const { client, prefix } = this.#settings;
    const request = { action: command[0] ?? "", table: prefix };
    const late = () =>
      new StoreUnavailableError("unreachable", undefined, `no response within ${timeoutMs} ms`, request);
    try {
      return await answerWithin(clock, timeoutMs, Promise.resolve(client.send(key, command)), late);
    } catch (error) {
      throw hasCode(error, "STORE_UNAVAILABLE") ? error : valkeyFailure(error, request.action, prefix);
    }
  }
}
