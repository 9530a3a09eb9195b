/** What a handler imports. */

export type { ChildKeyLimits } from "./core/child-key.ts";
export type { Clock, Random } from "./core/clock.ts";
export { DECISIONS, type Decision, type DecisionEvent, type Observe } from "./core/decisions.ts";
export * from "./core/errors.ts";
export type { CommitEffects, Execution } from "./core/execution.ts";
export type { LambdaContext } from "./core/lambda-context.ts";
export { type LockHold, type LockOptions, lock } from "./core/lock.ts";
export type {
  ListedCommit,
  OutboxDestinationChange,
  OutboxDropOptions,
  OutboxRedirectOptions,
  OutboxSendAgainOptions,
} from "./core/messages/operated-outbox.ts";
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
export type { OutboxOperator } from "./core/messages/outbox-act.ts";
export type {
  BusMessage,
  MessageContent,
  OutgoingMessage,
  QueueMessage,
  StoredMessage,
  TopicMessage,
} from "./core/messages/outgoing-message.ts";
export type { SendResult, SentMessage } from "./core/messages/send-result.ts";
export { type OnceDecorator, type OnceOptions, once } from "./core/once.ts";
export type { EngineOptions, Fingerprinter } from "./core/options.ts";
export type { IdempotencyRecord, State, StoredResult, StoredStep, StoredSteps } from "./core/record.ts";
export type { CachedName, RecordCache } from "./core/record-cache.ts";
export {
  type Resolution,
  type ResolveAnswer,
  type ResolveOptions,
  resolveOutcome,
} from "./core/resolve-outcome.ts";
export { type OnceOutcome, type RunOnceOptions, runOnce, runOnceOutcome } from "./core/run-once.ts";
export type { Step, StepOptions } from "./core/steps.ts";
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
export { traceparentFromXRay } from "./core/traceparent.ts";
export type { UnknownOutcome } from "./core/unknown-outcome.ts";
export type {
  AbandonedAttempt,
  AbandonedRecord,
  Evidence,
  Verification,
  VerificationEvidence,
  Verify,
  VerifyRecord,
} from "./core/verify.ts";
export { DynamoDBOutbox } from "./dynamodb/dynamodb-outbox.ts";
export { DynamoDBStore } from "./dynamodb/dynamodb-store.ts";
export { type EraseOptions, eraseResult } from "./dynamodb/erase-result.ts";
export type { DynamoDBClientLike, DynamoDBOutboxOptions, DynamoDBStoreOptions } from "./dynamodb/options.ts";
export type { DynamoDBWrite } from "./dynamodb/writes.ts";
export type { BatchOptions, VisibilityRequest } from "./lambda/batch/batch-options.ts";
export {
  type EventBridgeKeyEvent,
  type EventKeyOptions,
  fingerprintFromEventBridge,
  fingerprintFromS3,
  fingerprintFromSns,
  keyFromEventBridge,
  keyFromS3,
  keyFromSns,
  type S3KeyEvent,
  type SnsKeyEvent,
} from "./lambda/batch/event-keys.ts";
export {
  type BatchHandler,
  idempotentBatch,
  type RecordHandler,
} from "./lambda/batch/idempotent-batch.ts";
export type { BatchResponse, ItemIdentifier, KafkaIdentifier } from "./lambda/batch/item.ts";
export type { BodyOpener } from "./lambda/batch/opened-record.ts";
export { callerFromAuthorizer, callerFromJwt, callerFromTenant } from "./lambda/caller.ts";
export type { WithIdempotency } from "./lambda/context.ts";
export { fingerprintFromJson, type JsonFingerprintOptions } from "./lambda/fingerprint-from-json.ts";
export { fingerprintFromHttp, type HttpFingerprintOptions } from "./lambda/http/fingerprint.ts";
export { httpIdempotency, httpIdempotent } from "./lambda/http/http.ts";
export { readBody } from "./lambda/http/read-body.ts";
export type { IdempotencyMiddleware } from "./lambda/middy/middleware.ts";
export type {
  CallerEvent,
  CallerReader,
  EventReader,
  FaceOptions,
  HttpIdempotencyOptions,
  HttpRequestEvent,
  IdempotencyOptions,
  ResponseHeaders,
} from "./lambda/options.ts";
export { idempotency, idempotent, idempotentOutcome } from "./lambda/plain.ts";
export type { Handler } from "./lambda/wrapper.ts";
export type { AwsClientLike } from "./messaging/clients.ts";
export {
  ENVELOPE_FAULTS,
  type Envelope,
  type EnvelopeFault,
  type EnvelopeReading,
  readEnvelope,
} from "./messaging/envelope.ts";
export type { FifoMessage, FifoResend } from "./messaging/fifo-message.ts";
export { FifoProducer } from "./messaging/fifo-producer.ts";
export { MessageProducer, type MessageProducerOptions } from "./messaging/message-producer.ts";
export type { FifoProducerOptions, SendOptions } from "./messaging/options.ts";
export {
  OUTBOX_EVENTS,
  type OutboxBacklogEvent,
  type OutboxCommitEvent,
  type OutboxEvent,
  type OutboxOptions,
  type OutboxSendEvent,
} from "./messaging/outbox-options.ts";
export { type OutboxRelayResponse, type OutboxStreamEvent, outboxRelay } from "./messaging/outbox-relay.ts";
export { type OutboxSweeperOptions, outboxSweeper } from "./messaging/outbox-sweeper.ts";
export { S3Bodies, type S3BodiesOptions, type S3Like, type UncheckedMessage } from "./messaging/s3-bodies.ts";
export type { SweepReport } from "./messaging/sweep-shards.ts";
export {
  type DecisionLogger,
  type DecisionLogOptions,
  decisionLog,
  type ShownKeys,
  type ShownScope,
} from "./observe/decision-log.ts";
export { type EmfMetricsOptions, emfMetrics } from "./observe/emf-metrics.ts";
export type { SendingEvent, SettlingEvent } from "./observe/measurements.ts";
export { type NewKeysOptions, watchNewKeys } from "./observe/new-keys.ts";
export { type CacheReport, type ReconcilerReport, reconciler } from "./reconciler/reconciler.ts";
export {
  type CacheCheckedEvent,
  RECONCILER_EVENTS,
  type ReconciledKeyEvent,
  type ReconciledOperation,
  type ReconcilerEvent,
  type ReconcilerOptions,
  type UnsettledEvent,
} from "./reconciler/reconciler-options.ts";
export {
  type DurableExecutionStartedOptions,
  type DurableExecutionSummary,
  type DurableExecutionsLike,
  durableExecutionStarted,
} from "./reconciler/verifiers/durable-execution-started.ts";
export {
  type DynamoDBDocumentLike,
  type DynamoItemExistsOptions,
  dynamoItemExists,
} from "./reconciler/verifiers/dynamo-item-exists.ts";
export {
  type ExecutionDescription,
  type ExecutionStartedOptions,
  executionStarted,
  type StepFunctionsLike,
} from "./reconciler/verifiers/execution-started.ts";
export { type HttpLookupOptions, httpLookup } from "./reconciler/verifiers/http-lookup.ts";
export {
  type S3HeadLike,
  type S3ObjectExistsOptions,
  type S3ObjectHead,
  s3ObjectExists,
} from "./reconciler/verifiers/s3-object-exists.ts";
export type { CompensationContext, SagaStep, SagaStepContext } from "./saga/definition.ts";
export {
  type Participant,
  type ParticipantAnswer,
  type ParticipantOptions,
  participant,
} from "./saga/participant.ts";
export { type Saga, type SagaOptions, saga } from "./saga/saga.ts";
export { type CachedOptions, cached } from "./stores/cached.ts";
export type { DataKey, DataKeys, EncryptionContext } from "./stores/data-keys.ts";
export { type EncryptedOptions, encrypted } from "./stores/encrypted.ts";
export { type KmsKeysOptions, type KmsLike, kmsKeys } from "./stores/kms-keys.ts";
export { type LeftBehind, type LeftBehindOptions, leftBehind } from "./stores/left-behind.ts";
export { type MirroredOptions, mirrored } from "./stores/mirrored.ts";
export { openedOutbox } from "./stores/opened-outbox.ts";
export { type Redact, redacted } from "./stores/redacted.ts";
