/** Encrypts texts with data keys that are used for several minutes, and finds the key of each text again. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { answerWithin } from "../core/answer-within.ts";
import type { Clock } from "../core/clock.ts";
import { isStoreFailure } from "../core/error-code.ts";
import {
  isOnceonlyError,
  RecordCorruptError,
  ResultNotKeptError,
  StoreUnavailableError,
} from "../core/errors.ts";
import { namesOf } from "../core/identity.ts";
import type { DataKey, DataKeys, EncryptionContext } from "./data-keys.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Prefix of each sealed text. No JSON begins like this, which distinguishes results from before the encryption. */
const MARK = "sealed.1.";
/** Compression doesn't make a shorter text smaller. */
const COMPRESSED_FROM = 1024;
/** No stored result is larger. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;
/** How many keys are kept beyond those that attempts under way need; the oldest are dropped first. */
const MAX_KEYS = 1000;
/** A completion may come a little after its lease. */
const AFTER_LEASE_MS = 60_000;
/** How long a claim waits for a key service that doesn't answer; less if the previous key can be used. */
const CLAIM_PATIENCE_MS = 10_000;
const RENEWAL_PATIENCE_MS = 1000;
/** How long an attempt waits that has ended and has no key. */
const END_PATIENCE_MS = 3000;
const KEY_BYTES = 32;
const MAX_ENCRYPTED_BYTES = 1000;

/** The owner of a text. A text sealed for one record, or one of its steps, can't be opened for another. */
export interface SealedPlace {
  readonly context: EncryptionContext;
  /** Authenticated along with the text. */
  readonly place: string;
}

interface KeptKey {
  readonly key: Promise<Uint8Array | undefined>;
  /** Epoch ms. */
  readonly since: number;
}

/** The data key of an owner. The previous one stays until the new one is there. */
interface OwnersKey {
  key?: DataKey;
  /** When the key service was asked for `key` (epoch ms). */
  since: number;
  pending?: Promise<DataKey> | undefined;
  /** Attempts under way need the key until then (epoch ms). */
  neededUntil: number;
}

/** The operation and scope that own a record. */
export function ownerOf(recordKey: string): EncryptionContext {
  const { operation, scope } = namesOf(recordKey);
  return { operation, scope };
}

export const isSealed = (text: string): boolean => text.startsWith(MARK);

export class Sealer {
  readonly #keys: DataKeys;
  readonly #clock: Clock;
  readonly #reuseMs: number;
  readonly #owners = new Map<string, OwnersKey>();
  readonly #decrypted = new Map<string, KeptKey>();

  constructor(keys: DataKeys, reuseKeysSeconds: number, clock: Clock) {
    this.#keys = keys;
    this.#reuseMs = reuseKeysSeconds * 1000;
    this.#clock = clock;
  }

  /**
   * Makes sure that there is a key for an attempt, and keeps it until the attempt's lease has ended. If the key service is slow
   * or down, the previous key is used; if it refuses, it isn't.
   * @throws StoreUnavailableError
   */
  async prepare(context: EncryptionContext, leaseEndsAt: number): Promise<void> {
    const owner = this.#ownerOf(context);
    const { key } = owner;
    this.keep(context, leaseEndsAt);
    if (key && this.#isFresh(owner.since)) return;
    try {
      await this.#within(key ? RENEWAL_PATIENCE_MS : CLAIM_PATIENCE_MS, this.#renew(owner, context));
    } catch (error) {
      if (!key || !isStoreFailure(error) || error.failure === "refused") throw error;
    }
  }

  /** Also keeps the key of an attempt whose lease was renewed. */
  keep(context: EncryptionContext, leaseEndsAt: number): void {
    const owner = this.#ownerOf(context);
    owner.neededUntil = Math.max(owner.neededUntil, leaseEndsAt + AFTER_LEASE_MS);
  }

  /**
   * Seals with the attempt's key, or a newer one. If there is none, it asks the key service, but doesn't wait long.
   * @throws StoreUnavailableError if there is no key
   */
  async seal(text: string, { context, place }: SealedPlace): Promise<string> {
    const owner = this.#ownerOf(context);
    const { plain, encrypted } =
      owner.key ?? (await this.#within(END_PATIENCE_MS, this.#renew(owner, context)));
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, plain, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
    const isLong = text.length >= COMPRESSED_FROM;
    const packed = isLong ? deflateRawSync(text) : Buffer.from(text);
    const sealed = Buffer.concat([
      cipher.update(Buffer.of(isLong ? 1 : 0)),
      cipher.update(packed),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return MARK + [encrypted, iv, sealed].map((bytes) => Buffer.from(bytes).toString("base64url")).join(".");
  }

  /**
   * @throws ResultNotKeptError if the key is gone; RecordCorruptError for a text that was changed or belongs elsewhere;
   * StoreUnavailableError
   */
  async open(text: string, { context, place }: SealedPlace): Promise<string> {
    const parts = text.slice(MARK.length).split(".");
    const [encrypted, iv, sealed] = parts.map((part) => Buffer.from(part, "base64url"));
    if (!encrypted || !iv || !sealed || sealed.length <= TAG_BYTES || iv.length !== IV_BYTES) throw corrupt();
    const name = `${parts[0]} ${nameOf(context)}`;
    const key = await this.#opened(name, () => this.#keys.decrypt(encrypted, context));
    if (!key) throw new ResultNotKeptError(0);
    try {
      const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(place)).setAuthTag(sealed.subarray(-TAG_BYTES));
      const packed = Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
      const body = packed.subarray(1);
      const isLong = packed[0] === 1;
      return `${isLong ? inflateRawSync(body, { maxOutputLength: MAX_TEXT_BYTES }) : body}`;
    } catch {
      throw corrupt();
    }
  }

  #ownerOf(context: EncryptionContext): OwnersKey {
    const name = nameOf(context);
    const known = this.#owners.get(name);
    if (known) return known;
    const owner: OwnersKey = { since: 0, neededUntil: 0 };
    this.#owners.set(name, owner);
    this.#forgetUnneeded();
    return owner;
  }

  /** Checks only the oldest few: those still needed move to the end. */
  #forgetUnneeded(): void {
    const now = this.#clock.now();
    let looks = 2;
    for (const [name, owner] of this.#owners) {
      if (this.#owners.size <= MAX_KEYS || looks-- === 0) return;
      this.#owners.delete(name);
      if (owner.pending || owner.neededUntil > now) this.#owners.set(name, owner);
    }
  }

  /** One request serves all callers that need a key of the same owner. The new key replaces the previous one once it arrives. */
  #renew(owner: OwnersKey, context: EncryptionContext): Promise<DataKey> {
    if (owner.pending) return owner.pending;
    const since = this.#clock.now();
    const pending = asked(async () => checkedKey(await this.#keys.generate(context)));
    owner.pending = pending;
    pending.then(
      (key) => Object.assign(owner, { key, since, pending: undefined }),
      () => Object.assign(owner, { pending: undefined }),
    );
    return pending;
  }

  /** @throws StoreUnavailableError if the key service hasn't answered by then */
  #within<T>(ms: number, asking: Promise<T>): Promise<T> {
    const late = () => new StoreUnavailableError("unreachable", undefined, `no data key within ${ms} ms`);
    return answerWithin(this.#clock, ms, asking, late);
  }

  /** After the clock was set back, a key has no age. */
  #isFresh(since: number): boolean {
    const now = this.#clock.now();
    return now >= since && now - since < this.#reuseMs;
  }

  /** One request serves all callers that need the same key at the same time. Failures are not cached. */
  async #opened(name: string, ask: () => Promise<Uint8Array | undefined>): Promise<Uint8Array | undefined> {
    const kept = this.#decrypted;
    const known = kept.get(name);
    if (known && this.#isFresh(known.since)) return known.key;
    const key = asked(ask);
    const entry = { key, since: this.#clock.now() };
    kept.delete(name);
    kept.set(name, entry);
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEYS) break;
      kept.delete(oldest);
    }
    try {
      return await key;
    } catch (error) {
      if (kept.get(name) === entry) kept.delete(name);
      throw error;
    }
  }
}

/** Detects an unusable key before the handler runs. */
function checkedKey(key: DataKey): DataKey {
  const { plain, encrypted } = Object(key) as Partial<DataKey>;
  const isKey = plain instanceof Uint8Array && plain.length === KEY_BYTES;
  const isStorable =
    encrypted instanceof Uint8Array && encrypted.length > 0 && encrypted.length <= MAX_ENCRYPTED_BYTES;
  if (isKey && isStorable) return { plain, encrypted };
  const rule = `\`generate\` must return a \`plain\` key of ${KEY_BYTES} bytes and an \`encrypted\` one of 1 to ${MAX_ENCRYPTED_BYTES}`;
  throw new StoreUnavailableError("refused", new TypeError(rule), rule);
}

async function asked<Key>(ask: () => Promise<Key>): Promise<Key> {
  try {
    return await ask();
  } catch (error) {
    throw isOnceonlyError(error) ? error : new StoreUnavailableError("unreachable", error);
  }
}

const nameOf = ({ operation, scope }: EncryptionContext) => JSON.stringify([operation, scope]);

const corrupt = () =>
  new RecordCorruptError(
    "the stored result can't be decrypted: it was changed, or belongs to another record, table or key service",
  );
