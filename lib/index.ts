/** The main entry, for handlers. Messages, stores, the reconciler and the store port have their own entries. */

export type { Decision, DecisionEvent, Observe } from "./core/decisions.ts";
export {
  BatchNotDoneError,
  ClaimLostError,
  CommitInvalidError,
  ExecutionInProgressError,
  FingerprintMismatchError,
  IdempotencyKeyInvalidError,
  IdempotencyKeyMissingError,
  InvalidOptionError,
  isOnceonlyError,
  NestedExecutionError,
  OnceonlyError,
  OutcomeUnknownError,
  PayloadInvalidError,
  PermanentError,
  RecordCorruptError,
  ResponseNotStorableError,
  ResultNotKeptError,
  SagaCompensatedError,
  SagaPendingError,
  ScopeMissingError,
  StepInvalidError,
  StoreUnavailableError,
  TransactionConditionError,
} from "./core/errors.ts";
export type { Execution } from "./core/execution.ts";
export type { LambdaContext } from "./core/lambda-context.ts";
export { lock } from "./core/lock.ts";
export type { OutgoingMessage } from "./core/messages/outgoing-message.ts";
export { type OnceDecorator, type OnceOptions, once } from "./core/once.ts";
export { type OnceOutcome, type RunOnceOptions, runOnce } from "./core/run-once.ts";
export type { Store } from "./core/store.ts";
export type { AbandonedAttempt, Verification, Verify } from "./core/verify.ts";
export type { BatchOptions } from "./lambda/batch/batch-options.ts";
export {
  type EventBridgeKeyEvent,
  fingerprintFromEventBridge,
  fingerprintFromSns,
  keyFromEventBridge,
  keyFromSns,
  type SnsKeyEvent,
} from "./lambda/batch/event-keys.ts";
export { type BatchHandler, idempotentBatch } from "./lambda/batch/idempotent-batch.ts";
export {
  type AnswerForm,
  type EachHandler,
  type EachOptions,
  type ItemAnswer,
  idempotentEach,
} from "./lambda/batch/idempotent-each.ts";
export {
  fingerprintFromS3,
  keyFromS3,
  readS3Change,
  type S3Change,
  type S3Key,
} from "./lambda/batch/s3-changes.ts";
export { callerFromAuthorizer, callerFromJwt, callerFromTenant } from "./lambda/caller.ts";
export type { WithIdempotency } from "./lambda/context.ts";
export { fingerprintFromJson } from "./lambda/fingerprint-from-json.ts";
export { fingerprintFromHttp } from "./lambda/http/fingerprint.ts";
export { graphqlOverHttp } from "./lambda/http/graphql.ts";
export { httpIdempotency, httpIdempotent } from "./lambda/http/http.ts";
export { fingerprintFromMultipart, type RequestFingerprint } from "./lambda/http/multipart.ts";
export { acpProfile, ietfProfile, stripeProfile } from "./lambda/http/profiles.ts";
export { readBody } from "./lambda/http/read-body.ts";
export { type HttpStreamOptions, httpIdempotentStream, type ResponseStream } from "./lambda/http/stream.ts";
export { keyFromWebhook, type WebhookOptions, type WebhookProvider } from "./lambda/http/webhooks.ts";
export { type EventKey, keyFromEvent } from "./lambda/key-from-event.ts";
export type { IdempotencyMiddleware } from "./lambda/middy/middleware.ts";
export type {
  CallerEvent,
  CallerReader,
  HttpIdempotencyOptions,
  HttpProfile,
  HttpRequestEvent,
  IdempotencyOptions,
  ProblemDetails,
  RequestKey,
} from "./lambda/options.ts";
export { idempotency, idempotent } from "./lambda/plain.ts";
export { decisionLog } from "./observe/decision-log.ts";
export { emfMetrics } from "./observe/emf-metrics.ts";
export type { SendingEvent, SettlingEvent } from "./observe/measurements.ts";
export { watchNewKeys } from "./observe/new-keys.ts";
export type { DefineSaga } from "./saga/define-saga.ts";
export type { Saga, SagaStep, SagaStepContext } from "./saga/definition.ts";
export { type Participant, participant } from "./saga/participant.ts";
export { saga } from "./saga/saga.ts";
