/** The keys that encrypt results, and where they come from. */
import type { KeyNames } from "../core/identity.ts";

/** Whom a result belongs to. The key service authenticates both, and may refuse by them. */
export type EncryptionContext = Readonly<Pick<KeyNames, "operation" | "scope">>;

/** A key for AES-256, and the same key as the key service has encrypted it. */
export interface DataKey {
  /** 32 bytes. */
  readonly plain: Uint8Array;
  /** Stored beside what the key encrypts. At most 1,000 bytes. */
  readonly encrypted: Uint8Array;
}

/** A key service, such as `kmsKeys`. What its methods throw is taken for a failure that may pass, unless it is one of onceonly's errors. */
export interface DataKeys {
  /** Makes a new key. */
  generate(context: EncryptionContext): Promise<DataKey>;
  /** Decrypts a stored key. `undefined` where the key that encrypted it is gone for good, or disabled. */
  decrypt(encrypted: Uint8Array, context: EncryptionContext): Promise<Uint8Array | undefined>;
}
