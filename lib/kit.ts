/**
 * The entry "onceonly/kit", for tools that read and settle records: the command line, the explorer, the local runner, and
 * your own. It has the names of records, envelopes and metrics; functions that identify, read and show records; an operator's
 * decisions about keys and messages; and option checks. Handlers don't need it. Its names change with the record, so a
 * tool and the library must have the same version.
 */
export {
  ATTRIBUTES,
  ENVELOPE_ATTRIBUTE,
  ENVIRONMENT,
  EVENT_SOURCES,
  LONGEST_INVOCATION_SECONDS,
  METRICS,
  OUTBOX_INDEX,
  STOPPED,
  TURNED_BACK,
  UNSETTLED_INDEX,
} from "./contract.ts";
export type { ByWhom } from "./core/by-whom.ts";
export { type ChildKeyLimits, deriveChildKey } from "./core/child-key.ts";
export { type Clock, type Random, systemClock, systemRandom } from "./core/clock.ts";
export { otherCopies, shared } from "./core/copies.ts";
export { ending } from "./core/ending.ts";
export { eraseRecord } from "./core/erase-record.ts";
export { hasCode } from "./core/error-code.ts";
export { InvalidOptionError } from "./core/errors.ts";
export { type ForkAnswer, type ForkPlan, forkableSteps, forkRecord, planFork } from "./core/fork-record.ts";
export { hashTuple, identify, namesOf, PUBLIC_SCOPE } from "./core/identity.ts";
export { destinationOf, parseAddress, queueUrlOfArn } from "./core/messages/address.ts";
export {
  type ListedCommit,
  OperatedOutbox,
  type OutboxDestinationChange,
} from "./core/messages/operated-outbox.ts";
export { UNTRIED, type Unsent } from "./core/messages/outbox.ts";
export { actsIn, type OutboxAct, type OutboxOperator } from "./core/messages/outbox-act.ts";
export { nearest } from "./core/nearest.ts";
export { ASKED } from "./core/operated.ts";
export { aFunction, type Check, checkOptions, methods, oneOf, text } from "./core/option-checks.ts";
export { withDefaults } from "./core/options.ts";
export { decodeResult, NOT_KEPT } from "./core/outcome.ts";
export type { IdempotencyRecord, StoredResult } from "./core/record.ts";
export { type ReleaseAnswer, releaseRecord } from "./core/release-record.ts";
export { decisionIn } from "./core/reopening.ts";
export { type RerunAnswer, rerunRecord } from "./core/rerun-record.ts";
export {
  type Resolution,
  type ResolveAnswer,
  resolveOutcome,
  resolveRecord,
} from "./core/resolve-outcome.ts";
export { resolveOptions } from "./core/resolved-options.ts";
export { bucketOf } from "./core/result-pointer.ts";
export type { EraseAnswer, Erasure, Store } from "./core/store.ts";
export { isLease } from "./core/store-lease.ts";
export { isHttpToken } from "./core/token-marks.ts";
export type { UnknownOutcome } from "./core/unknown-outcome.ts";
export { decodeEvidence, type Evidence, MAX_TEXT_LENGTH, type PastDecision, pastOf } from "./core/verify.ts";
export { visible } from "./core/visible.ts";
export { eraseItems, eraseItemsOf, placeOf } from "./dynamodb/erase-items.ts";
export type { DynamoDBOutboxOptions, DynamoDBStoreOptions } from "./dynamodb/options.ts";
export { type Attribute, type RecordTable, readRecord, recordTable } from "./dynamodb/record-table.ts";
export { HTTP_CHECKS } from "./lambda/http/checks.ts";
export { PROBLEM_STATUSES } from "./lambda/http/problem.ts";
export type { HttpIdempotencyOptions } from "./lambda/options.ts";
export { readEnvelope } from "./messaging/envelope.ts";
