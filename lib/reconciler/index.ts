/** Entry "onceonly/reconciler": settles unknown outcomes and erases results. */

export type { ChildKeyLimits } from "../core/child-key.ts";
export {
  type Resolution,
  type ResolveAnswer,
  type ResolveOptions,
  resolveOutcome,
} from "../core/resolve-outcome.ts";
export type { EraseAnswer } from "../core/store.ts";
export type { UnknownOutcome } from "../core/unknown-outcome.ts";
export type {
  AbandonedRecord,
  Evidence,
  Verification,
  VerificationEvidence,
  VerifyRecord,
} from "../core/verify.ts";
export { type EraseOptions, eraseResult } from "../dynamodb/erase-result.ts";
export { type CacheReport, type ReconcilerReport, reconciler } from "./reconciler.ts";
export {
  type CacheCheckedEvent,
  RECONCILER_EVENTS,
  type ReconciledKeyEvent,
  type ReconciledOperation,
  type ReconcilerEvent,
  type ReconcilerOptions,
  type UnsettledEvent,
} from "./reconciler-options.ts";
export {
  type DurableExecutionStartedOptions,
  type DurableExecutionSummary,
  type DurableExecutionsLike,
  durableExecutionStarted,
} from "./verifiers/durable-execution-started.ts";
export {
  type DynamoDBDocumentLike,
  type DynamoItemExistsOptions,
  dynamoItemExists,
} from "./verifiers/dynamo-item-exists.ts";
export {
  type ExecutionDescription,
  type ExecutionStartedOptions,
  executionStarted,
  type StepFunctionsLike,
} from "./verifiers/execution-started.ts";
export { type HttpLookupOptions, httpLookup } from "./verifiers/http-lookup.ts";
export {
  type S3HeadLike,
  type S3ObjectExistsOptions,
  type S3ObjectHead,
  s3ObjectExists,
} from "./verifiers/s3-object-exists.ts";
