/** Encrypts texts under data keys that are used for several minutes, and finds the key of each text again. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Clock } from "../core/clock.ts";
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
/** Begins each sealed text. No JSON begins so: a result from before the encryption is told apart. */
const MARK = "sealed.1.";
/** A shorter text does not become smaller. */
const COMPRESSED_FROM = 1024;
/** No stored result is larger. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;
/** Keys of so many owners and stored keys are kept; the oldest are forgotten first. */
const MAX_KEYS = 1000;

/** The owner of a text. A text that is sealed for one record, or one step of it, opens for no other. */
export interface SealedPlace {
  readonly context: EncryptionContext;
  /** Authenticated along with the text. */
  readonly place: string;
}

interface KeptKey<Key> {
  readonly key: Promise<Key>;
  /** Epoch ms. */
  readonly since: number;
}

/** Whom the texts of a record belong to. */
export function ownerOf(recordKey: string): EncryptionContext {
  const { operation, scope } = namesOf(recordKey);
  return { operation, scope };
}

export const isSealed = (text: string): boolean => text.startsWith(MARK);

export class Sealer {
  readonly #keys: DataKeys;
  readonly #clock: Clock;
  readonly #reuseMs: number;
  readonly #generated = new Map<string, KeptKey<DataKey>>();
  readonly #decrypted = new Map<string, KeptKey<Uint8Array | undefined>>();

  constructor(keys: DataKeys, reuseKeysSeconds: number, clock: Clock) {
    this.#keys = keys;
    this.#reuseMs = reuseKeysSeconds * 1000;
    this.#clock = clock;
  }

  /** Makes sure that there is a key for what comes. @throws StoreUnavailableError */
  async prepare(context: EncryptionContext): Promise<void> {
    await this.#keyFor(context);
  }

  /** @throws StoreUnavailableError */
  async seal(text: string, { context, place }: SealedPlace): Promise<string> {
    const { plain, encrypted } = await this.#keyFor(context);
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
   * @throws ResultNotKeptError where the key is gone; RecordCorruptError for a text that was changed or belongs elsewhere;
   * StoreUnavailableError
   */
  async open(text: string, { context, place }: SealedPlace): Promise<string> {
    const parts = text.slice(MARK.length).split(".");
    const [encrypted, iv, sealed] = parts.map((part) => Buffer.from(part, "base64url"));
    if (!encrypted || !iv || !sealed || sealed.length <= TAG_BYTES || iv.length !== IV_BYTES) throw corrupt();
    const name = `${parts[0]} ${nameOf(context)}`;
    const key = await this.#kept(this.#decrypted, name, () => this.#keys.decrypt(encrypted, context));
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

  async #keyFor(context: EncryptionContext): Promise<DataKey> {
    const name = nameOf(context);
    const former = this.#generated.get(name);
    try {
      return await this.#kept(this.#generated, name, () => this.#keys.generate(context));
    } catch (error) {
      // An effect that happened must be recorded: a data key a little older than meant will do.
      const old = await former?.key.catch(() => undefined);
      if (!old) throw error;
      this.#generated.set(name, former as KeptKey<DataKey>);
      return old;
    }
  }

  /** Asks once for all who need the same key at once. A failure is not kept. */
  async #kept<Key>(kept: Map<string, KeptKey<Key>>, name: string, ask: () => Promise<Key>): Promise<Key> {
    const now = this.#clock.now();
    const known = kept.get(name);
    // A clock that was set back tells no age.
    if (known && now >= known.since && now - known.since < this.#reuseMs) return known.key;
    const key = asked(ask);
    const entry = { key, since: now };
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
    "the stored result cannot be decrypted: it was changed, or belongs to another record, table or key service",
  );
