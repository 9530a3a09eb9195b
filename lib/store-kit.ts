/** The entry "onceonly/store-kit", for writing your own store: the port with its types, and the errors that a store throws. */

export type { Clock, Random } from "./core/clock.ts";
export { DECISIONS } from "./core/decisions.ts";
export {
  CommitInvalidError,
  RecordCorruptError,
  STORE_FAILURES,
  type StoreFailure,
  StoreUnavailableError,
  TransactionConditionError,
} from "./core/errors.ts";
export type { Execution } from "./core/execution.ts";
export type {
  FoundUnsent,
  MessageProgress,
  Outbox,
  OutboxChange,
  SweepLease,
  Taken,
  Taking,
  Unsent,
} from "./core/messages/outbox.ts";
export type { StoredMessage } from "./core/messages/outgoing-message.ts";
export type { EngineOptions, Fingerprinter } from "./core/options.ts";
export type { IdempotencyRecord, State, StoredResult, StoredStep, StoredSteps } from "./core/record.ts";
export type { CachedName, RecordCache } from "./core/record-cache.ts";
export type {
  Claim,
  ClaimAnswer,
  Effects,
  EraseAnswer,
  EraseApart,
  Erasing,
  Erasure,
  Insertion,
  RenewAnswer,
  Renewal,
  SettleAnswer,
  Settlement,
  StepChange,
  Store,
} from "./core/store.ts";
export type { UnknownOutcome } from "./core/unknown-outcome.ts";
