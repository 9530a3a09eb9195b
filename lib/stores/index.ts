/** Entry "onceonly/stores": stores that wrap another store. */

export type { RecordCache } from "../core/record-cache.ts";
export { type CachedOptions, cached } from "./cached.ts";
export type { DataKey, DataKeys, EncryptionContext } from "./data-keys.ts";
export { decryptingOutbox } from "./decrypting-outbox.ts";
export { type EncryptedOptions, encrypted } from "./encrypted.ts";
export { type KmsKeysOptions, type KmsLike, kmsKeys } from "./kms-keys.ts";
export { type MigratingOptions, migrating } from "./migrating.ts";
export { type OffloadedOptions, offloaded, type ResultsS3Like } from "./offloaded.ts";
export { type Redact, redacted } from "./redacted.ts";
export {
  type UnmigratedRecord,
  type UnmigratedRecordsOptions,
  unmigratedRecords,
} from "./unmigrated-records.ts";
