/** The keys that encrypt results, and their source. */
import type { KeyNames } from "../core/identity.ts";

/** The owner of a result. The key service authenticates both fields, and may refuse based on them. */
export type EncryptionContext = Readonly<Pick<KeyNames, "operation" | "scope">>;

/** A key for AES-256, and the same key encrypted by the key service. */
export interface DataKey {
  /** 32 bytes. */
  readonly plain: Uint8Array;
  /** Stored next to the data that the key encrypts. At most 1,000 bytes. */
  readonly encrypted: Uint8Array;
}

/**
 * A key service, such as `kmsKeys`. Errors thrown by its methods count as temporary failures, unless they are onceonly's own
 * errors.
 */
export interface DataKeys {
  /** Creates a new key. */
  generate(context: EncryptionContext): Promise<DataKey>;
  /** Decrypts a stored key. Returns `undefined` if the key that encrypted it is gone for good, or disabled. */
  decrypt(encrypted: Uint8Array, context: EncryptionContext): Promise<Uint8Array | undefined>;
}
